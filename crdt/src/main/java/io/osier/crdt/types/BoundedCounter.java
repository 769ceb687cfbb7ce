package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A counter that never leaves its bounds, though it is updated everywhere: by escrow. The amount
 * that may still be subtracted (the value less the lower bound) and the amount that may still be
 * added (the upper bound less the value) are divided among the datacenters as <em>rights</em>. A
 * datacenter subtracts only as much as it has rights for, without asking anybody; a datacenter that
 * adds gets the right to subtract as much again, and vice versa; rights can be transferred to
 * others.
 *
 * <p>After Balegas and others, "Extending Eventually Consistent Cloud Databases for Enforcing
 * Numeric Invariants" (2015), which Antidote uses (SyncFree D2.2, 4.1.3).
 *
 * <p>Each replica has one row, which only it writes: the sums of what it added, subtracted and
 * transferred. A later row contains the earlier ones, so the join of two is the later one. The
 * value starts at 0, or at what its creation says. Creating it divides the rights of the bounds
 * among a list of datacenters; bounds that are set in two places at the same time, or again, join
 * to the wider ones, which never takes a right away. The first list stays when bounds are set
 * again, so a datacenter that is added has no rights until others transfer some to it.
 *
 * <p>The first value is no replica's doing: it stands with the bounds, so that creations in several
 * places count it once. Where they differ, the join has the largest first value, the lowest lower
 * bound and the largest room above, so the upper bound may be above all that were requested.
 *
 * <p>{@link #prepare} does not check that there are enough rights: what a datacenter may use
 * depends on what it may have forgotten, which the caller must know ({@link #downRights}). The
 * counter cannot be cleared, and is not allowed as a field of a map, since who used which rights
 * must stay known.
 */
public final class BoundedCounter implements DotStore<BoundedCounter> {
  /** A counter without bounds: it cannot be updated yet. */
  public static final BoundedCounter EMPTY = new BoundedCounter(null, Collections.emptySortedMap());

  /** No lower bound. */
  public static final long NO_LOWER = Long.MIN_VALUE;

  /** No upper bound. */
  public static final long NO_UPPER = Long.MAX_VALUE;

  /** Null until it is created. */
  private final @Nullable CounterBounds bounds;

  private final SortedMap<ReplicaId, RightsRow> rows;

  private BoundedCounter(@Nullable CounterBounds bounds, SortedMap<ReplicaId, RightsRow> rows) {
    this.bounds = bounds;
    this.rows = Collections.unmodifiableSortedMap(rows);
  }

  @Override
  public CrdtType type() {
    return CrdtType.BOUNDED_COUNTER;
  }

  /** Returns the value; the least or greatest long where replicas together leave its range. */
  public long value() {
    long value = bounds == null ? 0 : bounds.first();
    for (RightsRow row : rows.values()) {
      value = Counter.saturatedSum(value, row.up() - row.down());
    }
    return value;
  }

  /** Whether it has bounds; without bounds it cannot be updated. */
  public boolean isCreated() {
    return bounds != null;
  }

  /** Returns the lower bound; {@link #NO_LOWER} if it has none or is not created. */
  public long lower() {
    return bounds == null ? NO_LOWER : bounds.lower();
  }

  /** Returns the upper bound; {@link #NO_UPPER} if it has none or is not created. */
  public long upper() {
    return bounds == null ? NO_UPPER : bounds.upper();
  }

  /**
   * Returns the datacenters among which the first rights were divided, and those that got rights
   * since.
   */
  public Set<String> holders() {
    Set<String> holders = new TreeSet<>();
    if (bounds != null) {
      holders.addAll(bounds.sharers());
    }
    rows.forEach(
        (replica, row) -> {
          holders.add(replica.dc());
          holders.addAll(row.given().keySet());
          holders.addAll(row.taken().keySet());
        });
    return holders;
  }

  /**
   * Returns how much a datacenter may subtract, as far as is known here: exact for the datacenter
   * itself if it has forgotten nothing, and never too much for it otherwise.
   *
   * @return {@link Long#MAX_VALUE} if there is no lower bound; 0 if it is not created
   */
  public long downRights(String dc) {
    return rights(dc, false);
  }

  /** Returns how much a datacenter may add; see {@link #downRights}. */
  public long upRights(String dc) {
    return rights(dc, true);
  }

  private long rights(String dc, boolean upward) {
    if (bounds == null) {
      return 0;
    }
    if (!bounds.isBounded(upward)) {
      return Long.MAX_VALUE;
    }
    long rights = bounds.share(dc, upward);
    for (Map.Entry<ReplicaId, RightsRow> e : rows.entrySet()) {
      RightsRow row = e.getValue();
      rights += e.getKey().dc().equals(dc) ? row.earned(upward) : 0;
      rights += row.netGivenTo(dc, upward);
    }
    return rights;
  }

  /**
   * Returns how much a replica may subtract if it does not know what its datacenter's former
   * incarnations used: only what it earned itself.
   */
  public long earnedDownRights(ReplicaId replica) {
    return earnedRights(replica, false);
  }

  /** As {@link #earnedDownRights}, for additions. */
  public long earnedUpRights(ReplicaId replica) {
    return earnedRights(replica, true);
  }

  private long earnedRights(ReplicaId replica, boolean upward) {
    long all = rights(replica.dc(), upward);
    return bounds == null || !bounds.isBounded(upward)
        ? all
        : Math.max(0, Math.min(row(replica).earned(upward), all));
  }

  private RightsRow row(ReplicaId replica) {
    return rows.getOrDefault(replica, RightsRow.EMPTY);
  }

  @Override
  public BoundedCounter prepare(Operation operation, UpdateContext preparation) {
    if (operation instanceof Operation.Bound bound) {
      return create(bound, preparation);
    }
    boolean isSupported =
        operation instanceof Operation.Increment
            || operation instanceof Operation.IncrementWithin
            || operation instanceof Operation.Transfer
            || operation instanceof Operation.Inherit;
    if (!isSupported) {
      throw wrongOperation(operation);
    }
    if (bounds == null) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "this bounded counter has no bounds here yet: create it, or wait until its creation has"
              + " arrived");
    }
    try {
      RightsRow row = changed(row(preparation.origin()), operation, preparation);
      return new BoundedCounter(null, singleRow(row, preparation));
    } catch (ArithmeticException e) {
      throw OsierException.of(ErrorCode.OVERFLOW, "the sums would leave the range of a long");
    }
  }

  private BoundedCounter create(Operation.Bound bound, UpdateContext preparation) {
    CounterBounds set = CounterBounds.of(bound, bounds);
    RightsRow touched = row(preparation.origin()).at(preparation.nextDot().number());
    return new BoundedCounter(set, singleRow(touched, preparation));
  }

  private static SortedMap<ReplicaId, RightsRow> singleRow(
      RightsRow row, UpdateContext preparation) {
    SortedMap<ReplicaId, RightsRow> one = new TreeMap<>();
    one.put(preparation.origin(), row);
    return one;
  }

  private RightsRow changed(RightsRow row, Operation operation, UpdateContext preparation) {
    long number = preparation.nextDot().number();
    if (operation instanceof Operation.Transfer t) {
      if (t.amount() <= 0) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT, "rights to give must be above 0, not " + t.amount());
      }
      long down = t.upward() ? 0 : t.amount();
      long up = t.upward() ? t.amount() : 0;
      return row.giving(t.to(), down, up, number);
    }
    if (operation instanceof Operation.Inherit i) {
      long down = lower() == NO_LOWER ? 0 : Math.max(0, downRights(i.from()));
      long up = upper() == NO_UPPER ? 0 : Math.max(0, upRights(i.from()));
      return row.taking(i.from(), down, up, number);
    }
    long amount =
        operation instanceof Operation.Increment i
            ? i.amount()
            : ((Operation.IncrementWithin) operation).amount();
    Math.addExact(value(), amount);
    return row.adding(amount, number);
  }

  @Override
  public BoundedCounter reset(UpdateContext preparation) {
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "a bounded counter cannot be cleared: who used which rights must stay known; subtract its"
            + " value instead");
  }

  @Override
  public BoundedCounter join(BoundedCounter other, JoinContext joining) {
    CounterBounds joined =
        bounds == null ? other.bounds : other.bounds == null ? bounds : bounds.join(other.bounds);
    SortedMap<ReplicaId, RightsRow> all = new TreeMap<>(rows);
    other.rows.forEach((replica, row) -> all.merge(replica, row, BoundedCounter::later));
    return new BoundedCounter(joined, all);
  }

  private static RightsRow later(RightsRow a, RightsRow b) {
    return a.last() >= b.last() ? a : b;
  }

  @Override
  public Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> new Reading.Count(value());
      case Query.Rights q -> {
        SortedMap<String, Reading.Share> shares = new TreeMap<>();
        for (String dc : holders()) {
          shares.put(dc, new Reading.Share(downRights(dc), upRights(dc)));
        }
        yield new Reading.Rights(value(), lower(), upper(), shares);
      }
      default -> throw wrongQuery(query);
    };
  }

  @Override
  public boolean isBottom() {
    return bounds == null && rows.isEmpty();
  }

  @Override
  public long heapBytes() {
    long bytes = HeapSize.object(2 * HeapSize.REFERENCE) + RightsRow.mapHeapBytes(rows.size());
    bytes += bounds == null ? 0 : bounds.heapBytes();
    for (RightsRow row : rows.values()) {
      bytes += row.heapBytes();
    }
    return bytes;
  }

  @Override
  public long sizeBytes() {
    long bytes = 2;
    bytes += bounds == null ? 0 : bounds.sizeBytes();
    for (RightsRow row : rows.values()) {
      bytes += row.sizeBytes();
    }
    return bytes;
  }

  @Override
  public void write(WireOutput out) {
    CounterBounds.write(bounds, out);
    out.writeCount(rows.size());
    rows.forEach(
        (replica, row) -> {
          out.writeReplica(replica);
          row.write(out);
        });
  }

  /** Reads the form that {@link #write} produces. */
  static BoundedCounter read(WireInput in) {
    CounterBounds bounds = CounterBounds.read(in);
    SortedMap<ReplicaId, RightsRow> rows = new TreeMap<>();
    ReplicaId before = null;
    for (int n = in.readCount(5); n > 0; n--) {
      ReplicaId replica = in.readReplica();
      if (before != null && before.compareTo(replica) >= 0) {
        throw new MalformedException("a bounded counter's rows are not in order");
      }
      before = replica;
      rows.put(replica, RightsRow.read(in));
    }
    return bounds == null && rows.isEmpty() ? EMPTY : new BoundedCounter(bounds, rows);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof BoundedCounter c && Objects.equals(bounds, c.bounds) && rows.equals(c.rows);
  }

  @Override
  public int hashCode() {
    return 31 * Objects.hashCode(bounds) + rows.hashCode();
  }

  @Override
  public String toString() {
    return value() + " in " + bounds + rows;
  }
}
