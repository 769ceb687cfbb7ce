package io.osier.datacenter.partition;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Removes expired objects, elements and fields, some at a time. Every datacenter hides them as soon
 * as its own clock says that they have expired; one datacenter removes them. Not thread-safe.
 *
 * <p>A removal takes away only what its datacenter has seen. It must have seen all that other
 * datacenters did before the object expired, above all later deadlines they gave. So after the
 * deadline this partition ships a mark, an update that changes nothing, and removes nothing before
 * each other datacenter is known to have the mark and all that they had committed by then is here.
 * While a peer is away, or while there may be peers that this partition does not know yet, what has
 * expired stays, hidden.
 *
 * <p>The datacenter that gave the deadline removes, or else the first by name; if it does not, the
 * others do. If several remove the same, they take away what all of them have seen and nothing
 * more.
 */
final class ExpiryRemoval {
  /**
   * As long as clocks differ by less, no deadline is lost that was given at another datacenter
   * before the former one had passed by the clock there.
   */
  static final long SLACK_MILLIS = 2_000;

  /** How long the other datacenters leave a removal to the one that should do it. */
  static final long PATIENCE_MILLIS = 10_000;

  /** Most objects that are looked at in one go: a millisecond or two of the partition's time. */
  static final int SLICE = 128;

  private static final long PERIOD_NANOS = 5_000_000;

  /** The pause while other datacenters must be heard first. */
  private static final long WAITING_NANOS = 50_000_000;

  /** The most deadlines that are left to other datacenters at once. */
  private static final int LATER_MAX = 50_000;

  private final ReplicaId self;
  private final ObjectStore store;
  private final Writes writes;
  private final Propagation propagation;

  /** Deadlines that were taken from the store and not looked at yet. */
  private final ArrayDeque<Deadline> taken = new ArrayDeque<>();

  /** Deadlines left to other datacenters for now, in the order in which they came. */
  private final ArrayDeque<Deadline> later = new ArrayDeque<>();

  private final ArrayDeque<Deadline> mine = new ArrayDeque<>();

  /**
   * In milliseconds since 1970: of all that had expired by then, this partition has what other
   * datacenters did before that.
   */
  private long completeTo = Long.MIN_VALUE;

  /** What completeTo becomes once the mark below has done its work, ... */
  private long nextComplete;

  /** ... the number of the mark that was committed for it; 0 if there is none, ... */
  private long mark;

  /** ... and what the other datacenters had committed when they had the mark; null before that. */
  private @Nullable VersionVector committed;

  private long nextNanos = Long.MIN_VALUE;

  ExpiryRemoval(ReplicaId self, ObjectStore store, Writes writes, Propagation propagation) {
    this.self = self;
    this.store = store;
    this.writes = writes;
    this.propagation = propagation;
  }

  void sweep(Now now) {
    if (nextNanos(now) > now.nanos()) {
      return;
    }
    if (propagation.status().mayLackPeers()) {
      nextNanos = now.nanos() + WAITING_NANOS;
      return;
    }
    if (mine.size() < SLICE) {
      take(now);
    }
    boolean goesOn = !taken.isEmpty();
    if (!mine.isEmpty() && store.areAtHand(mine.stream().map(Deadline::object).toList())) {
      complete(now);
      int slice = SLICE;
      while (!mine.isEmpty() && mine.peek().millis() <= completeTo && slice > 0) {
        slice -= remove(mine.poll(), slice, now);
        goesOn = true;
      }
    }
    nextNanos = now.nanos() + (goesOn || mine.isEmpty() ? PERIOD_NANOS : WAITING_NANOS);
  }

  private void take(Now now) {
    while (!later.isEmpty() && isPatienceOver(later.peek(), now) && mine.size() < SLICE) {
      mine.add(later.poll());
    }
    if (taken.isEmpty()) {
      taken.addAll(store.expiring(now.millis() - SLACK_MILLIS, SLICE));
    }
    if (store.areAtHand(taken.stream().map(Deadline::object).toList())) {
      for (Deadline next; (next = taken.poll()) != null; ) {
        CrdtState state = read(next);
        if (state != null && state.overAt() <= now.millis()) {
          boolean toBeRemoved =
              isMine(state) || isPatienceOver(next, now) || later.size() >= LATER_MAX;
          (toBeRemoved ? mine : later).add(next);
        }
      }
    }
  }

  /**
   * Removes the expired parts of an object, or all of it.
   *
   * @param limit the most parts to remove
   * @return how many parts were removed, 1 if none
   */
  private int remove(Deadline deadline, int limit, Now now) {
    CrdtState state = read(deadline);
    // Otherwise another datacenter has removed it, or it has a later deadline, which the store will
    // name.
    if (state == null || state.overAt() > completeTo) {
      return 1;
    }
    CrdtState left = writes.removeExpired(deadline.object(), state, completeTo, limit, now);
    if (left.overAt() <= completeTo) {
      mine.addFirst(deadline); // more expired parts than the limit
    }
    return Math.max(1, state.mortalParts() - left.mortalParts());
  }

  /**
   * Returns the object of a deadline; null if there is none, or if it cannot be read: then it
   * stays.
   */
  private @Nullable CrdtState read(Deadline deadline) {
    return store.getUndamaged(deadline.object());
  }

  private boolean isMine(CrdtState state) {
    List<String> others = propagation.peerNames();
    Optional<String> origin =
        state.deadlineOrigin().filter(dc -> dc.equals(self.dc()) || others.contains(dc));
    return origin.isPresent()
        ? origin.get().equals(self.dc())
        : others.stream().allMatch(dc -> self.dc().compareTo(dc) < 0);
  }

  private static boolean isPatienceOver(Deadline deadline, Now now) {
    return deadline.millis() + PATIENCE_MILLIS <= now.millis();
  }

  /**
   * Raises completeTo once the others' updates are here; makes a new mark if the next deadline
   * needs one.
   */
  private void complete(Now now) {
    if (committed != null && !propagation.status().areCurrent(committed)) {
      mark = 0; // a peer began anew and may have more
      committed = null;
    }
    if (mark > 0 && committed == null && propagation.status().shipped() >= mark) {
      committed = propagation.status().committedElsewhere();
    }
    if (committed != null && committed.isAtMost(propagation.here())) {
      completeTo = Math.max(completeTo, nextComplete);
      mark = 0;
      committed = null;
    }
    while (mark == 0 && !mine.isEmpty() && mine.peek().millis() > completeTo) {
      Deadline next = mine.peek();
      CrdtState state = read(next);
      if (state == null || state.overAt() > now.millis()) {
        mine.poll(); // the object expires no longer
      } else {
        nextComplete = now.millis() - SLACK_MILLIS;
        mark = writes.mark(next.object(), state, now);
      }
    }
  }

  /** Returns when {@link #sweep} may have something to do; Long.MAX_VALUE if never. */
  long nextNanos(Now now) {
    if (!taken.isEmpty() || !mine.isEmpty()) {
      return nextNanos;
    }
    long next = store.nextExpiryMillis();
    if (!later.isEmpty()) {
      next = Math.min(next, later.peek().millis() + PATIENCE_MILLIS - SLACK_MILLIS);
    }
    if (next == CrdtState.NEVER) {
      return Long.MAX_VALUE;
    }
    long away = next + SLACK_MILLIS - now.millis();
    return away <= 0 ? nextNanos : Math.max(nextNanos, now.nanos() + away * 1_000_000);
  }
}
