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
 * Removes what has expired, a slice at a time. Every datacenter hides it as soon as its own clock
 * says so; one of them removes it. Not thread-safe.
 *
 * <p>A removal takes what was seen. What was done elsewhere before an object expired, above all
 * another deadline, must have been: so nothing is removed before each other datacenter is known to
 * have got something from here that was made after the deadline, a mark, and all that it had
 * committed when it said so is here. While one is away, or is not known to who has just begun with
 * nothing, what has expired stays where it is, hidden.
 *
 * <p>Who removes is the datacenter that gave the deadline, or else the first by name; if it does
 * not, the others do. Several that remove the same take away what all have seen, and nothing more.
 */
final class ExpiryRemoval {
  /**
   * Clocks that differ by less lose no deadline that was given before the former one had passed by
   * the clock there.
   */
  static final long SLACK_MILLIS = 2_000;

  /** How long the others leave it to the one whose turn it is. */
  static final long PATIENCE_MILLIS = 10_000;

  /** Most objects that are looked at in one go: a millisecond or two of the partition's time. */
  static final int SLICE = 128;

  private static final long PERIOD_NANOS = 5_000_000;

  /** While others must be heard first. */
  private static final long WAITING_NANOS = 50_000_000;

  /** More are not left to others. */
  private static final int LATER_MAX = 50_000;

  private final ReplicaId self;
  private final ObjectStore store;
  private final Writes writes;
  private final Propagation propagation;

  /** Those that were taken from the store, and not looked at. */
  private final ArrayDeque<Deadline> taken = new ArrayDeque<>();

  /** Those that are left to others so far, in the order in which they came. */
  private final ArrayDeque<Deadline> later = new ArrayDeque<>();

  private final ArrayDeque<Deadline> mine = new ArrayDeque<>();

  /** Of what was over by then all is here that was done before; in milliseconds since 1970. */
  private long completeTo = Long.MIN_VALUE;

  /** The next such time, ... */
  private long nextComplete;

  /** ... the number of the mark that was made after it, 0 if there is none, ... */
  private long mark;

  /** ... and what the others had committed when they had the mark; null before that. */
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
   * Removes what is over of an object.
   *
   * @param limit so many of its parts at most
   * @return how many that were, 1 if none
   */
  private int remove(Deadline deadline, int limit, Now now) {
    CrdtState state = read(deadline);
    // Otherwise somebody has removed it, or it has another deadline, which will be told.
    if (state == null || state.overAt() > completeTo) {
      return 1;
    }
    CrdtState left = writes.removeExpired(deadline.object(), state, completeTo, limit, now);
    if (left.overAt() <= completeTo) {
      mine.addFirst(deadline); // more of its parts than fit
    }
    return Math.max(1, state.mortalParts() - left.mortalParts());
  }

  /** The object of a deadline; null if there is none, or it cannot be read: then it stays. */
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

  /** Sees how far all is here that others had done, if the next one needs more than is known. */
  private void complete(Now now) {
    if (committed != null && !propagation.status().areCurrent(committed)) {
      mark = 0; // one of them began anew, and may tell more
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
        mine.poll(); // it is none any more
      } else {
        nextComplete = now.millis() - SLACK_MILLIS;
        mark = writes.mark(next.object(), state, now);
      }
    }
  }

  /** When {@link #sweep} may have something to do; Long.MAX_VALUE if never. */
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
