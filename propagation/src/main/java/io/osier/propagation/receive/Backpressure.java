package io.osier.propagation.receive;

import io.osier.core.memory.Budget;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.StatePulls;
import java.util.function.Predicate;

/**
 * Decides which peers may go on sending. Received updates that wait have a budget. When it is
 * spent, a peer is not acknowledged unless waiting updates depend on updates that it has yet to
 * send. Not thread-safe.
 */
final class Backpressure {
  /** When what waits takes this many times the budget, frames are not even taken. */
  private static final int TAKEN_FACTOR = 2;

  /**
   * A peer that has been silent for this many retry intervals is not waited for, if other peers
   * need the memory that its updates take: a sender's pauses are at most half as long.
   */
  private static final long SILENCE_RETRIES = 32;

  private final ReplicationContext around;
  private final Visibility visibility;
  private final Predicate<String> linkUp;

  /** How many frames and offers had to wait for their acknowledgement, or were not taken. */
  private long waitingSpent;

  Backpressure(ReplicationContext around, Visibility visibility, Predicate<String> linkUp) {
    this.around = around;
    this.visibility = visibility;
    this.linkUp = linkUp;
  }

  /** Decides anew which peers may be held back, after something was received. */
  void weigh(long nowNanos) {
    visibility.weigh(new Heard(nowNanos));
  }

  private final class Heard implements Visibility.Hearing {
    private final long nowNanos;

    Heard(long nowNanos) {
      this.nowNanos = nowNanos;
    }

    @Override
    public boolean flows(InboundStream in) {
      return linkUp.test(in.sender().dc())
          && nowNanos - in.liveness().aliveNanos() < around.retryNanos();
    }

    @Override
    public boolean isGone(InboundStream in) {
      long patienceNanos = (SILENCE_RETRIES * around.retryNanos()) << in.patience();
      return nowNanos - in.liveness().aliveNanos() >= patienceNanos;
    }

    @Override
    public long silentNanos() {
      return Backpressure.this.silentNanos(nowNanos);
    }
  }

  private long silentNanos(long nowNanos) {
    return nowNanos - SILENCE_RETRIES * around.retryNanos();
  }

  /**
   * Whether a peer may go on sending. It may not while what waits takes more than the budget and
   * will become visible without more from this peer.
   */
  boolean mayGoOn(InboundStream in) {
    return hasRoom(in, 1);
  }

  private boolean hasRoom(InboundStream in, int factor) {
    if (!visibility.mayHoldBack(in)) {
      return true; // the usual case, before the bytes are added up
    }
    long bytes = visibility.waitingBytes() - visibility.leftBytes();
    return bytes <= factor * around.settings().memory().waiting();
  }

  /** Whether the next frame of a stream is taken at all. */
  boolean takes(InboundStream in) {
    if (mayGoOn(in)) {
      return true;
    }
    waitingSpent++;
    return !visibility.mayRefuse() || hasRoom(in, TAKEN_FACTOR);
  }

  /** Whether another pull may begin; if others are in progress, only when there is room. */
  boolean mayPullMore(InboundStream in, long nowNanos) {
    if (!hasRoomForPull(in)) {
      // The offers of former epochs may never be repeated.
      in.dropFormerPulls(silentNanos(nowNanos));
    }
    boolean hasRoom = hasRoomForPull(in);
    if (!hasRoom && in.pulls().count() < StatePulls.MAX) {
      waitingSpent++;
    }
    return hasRoom;
  }

  private boolean hasRoomForPull(InboundStream in) {
    if (in.pulls().count() >= StatePulls.MAX) {
      return false;
    }
    // Where pulled states become visible at once, one pull may always go on.
    return visibility.mayRefuse()
        ? mayGoOn(in)
        : in.pulls().count() == 0
            || visibility.waitingBytes() <= around.settings().memory().waiting();
  }

  /**
   * Returns how much of the budget is used.
   *
   * @param keptBytes the bytes of parts that came with answers that ended early
   */
  Budget.Usage usage(long keptBytes) {
    return new Budget.Usage(
        "waiting",
        around.settings().memory().waiting(),
        visibility.waitingBytes() + keptBytes,
        waitingSpent);
  }
}
