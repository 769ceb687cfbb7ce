package io.osier.datacenter.partition.rights;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.wire.Frame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * The rights of this datacenter's bounded counters: which it may use, which open transactions have
 * set aside, who waits for more, and whom to ask. Not thread-safe.
 *
 * <p>This datacenter asks for rights when an update lacks them, and earlier, when it holds less
 * than half of its equal share and another one holds clearly more. The datacenter that is asked
 * gives the amount needed, or half of what it has if that is more.
 */
public final class Escrow {
  /** A datacenter asks for more rights when it has less than its equal share divided by this. */
  private static final int LOW = 2;

  private record Reserved(long down, long up) {}

  /** Rights of a counter that are set aside for a transaction. */
  public record Reservation(ObjectId object, long down, long up) {}

  private final ReplicaId self;
  private List<String> sharers;

  /** Tells whether all is known of what former incarnations of this datacenter did. */
  private final BooleanSupplier settled;

  private final Map<ObjectId, Reserved> reserved = new HashMap<>();
  private final RightsWaiters waiters = new RightsWaiters();
  private final Map<ObjectId, Boolean> low = new LinkedHashMap<>();

  /** The holders of the keyspace. */
  private List<String> present;

  /** Whether holders come and go. */
  private boolean membersChange;

  /** The removed datacenters whose rights this one takes over. */
  private final Set<String> inherited = new TreeSet<>();

  /** Counters of which these may have rights. */
  private final Set<ObjectId> toInherit = new LinkedHashSet<>();

  private boolean gives;
  private long denied;

  /**
   * @param settled tells whether all is known of what this datacenter's former incarnations did
   */
  public Escrow(ReplicaId self, List<String> peers, BooleanSupplier settled) {
    this.self = self;
    this.settled = settled;
    this.sharers = sharers(self, peers);
    this.present = sharers;
  }

  private static List<String> sharers(ReplicaId self, List<String> peers) {
    List<String> all = new ArrayList<>(peers);
    all.add(self.dc());
    return all.stream().sorted().toList();
  }

  /** Sets the other holders, and the datacenters that share the rights of new counters. */
  public void setSharers(List<String> peers, List<String> datacenters) {
    sharers = datacenters.stream().sorted().toList();
    present = sharers(self, peers);
    membersChange = true;
    present.forEach(inherited::remove); // a datacenter of that name has rights again
  }

  /** See {@link Input.Inherit}. */
  public void inherit(String from, List<ObjectId> counters) {
    if (counters.isEmpty() && !present.contains(from)) {
      inherited.add(from);
    }
    if (inherited.contains(from)) {
      toInherit.addAll(counters);
    }
  }

  /**
   * Sets whether this datacenter gives its rights away. While it does, it takes none over, as the
   * next heir would take the same.
   */
  public void setGives(boolean now) {
    gives = now;
  }

  /** Takes the counters of which this datacenter may take over rights. */
  public List<ObjectId> takeToInherit() {
    if (gives || toInherit.isEmpty()) {
      return List.of();
    }
    List<ObjectId> taken = List.copyOf(toInherit);
    toInherit.clear();
    return taken;
  }

  /** Returns the removed datacenters whose rights of a counter this one takes over now. */
  public List<String> inheritedOf(CrdtState state) {
    BoundedCounter counter = counter(state);
    return inherited.stream()
        .filter(dc -> isSome(counter.downRights(dc)) || isSome(counter.upRights(dc)))
        .toList();
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE; // a bounded number
  }

  /** Returns all rights of a counter that may be given away; 0 where there is no bound. */
  public long mine(ObjectId object, CrdtState state, boolean upward) {
    long rights = available(object, counter(state), upward);
    return rights == Long.MAX_VALUE ? 0 : Math.max(0, rights);
  }

  /**
   * Completes an operation with what only the datacenter knows.
   *
   * @throws OsierException INVALID_ARGUMENT if it gives rights to no datacenter, so that they are
   *     lost; UNAVAILABLE if a counter missing here may exist, with rights of one that left
   */
  public Operation filled(CrdtState state, Operation operation) {
    if (operation instanceof Operation.Bound
        && membersChange
        && !settled.getAsBoolean()
        && state.store() instanceof BoundedCounter counter
        && !counter.isCreated()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter "
              + self.dc()
              + " is new or has lost its memory, and cannot create bounded counters until it has"
              + " heard from all others; create it at another datacenter");
    }
    if (operation instanceof Operation.Transfer t && !sharers.contains(t.to())) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "rights can be given to "
              + sharers
              + ", not to '"
              + t.to()
              + "', which holds none of this");
    }
    return operation instanceof Operation.Bound b
        ? new Operation.Bound(b.lower(), b.upper(), sharers, b.first())
        : operation;
  }

  /** Returns the rights that an operation needs: those that it uses up or gives away. */
  private static Reservation needs(ObjectId object, Operation operation) {
    return switch (operation) {
      case Operation.Increment i -> needs(object, i.amount());
      case Operation.IncrementWithin i -> needs(object, i.amount());
      case Operation.Transfer t ->
          new Reservation(object, t.upward() ? 0 : t.amount(), t.upward() ? t.amount() : 0);
      default -> new Reservation(object, 0, 0);
    };
  }

  private static Reservation needs(ObjectId object, long amount) {
    if (amount == Long.MIN_VALUE) {
      throw new OsierException(ErrorCode.OVERFLOW, "the amount is out of range");
    }
    return new Reservation(object, Math.max(0, -amount), Math.max(0, amount));
  }

  /** Returns how much may be subtracted from a counter here, or added to it. */
  private long available(ObjectId object, BoundedCounter counter, boolean upward) {
    Reserved aside = reserved.getOrDefault(object, new Reserved(0, 0));
    boolean all = settled.getAsBoolean();
    long rights =
        upward
            ? (all ? counter.upRights(self.dc()) : counter.earnedUpRights(self))
            : (all ? counter.downRights(self.dc()) : counter.earnedDownRights(self));
    return rights == Long.MAX_VALUE ? rights : rights - (upward ? aside.up : aside.down);
  }

  private static BoundedCounter counter(CrdtState state) {
    return (BoundedCounter) state.store();
  }

  /** Returns whether an update may be executed now. */
  public boolean isCovered(ObjectId object, CrdtState state, Operation operation) {
    Reservation needs = needs(object, operation);
    BoundedCounter counter = counter(state);
    return !counter.isCreated() // it fails: no such counter
        || ((needs.down == 0 || needs.down <= available(object, counter, false))
            && (needs.up == 0 || needs.up <= available(object, counter, true)));
  }

  /** Returns the error that tells which rights are missing. */
  public OsierException lacking(ObjectId object, CrdtState state, Operation operation) {
    denied++;
    Reservation needs = needs(object, operation);
    boolean upward = needs.up > 0;
    BoundedCounter counter = counter(state);
    long left = Math.max(0, available(object, counter, upward));
    long all = upward ? counter.upper() - counter.value() : counter.value() - counter.lower();
    return new OsierException(
        ErrorCode.NOT_ENOUGH_RIGHTS,
        "'"
            + object.key()
            + "' is "
            + counter.value()
            + " in "
            + (counter.lower() == BoundedCounter.NO_LOWER ? "-∞" : counter.lower())
            + " to "
            + (counter.upper() == BoundedCounter.NO_UPPER ? "∞" : counter.upper())
            + "; "
            + self.dc()
            + " holds the rights to "
            + (upward ? "add " : "subtract ")
            + left
            + " of "
            + all
            + (settled.getAsBoolean()
                ? ""
                : " (it has lost its memory and may not use more until it has heard from all"
                    + " others)")
            + ", and "
            + (upward ? needs.up : needs.down)
            + " are needed");
  }

  // ---------------------------------------------------------------- transactions

  /** Sets aside the rights of an operation that is covered. */
  public Reservation reserve(ObjectId object, Operation operation) {
    Reservation needs = needs(object, operation);
    add(object, needs.down, needs.up);
    return needs;
  }

  /** Releases rights that were set aside. */
  public void release(Reservation set) {
    add(set.object, -set.down, -set.up);
    changed(set.object);
  }

  private void add(ObjectId object, long down, long up) {
    Reserved r = reserved.getOrDefault(object, new Reserved(0, 0));
    Reserved now = new Reserved(r.down + down, r.up + up);
    if (now.down == 0 && now.up == 0) {
      reserved.remove(object);
    } else {
      reserved.put(object, now);
    }
  }

  // ---------------------------------------------------------------- requests and grants

  /**
   * Rights to ask other datacenters for.
   *
   * @param amount how many
   * @param holders the datacenters to ask, richest first
   */
  public record Wanted(ObjectId object, long amount, boolean upward, List<Holder> holders) {}

  /** A datacenter and its rights of a counter. */
  public record Holder(String dc, long rights) {}

  /** Returns what to ask for, for an update that lacks it; empty if others were just asked. */
  public Optional<Wanted> wantedFor(
      ObjectId object, CrdtState state, Operation operation, long nowNanos) {
    Reservation needs = needs(object, operation);
    boolean upward = needs.up > 0;
    BoundedCounter counter = counter(state);
    long lacks = (upward ? needs.up : needs.down) - available(object, counter, upward);
    return wanted(object, counter, upward, lacks, nowNanos);
  }

  private Optional<Wanted> wanted(
      ObjectId object, BoundedCounter counter, boolean upward, long lacks, long nowNanos) {
    if (lacks <= 0 || !waiters.mayAsk(object, nowNanos)) {
      return Optional.empty();
    }
    Comparator<String> richest = Comparator.comparingLong(dc -> -rights(counter, dc, upward));
    List<Holder> holders = new ArrayList<>();
    for (String dc : counter.holders().stream().sorted(richest).toList()) {
      long has = rights(counter, dc, upward);
      if (has <= 0) {
        break;
      }
      if (!dc.equals(self.dc())) {
        holders.add(new Holder(dc, has));
      }
    }
    return Optional.of(new Wanted(object, lacks, upward, holders));
  }

  private static long rights(BoundedCounter counter, String dc, boolean upward) {
    return upward ? counter.upRights(dc) : counter.downRights(dc);
  }

  /** Returns how much to give to a datacenter that asks. */
  public long grant(String dc, Frame.Rights wanted, CrdtState state) {
    long available = available(wanted.object(), counter(state), wanted.upward());
    // If both datacenters need the rights, one must come first: by name.
    boolean needed = waiters.areOf(wanted.object()) && self.dc().compareTo(dc) < 0;
    if (available <= 0 || available == Long.MAX_VALUE || needed) {
      return 0;
    }
    return Math.min(available, Math.max(wanted.amount(), available / 2));
  }

  /** Notes an update of a counter that was executed here: few rights may be left. */
  public void used(ObjectId object, CrdtState state, Operation operation) {
    Reservation needs = needs(object, operation);
    boolean upward = needs.up > 0;
    boolean gave = operation instanceof Operation.Transfer; // else it never ends
    if (gave || (needs.up == 0 && needs.down == 0)) {
      return;
    }
    BoundedCounter counter = counter(state);
    long all = upward ? counter.upper() - counter.value() : counter.value() - counter.lower();
    boolean bounded =
        upward
            ? counter.upper() != BoundedCounter.NO_UPPER
            : counter.lower() != BoundedCounter.NO_LOWER;
    long mine = bounded ? available(object, counter, upward) : 0;
    if (bounded && all > 0 && mine < all / sharers.size() / LOW) {
      low.put(object, upward);
    }
  }

  // ---------------------------------------------------------------- waiting

  public RightsWaiters waiters() {
    return waiters;
  }

  /** Notes that a counter has changed: updates that wait for it may go on. */
  public void changed(ObjectId object) {
    waiters.changed(object);
    if (!inherited.isEmpty() && object.type() == CrdtType.BOUNDED_COUNTER) {
      toInherit.add(object);
    }
  }

  /** Takes the counters that run low; the value is true where rights to add do. */
  public Map<ObjectId, Boolean> takeLow() {
    if (low.isEmpty()) {
      return Map.of();
    }
    Map<ObjectId, Boolean> taken = new LinkedHashMap<>(low);
    low.clear();
    return taken;
  }

  /** Returns what to ask for a low counter: half of what the richest datacenter has more. */
  public Optional<Wanted> wantedToBalance(
      ObjectId object, CrdtState state, boolean upward, long nowNanos) {
    BoundedCounter counter = counter(state);
    long most = 0;
    for (String dc : counter.holders()) {
      most = dc.equals(self.dc()) ? most : Math.max(most, rights(counter, dc, upward));
    }
    long mine = Math.max(0, available(object, counter, upward));
    return most > 2 * mine + 1
        ? wanted(object, counter, upward, (most - mine) / 2, nowNanos)
        : Optional.empty();
  }

  /**
   * Returns when updates that wait are due, or {@link #takeLow} or {@link #takeToInherit} has
   * something; Long.MAX_VALUE if never.
   */
  public long nextNanos() {
    return low.isEmpty() && (gives || toInherit.isEmpty()) ? waiters.nextNanos() : Long.MIN_VALUE;
  }

  /** Returns how often an update lacked rights. */
  public long denied() {
    return denied;
  }
}
