package io.osier.datacenter.partition;

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
import io.osier.protocol.Request;
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
 * <p>Rights are asked for when an update lacks them, and before that, when this datacenter holds
 * less than half of its equal part and another one clearly more. Who is asked gives what is needed,
 * or half of what it has if that is more.
 */
final class Escrow {
  /**
   * An object is asked for again after this time at the earliest, and after twice as long each time
   * that nothing has come of it: who has nothing to give says nothing.
   */
  static final long ASK_NANOS = 200_000_000;

  private static final int ASK_DOUBLINGS_MAX = 3;

  /** So many objects that were asked for are remembered before those long ago are forgotten. */
  private static final int ASKED_MAX = 1_000;

  /** Most updates that wait for rights. */
  static final int WAITING_MAX = 10_000;

  /** Below this part of its equal share a datacenter asks for more before it needs it. */
  private static final int LOW = 2;

  /** An update that waits. */
  record Waiter(long ticket, Request.Write write, long sinceNanos, long deadlineNanos) {}

  private record Reserved(long down, long up) {}

  /**
   * When others were asked last.
   *
   * @param times how often since the object changed
   */
  private record Asked(long nanos, int times) {
    long againNanos() {
      return nanos + (ASK_NANOS << Math.clamp(times - 1, 0, ASK_DOUBLINGS_MAX));
    }
  }

  /** What of a counter is set aside for a transaction. */
  record Reservation(ObjectId object, long down, long up) {}

  private final ReplicaId self;
  private List<String> sharers;

  /** Whether all is known of what former incarnations of this datacenter did. */
  private final BooleanSupplier settled;

  private final Map<ObjectId, Reserved> reserved = new HashMap<>();
  private final Map<ObjectId, List<Waiter>> waiting = new LinkedHashMap<>();
  private final Map<ObjectId, Asked> asked = new HashMap<>();
  private final Map<ObjectId, Boolean> low = new LinkedHashMap<>();
  private final TreeSet<ObjectId> changed = new TreeSet<>();
  private int waiters;

  /** The datacenters that there are. */
  private List<String> present;

  /** Whether they come and go. */
  private boolean membersChange;

  /** Those that were given up, and whose rights fall to this one. */
  private final Set<String> inherited = new TreeSet<>();

  /** Counters of which they may have some. */
  private final Set<ObjectId> toInherit = new LinkedHashSet<>();

  /** No update that waits is due before this. */
  private long nextDueNanos = Long.MAX_VALUE;

  private long denied;

  Escrow(ReplicaId self, List<String> peers, BooleanSupplier settled) {
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

  /** From now on there are these others, and new counters' rights are shared by those. */
  void setSharers(List<String> peers, List<String> datacenters) {
    sharers = datacenters.stream().sorted().toList();
    present = sharers(self, peers);
    membersChange = true;
    present.forEach(inherited::remove); // one of that name has rights again
  }

  /** See {@link Input.Inherit}. */
  void inherit(String from, List<ObjectId> counters) {
    if (!present.contains(from)) {
      inherited.add(from);
      toInherit.addAll(counters);
    }
  }

  /** From now on nobody's rights fall to this datacenter, which gives its own away. */
  void retire() {
    inherited.clear();
    toInherit.clear();
  }

  /** Takes the counters whose rights may fall to this datacenter. */
  List<ObjectId> takeToInherit() {
    if (toInherit.isEmpty()) {
      return List.of();
    }
    List<ObjectId> taken = List.copyOf(toInherit);
    toInherit.clear();
    return taken;
  }

  /** Of whom this datacenter takes over rights of a counter now. */
  List<String> inheritedOf(CrdtState state) {
    BoundedCounter counter = counter(state);
    return inherited.stream()
        .filter(dc -> isSome(counter.downRights(dc)) || isSome(counter.upRights(dc)))
        .toList();
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE; // that is: not as many as one likes
  }

  /** All that may be given away of a counter; 0 where there is no bound. */
  long mine(ObjectId object, CrdtState state, boolean upward) {
    long rights = available(object, counter(state), upward);
    return rights == Long.MAX_VALUE ? 0 : Math.max(0, rights);
  }

  /**
   * An operation with what only the datacenter knows.
   *
   * @throws OsierException INVALID_ARGUMENT if it gives rights to nobody: they would be lost;
   *     UNAVAILABLE if a counter that is not here may exist with rights of one that has gone
   */
  Operation filled(CrdtState state, Operation operation) {
    if (operation instanceof Operation.Bound
        && membersChange
        && !settled.getAsBoolean()
        && state.store() instanceof BoundedCounter counter
        && !counter.isCreated()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter "
              + self.dc()
              + " has lost its memory, or is new, and creates no bounded counters before it has"
              + " heard all others; others do");
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

  /** How much an operation changes the value, or gives away: what it needs rights for. */
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

  /** How much of a counter may be subtracted here, or added. */
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

  /** Whether an update may be done now. */
  boolean isCovered(ObjectId object, CrdtState state, Operation operation) {
    Reservation needs = needs(object, operation);
    BoundedCounter counter = counter(state);
    return !counter.isCreated() // then it fails for that
        || ((needs.down == 0 || needs.down <= available(object, counter, false))
            && (needs.up == 0 || needs.up <= available(object, counter, true)));
  }

  /** What is missing, as the error that says so. */
  OsierException lacking(ObjectId object, CrdtState state, Operation operation) {
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
                : " (it has lost its memory and may not use more before it has heard all others)")
            + ", and "
            + (upward ? needs.up : needs.down)
            + " are needed");
  }

  // ---------------------------------------------------------------- transactions

  /** Sets rights aside for an operation that is covered. */
  Reservation reserve(ObjectId object, Operation operation) {
    Reservation needs = needs(object, operation);
    add(object, needs.down, needs.up);
    return needs;
  }

  /** Lets rights go that were set aside. */
  void release(Reservation set) {
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

  // ---------------------------------------------------------------- asking and giving

  /**
   * Rights that are wanted of others.
   *
   * @param amount how many
   * @param holders whom to ask, richest first
   */
  record Wanted(ObjectId object, long amount, boolean upward, List<Holder> holders) {}

  /** A datacenter with its rights of a counter. */
  record Holder(String dc, long rights) {}

  /** What to ask for now, for an update that lacks it; empty if others were asked just before. */
  Optional<Wanted> wantedFor(ObjectId object, CrdtState state, Operation operation, long nowNanos) {
    Reservation needs = needs(object, operation);
    boolean upward = needs.up > 0;
    BoundedCounter counter = counter(state);
    long lacks = (upward ? needs.up : needs.down) - available(object, counter, upward);
    return wanted(object, counter, upward, lacks, nowNanos);
  }

  private Optional<Wanted> wanted(
      ObjectId object, BoundedCounter counter, boolean upward, long lacks, long nowNanos) {
    Asked last = asked.get(object);
    if (lacks <= 0 || (last != null && nowNanos < last.againNanos())) {
      return Optional.empty();
    }
    if (asked.size() > ASKED_MAX) {
      asked.values().removeIf(a -> nowNanos >= a.againNanos());
    }
    asked.put(object, new Asked(nowNanos, last == null ? 1 : last.times + 1));
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

  /** How much to give to who asks. */
  long grant(String dc, Frame.Rights wanted, CrdtState state) {
    long available = available(wanted.object(), counter(state), wanted.upward());
    // Needed here, too: one of the two must come first.
    boolean needed = waiting.containsKey(wanted.object()) && self.dc().compareTo(dc) < 0;
    if (available <= 0 || available == Long.MAX_VALUE || needed) {
      return 0;
    }
    return Math.min(available, Math.max(wanted.amount(), available / 2));
  }

  /** An update of a counter was done here: there may be little left. */
  void used(ObjectId object, CrdtState state, Operation operation) {
    Reservation needs = needs(object, operation);
    boolean upward = needs.up > 0;
    boolean gave = operation instanceof Operation.Transfer; // to take it back would go on for ever
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

  /** Lets an update wait. */
  void wait(ObjectId object, Waiter waiter) {
    if (waiters >= WAITING_MAX) {
      throw new OsierException(
          ErrorCode.OVERLOADED, WAITING_MAX + " updates wait for rights already");
    }
    waiters++;
    waiting.computeIfAbsent(object, o -> new ArrayList<>()).add(waiter);
    long againNanos = againNanos(object);
    nextDueNanos = Math.min(nextDueNanos, Math.min(againNanos, waiter.deadlineNanos));
  }

  /** A counter has changed: who waits for it may go on. */
  void changed(ObjectId object) {
    if (waiting.containsKey(object)) {
      changed.add(object);
    }
    asked.computeIfPresent(object, (o, last) -> new Asked(last.nanos, 0));
    if (!inherited.isEmpty() && object.type() == CrdtType.BOUNDED_COUNTER) {
      toInherit.add(object);
    }
  }

  /** What may be tried again, or has waited too long; it no longer waits then. */
  List<Waiter> due(long nowNanos) {
    boolean late = nextDueNanos <= nowNanos;
    List<Waiter> due = new ArrayList<>();
    if (!late && changed.isEmpty()) {
      return due;
    }
    long next = late ? Long.MAX_VALUE : nextDueNanos;
    for (ObjectId object : List.copyOf(late ? waiting.keySet() : changed)) {
      List<Waiter> of = waiting.getOrDefault(object, List.of());
      long againNanos = againNanos(object);
      boolean all = changed.contains(object) || againNanos <= nowNanos;
      List<Waiter> left = new ArrayList<>();
      for (Waiter waiter : of) {
        if (all || waiter.deadlineNanos <= nowNanos) {
          waiters--;
          due.add(waiter);
        } else {
          left.add(waiter);
          next = Math.min(next, Math.min(againNanos, waiter.deadlineNanos));
        }
      }
      if (left.isEmpty()) {
        waiting.remove(object);
      } else {
        waiting.put(object, left);
      }
    }
    changed.clear();
    nextDueNanos = next;
    return due;
  }

  private long againNanos(ObjectId object) {
    Asked last = asked.get(object);
    return last == null ? Long.MIN_VALUE / 2 : last.againNanos();
  }

  /** Takes the counters that run low; true where rights to add do. */
  Map<ObjectId, Boolean> takeLow() {
    if (low.isEmpty()) {
      return Map.of();
    }
    Map<ObjectId, Boolean> taken = new LinkedHashMap<>(low);
    low.clear();
    return taken;
  }

  /** What to ask for of a counter that runs low: half of what the richest has more. */
  Optional<Wanted> wantedToBalance(
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
   * When {@link #due}, {@link #takeLow} or {@link #takeToInherit} has something; Long.MAX_VALUE if
   * never.
   */
  long nextNanos() {
    if (!changed.isEmpty() || !low.isEmpty() || !toInherit.isEmpty()) {
      return Long.MIN_VALUE;
    }
    return nextDueNanos;
  }

  /** How many updates wait for rights. */
  int waiters() {
    return waiters;
  }

  /** How many of them are of this counter. */
  int waiters(ObjectId object) {
    return waiting.getOrDefault(object, List.of()).size();
  }

  /** How often there were not enough rights. */
  long denied() {
    return denied;
  }
}
