package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.HeapSize;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A counter that never leaves its bounds, though it is updated everywhere: by escrow. What may
 * still be subtracted (the value less the lower bound) and what may still be added (the upper bound
 * less the value) is divided among the datacenters as <em>rights</em>. A datacenter subtracts only
 * as much as it has rights for, without asking anybody; whoever adds gets the right to subtract as
 * much again, and the reverse; rights can be given to others.
 *
 * <p>After Balegas and others, "Extending Eventually Consistent Cloud Databases for Enforcing
 * Numeric Invariants" (2015), which Antidote uses (SyncFree D2.2, 4.1.3).
 *
 * <p>Each replica has one row, which only it writes: the sums of what it added, subtracted and
 * gave. A later row contains the earlier ones, so the join of two is the later one. The value
 * starts at 0, or at what its creation says. Creating it divides the rights of the bounds among a
 * list of datacenters; bounds that are set at two places at the same time, or again, join to the
 * wider ones, which never takes a right away. The first list stays, whoever sets bounds later, so a
 * datacenter that is added has no rights until others give it some.
 *
 * <p>What the value starts at is no replica's doing: it stands with the bounds, so that creations
 * at several places count it once. Where they differ the largest counts, the lower bound is the
 * lowest, and the room above is the largest, so the upper bound may be above all that were asked
 * for.
 *
 * <p>{@link #prepare} does not ask whether there are enough rights: what a datacenter may use
 * depends on what it may have forgotten, which is its own affair ({@link #downRights}). The counter
 * cannot be cleared, and is no field of a map: who used which rights must stay known.
 */
public final class BoundedCounter implements DotStore<BoundedCounter> {
  /** Without bounds: it cannot be updated yet. */
  public static final BoundedCounter EMPTY = new BoundedCounter(null, Collections.emptySortedMap());

  /** No lower bound. */
  public static final long NO_LOWER = Long.MIN_VALUE;

  /** No upper bound. */
  public static final long NO_UPPER = Long.MAX_VALUE;

  /**
   * The bounds.
   *
   * @param room how much more than the first value it may be; {@link #NO_UPPER} for no bound
   * @param first what the value starts at
   * @param sharers the names among whom the first rights are divided, sorted; none if lists that
   *     have no name in common were joined: then nobody has any
   */
  private record Bounds(long lower, long room, long first, List<String> sharers) {
    /** How much less than the first value it may be, of one with a lower bound. */
    long depth() {
      return saturated(first, lower);
    }

    long upper() {
      boolean isNone = room == NO_UPPER || room > Long.MAX_VALUE - Math.max(0, first);
      return isNone ? NO_UPPER : first + room;
    }

    /**
     * A right of the wider bounds belongs to one of those who are in both lists. Each of them has
     * at least what it had by its own list, so none has used too much; whoever is in one list only
     * has joined the others since, and uses nothing before it has heard them all.
     */
    Bounds join(Bounds other) {
      List<String> both =
          sharers.equals(other.sharers)
              ? sharers
              : sharers.stream().filter(other.sharers::contains).toList();
      return new Bounds(
          Math.min(lower, other.lower),
          Math.max(room, other.room),
          Math.max(first, other.first),
          both);
    }

    /** A name's part of a whole; the first names have one more if it is not divisible. */
    private long share(String dc, long whole) {
      int i = sharers.indexOf(dc);
      return i < 0 ? 0 : whole / sharers.size() + (i < whole % sharers.size() ? 1 : 0);
    }
  }

  /** The difference of a larger number and a smaller one; at most the largest long. */
  private static long saturated(long larger, long smaller) {
    long difference = larger - smaller;
    return difference < 0 ? Long.MAX_VALUE : difference;
  }

  /**
   * What one replica did.
   *
   * @param last commit number of its last update
   * @param up the sum of what it added
   * @param down the sum of what it subtracted
   * @param given what it gave, by the receiver's name
   * @param taken what it took over from those that were given up, by their names
   */
  private record Row(
      long last,
      long up,
      long down,
      SortedMap<String, Amounts> given,
      SortedMap<String, Amounts> taken) {
    static final Row EMPTY =
        new Row(0, 0, 0, Collections.emptySortedMap(), Collections.emptySortedMap());

    /** What the replica's datacenter has less for what was given and taken. */
    long netGiven(boolean upward) {
      long sum = 0;
      for (Amounts amounts : given.values()) {
        sum += amounts.get(upward);
      }
      for (Amounts amounts : taken.values()) {
        sum -= amounts.get(upward);
      }
      return sum;
    }

    /** What another datacenter has more for it. */
    long netGivenTo(String dc, boolean upward) {
      return given.getOrDefault(dc, Amounts.NOTHING).get(upward)
          - taken.getOrDefault(dc, Amounts.NOTHING).get(upward);
    }
  }

  /** Rights to subtract, rights to add. */
  private record Amounts(long down, long up) {
    static final Amounts NOTHING = new Amounts(0, 0);

    long get(boolean upward) {
      return upward ? up : down;
    }

    Amounts plus(long moreDown, long moreUp) {
      return new Amounts(Math.addExact(down, moreDown), Math.addExact(up, moreUp));
    }
  }

  // How it is written: 0 without bounds.
  private static final int BOUNDS = 1;
  private static final int BOUNDS_AND_FIRST = 2;

  /** Before a name, where rows are written: what was taken from it. No name begins with it. */
  private static final String TAKEN = "-";

  /** Null until it is created. */
  private final @Nullable Bounds bounds;

  private final SortedMap<ReplicaId, Row> rows;

  private BoundedCounter(@Nullable Bounds bounds, SortedMap<ReplicaId, Row> rows) {
    this.bounds = bounds;
    this.rows = Collections.unmodifiableSortedMap(rows);
  }

  @Override
  public CrdtType type() {
    return CrdtType.BOUNDED_COUNTER;
  }

  /** The value; held at the ends of a long's range where replicas together leave it. */
  public long value() {
    long value = bounds == null ? 0 : bounds.first;
    for (Row row : rows.values()) {
      value = Counter.saturatedSum(value, row.up - row.down);
    }
    return value;
  }

  /** Whether it has bounds: without it cannot be updated. */
  public boolean isCreated() {
    return bounds != null;
  }

  /** The lower bound; {@link #NO_LOWER} if it has none or is not created. */
  public long lower() {
    return bounds == null ? NO_LOWER : bounds.lower;
  }

  /** The upper bound; {@link #NO_UPPER} if it has none or is not created. */
  public long upper() {
    return bounds == null ? NO_UPPER : bounds.upper();
  }

  /** Those among whom the first rights were divided, and who have rights since. */
  public Set<String> holders() {
    Set<String> holders = new TreeSet<>();
    if (bounds != null) {
      holders.addAll(bounds.sharers);
    }
    rows.forEach(
        (replica, row) -> {
          holders.add(replica.dc());
          holders.addAll(row.given.keySet());
          holders.addAll(row.taken.keySet());
        });
    return holders;
  }

  /**
   * How much a datacenter may subtract, as far as is known here: exact for the datacenter itself if
   * it has forgotten nothing, and never too much for it otherwise.
   *
   * @return {@link Long#MAX_VALUE} if there is no lower bound; 0 if it is not created
   */
  public long downRights(String dc) {
    if (bounds == null) {
      return 0;
    }
    if (bounds.lower == NO_LOWER) {
      return Long.MAX_VALUE;
    }
    long rights = bounds.share(dc, bounds.depth());
    for (Map.Entry<ReplicaId, Row> e : rows.entrySet()) {
      Row row = e.getValue();
      if (e.getKey().dc().equals(dc)) {
        rights += row.up - row.down;
        rights -= row.netGiven(false);
      }
      rights += row.netGivenTo(dc, false);
    }
    return rights;
  }

  /** How much a datacenter may add; see {@link #downRights}. */
  public long upRights(String dc) {
    if (bounds == null) {
      return 0;
    }
    if (bounds.room == NO_UPPER) {
      return Long.MAX_VALUE;
    }
    long rights = bounds.share(dc, bounds.room);
    for (Map.Entry<ReplicaId, Row> e : rows.entrySet()) {
      Row row = e.getValue();
      if (e.getKey().dc().equals(dc)) {
        rights += row.down - row.up;
        rights -= row.netGiven(true);
      }
      rights += row.netGivenTo(dc, true);
    }
    return rights;
  }

  /**
   * How much a replica may subtract that does not know what its datacenter's former incarnations
   * used: only what it earned itself.
   */
  public long earnedDownRights(ReplicaId replica) {
    if (bounds == null || bounds.lower == NO_LOWER) {
      return downRights(replica.dc());
    }
    Row row = rows.getOrDefault(replica, Row.EMPTY);
    long rights = row.up - row.down;
    rights -= row.netGiven(false);
    return Math.max(0, Math.min(rights, downRights(replica.dc())));
  }

  /** The same for additions. */
  public long earnedUpRights(ReplicaId replica) {
    if (bounds == null || bounds.room == NO_UPPER) {
      return upRights(replica.dc());
    }
    Row row = rows.getOrDefault(replica, Row.EMPTY);
    long rights = row.down - row.up;
    rights -= row.netGiven(true);
    return Math.max(0, Math.min(rights, upRights(replica.dc())));
  }

  @Override
  public BoundedCounter prepare(Operation operation, UpdateContext preparation) {
    if (operation instanceof Operation.Bound bound) {
      return create(bound, preparation);
    }
    boolean known =
        operation instanceof Operation.Increment
            || operation instanceof Operation.IncrementWithin
            || operation instanceof Operation.Transfer
            || operation instanceof Operation.Inherit;
    if (!known) {
      throw TypeRegistry.wrongOperation(type(), operation);
    }
    if (bounds == null) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "this bounded counter has no bounds here yet: create it, or wait until its creation has"
              + " arrived");
    }
    Row row = rows.getOrDefault(preparation.origin(), Row.EMPTY);
    try {
      return row(changed(row, operation, preparation), preparation);
    } catch (ArithmeticException e) {
      throw OsierException.of(ErrorCode.OVERFLOW, "the sums would leave the range of a long");
    }
  }

  private BoundedCounter create(Operation.Bound bound, UpdateContext preparation) {
    long first = bound.first();
    if (bound.lower() > first || bound.upper() < first) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter starts at "
              + first
              + ": its bounds must include it, unlike "
              + bound.lower()
              + " to "
              + bound.upper());
    }
    boolean isTooFar =
        (bound.lower() != NO_LOWER && first - bound.lower() < 0)
            || (bound.upper() != NO_UPPER && bound.upper() - first < 0);
    if (isTooFar) {
      throw OsierException.of(
          ErrorCode.OVERFLOW, "the bounds are further from " + first + " than a long counts");
    }
    if (bound.sharers().isEmpty()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "a bounded counter's rights need somebody to share them");
    }
    // The first list stays: a right of a datacenter that was added since would be another's.
    List<String> sharers =
        bounds == null ? bound.sharers().stream().distinct().sorted().toList() : bounds.sharers;
    Row row = rows.getOrDefault(preparation.origin(), Row.EMPTY);
    Row touched = new Row(preparation.nextDot().number(), row.up, row.down, row.given, row.taken);
    SortedMap<ReplicaId, Row> one = new TreeMap<>();
    one.put(preparation.origin(), touched);
    // What it started at stays, too: the program that created it may have run again.
    long start = bounds == null ? first : bounds.first;
    long room = bound.upper() == NO_UPPER ? NO_UPPER : room(bound.upper(), start);
    return new BoundedCounter(
        new Bounds(Math.min(bound.lower(), start), room, start, sharers), one);
  }

  /** What is left up to a bound, which may be below the first value of a counter that is there. */
  private static long room(long upper, long first) {
    return upper <= first ? 0 : Math.min(saturated(upper, first), NO_UPPER - 1);
  }

  private Row changed(Row row, Operation operation, UpdateContext preparation) {
    long number = preparation.nextDot().number();
    if (operation instanceof Operation.Transfer t) {
      if (t.amount() <= 0) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT, "rights to give must be above 0, not " + t.amount());
      }
      long down = t.upward() ? 0 : t.amount();
      long up = t.upward() ? t.amount() : 0;
      return new Row(number, row.up, row.down, plus(row.given, t.to(), down, up), row.taken);
    }
    if (operation instanceof Operation.Inherit i) {
      long down = lower() == NO_LOWER ? 0 : Math.max(0, downRights(i.from()));
      long up = upper() == NO_UPPER ? 0 : Math.max(0, upRights(i.from()));
      return new Row(number, row.up, row.down, row.given, plus(row.taken, i.from(), down, up));
    }
    long amount =
        operation instanceof Operation.Increment i
            ? i.amount()
            : ((Operation.IncrementWithin) operation).amount();
    Math.addExact(value(), amount);
    return new Row(
        number,
        amount > 0 ? Math.addExact(row.up, amount) : row.up,
        amount < 0 ? Math.subtractExact(row.down, amount) : row.down,
        row.given,
        row.taken);
  }

  private static SortedMap<String, Amounts> plus(
      SortedMap<String, Amounts> amounts, String dc, long down, long up) {
    SortedMap<String, Amounts> more = new TreeMap<>(amounts);
    more.put(dc, more.getOrDefault(dc, Amounts.NOTHING).plus(down, up));
    return more;
  }

  private static BoundedCounter row(Row row, UpdateContext preparation) {
    SortedMap<ReplicaId, Row> one = new TreeMap<>();
    one.put(preparation.origin(), row);
    return new BoundedCounter(null, one);
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
    Bounds joined =
        bounds == null ? other.bounds : other.bounds == null ? bounds : bounds.join(other.bounds);
    SortedMap<ReplicaId, Row> all = new TreeMap<>(rows);
    other.rows.forEach((replica, row) -> all.merge(replica, row, BoundedCounter::later));
    return new BoundedCounter(joined, all);
  }

  private static Row later(Row a, Row b) {
    return a.last >= b.last ? a : b;
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
      default -> throw TypeRegistry.wrongQuery(type(), query);
    };
  }

  @Override
  public boolean isBottom() {
    return bounds == null && rows.isEmpty();
  }

  @Override
  public long heapBytes() {
    long bytes = HeapSize.object(2 * HeapSize.REFERENCE) + mapHeapBytes(rows.size());
    if (bounds != null) {
      bytes +=
          HeapSize.object(3 * Long.BYTES + HeapSize.REFERENCE)
              + HeapSize.list(bounds.sharers.size());
    }
    for (Row row : rows.values()) {
      bytes +=
          HeapSize.object(3 * Long.BYTES + 2 * HeapSize.REFERENCE)
              + mapHeapBytes(row.given.size())
              + mapHeapBytes(row.taken.size())
              + (row.given.size() + row.taken.size()) * HeapSize.object(2 * Long.BYTES);
    }
    return bytes;
  }

  /** A tree with what makes it unmodifiable; empty ones are shared. */
  private static long mapHeapBytes(int size) {
    return size == 0
        ? 0
        : HeapSize.object(20)
            + HeapSize.object(32)
            + size * HeapSize.object(5 * HeapSize.REFERENCE + 1);
  }

  @Override
  public long sizeBytes() {
    long bytes = 2;
    if (bounds != null) {
      bytes += length(bounds.lower) + length(bounds.room) + 1;
      bytes += bounds.first == 0 ? 0 : length(bounds.first);
      for (String dc : bounds.sharers) {
        bytes += 1 + dc.length();
      }
    }
    for (Row row : rows.values()) {
      bytes += 2 + length(row.last) + length(row.up) + length(row.down);
      bytes += length(row.given) + length(row.taken) + (long) row.taken.size() * TAKEN.length();
    }
    return bytes;
  }

  private static long length(SortedMap<String, Amounts> amounts) {
    long bytes = 0;
    for (Map.Entry<String, Amounts> e : amounts.entrySet()) {
      Amounts of = e.getValue();
      bytes += 1 + e.getKey().length() + length(of.down) + length(of.up);
    }
    return bytes;
  }

  private static int length(long number) {
    return WireOutput.varLongLength(number, number >= 0);
  }

  @Override
  public void write(WireOutput out) {
    out.writeByte(bounds == null ? 0 : bounds.first == 0 ? BOUNDS : BOUNDS_AND_FIRST);
    if (bounds != null) {
      out.writeSigned(bounds.lower);
      out.writeSigned(bounds.room);
      if (bounds.first != 0) {
        out.writeSigned(bounds.first);
      }
      out.writeCount(bounds.sharers.size());
      bounds.sharers.forEach(out::writeText);
    }
    out.writeCount(rows.size());
    rows.forEach(
        (replica, row) -> {
          out.writeReplica(replica);
          out.writeNumber(row.last);
          out.writeNumber(row.up);
          out.writeNumber(row.down);
          out.writeCount(row.taken.size() + row.given.size());
          row.taken.forEach((dc, amounts) -> write(TAKEN + dc, amounts, out));
          row.given.forEach((dc, amounts) -> write(dc, amounts, out));
        });
  }

  private static void write(String name, Amounts amounts, WireOutput out) {
    out.writeText(name);
    out.writeNumber(amounts.down);
    out.writeNumber(amounts.up);
  }

  /** Reads what {@link #write} wrote. */
  static BoundedCounter read(WireInput in) {
    @Nullable Bounds bounds = null;
    int form = in.readByte();
    if (form < 0 || form > BOUNDS_AND_FIRST) {
      throw new MalformedException("a bounded counter's form must be 0 to 2, not " + form);
    }
    if (form != 0) {
      long lower = in.readSigned();
      long room = in.readSigned();
      long first = form == BOUNDS ? 0 : in.readSigned();
      int n = in.readCount(2);
      List<String> sharers = new ArrayList<>(n);
      for (int i = 0; i < n; i++) {
        sharers.add(ReplicaId.checkDcName(in.readText(ReplicaId.DC_NAME_LENGTH_MAX)));
        if (i > 0 && sharers.get(i - 1).compareTo(sharers.get(i)) >= 0) {
          throw new MalformedException("a bounded counter's sharers are not in order");
        }
      }
      if (lower > first || room < 0 || (form == BOUNDS_AND_FIRST && first == 0)) {
        throw new MalformedException("a bounded counter's bounds are out of range");
      }
      bounds = new Bounds(lower, room, first, List.copyOf(sharers));
    }
    SortedMap<ReplicaId, Row> rows = new TreeMap<>();
    ReplicaId before = null;
    for (int n = in.readCount(5); n > 0; n--) {
      ReplicaId replica = in.readReplica();
      if (before != null && before.compareTo(replica) >= 0) {
        throw new MalformedException("a bounded counter's rows are not in order");
      }
      before = replica;
      rows.put(replica, readRow(in));
    }
    return bounds == null && rows.isEmpty() ? EMPTY : new BoundedCounter(bounds, rows);
  }

  private static Row readRow(WireInput in) {
    long last = in.readNumber();
    long up = in.readNumber();
    long down = in.readNumber();
    SortedMap<String, Amounts> given = new TreeMap<>();
    SortedMap<String, Amounts> taken = new TreeMap<>();
    String before = "";
    for (int n = in.readCount(4); n > 0; n--) {
      String name = in.readText(TAKEN.length() + ReplicaId.DC_NAME_LENGTH_MAX);
      if (before.compareTo(name) >= 0) {
        throw new MalformedException("what a row gave and took is not in order");
      }
      before = name;
      boolean isTaken = name.startsWith(TAKEN);
      String dc = ReplicaId.checkDcName(isTaken ? name.substring(TAKEN.length()) : name);
      (isTaken ? taken : given).put(dc, new Amounts(in.readNumber(), in.readNumber()));
    }
    return new Row(last, up, down, given, taken);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof BoundedCounter c
        && java.util.Objects.equals(bounds, c.bounds)
        && rows.equals(c.rows);
  }

  @Override
  public int hashCode() {
    return 31 * java.util.Objects.hashCode(bounds) + rows.hashCode();
  }

  @Override
  public String toString() {
    return value() + " in " + bounds + rows;
  }
}
