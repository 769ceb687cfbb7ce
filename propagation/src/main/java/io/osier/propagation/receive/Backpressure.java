package io.osier.propagation.receive;

import io.osier.core.memory.Budget;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.StatePulls;
import java.util.function.Predicate;

/**
 * Which peers may go on sending. What has come and waits has a budget; where that is spent, those
 * are not acknowledged whose updates nothing that waits is in need of. Not thread-safe.
 */
final class Backpressure {
  /** With so many times the budget waiting for its cut, frames are not even taken. */
  private static final int TAKEN_FACTOR = 2;

  /**
   * A peer that has been silent for so many retry intervals is not waited for, should others need
   * its room: a sender's pauses are half as long at most.
   */
  private static final long SILENCE_RETRIES = 32;

  private final ReplicationContext around;
  private final Visibility visibility;
  private final Predicate<String> linkUp;

  /** How many frames and offers came that had to wait to be acknowledged, or were not taken. */
  private long waitingSpent;

  Backpressure(ReplicationContext around, Visibility visibility, Predicate<String> linkUp) {
    this.around = around;
    this.visibility = visibility;
    this.linkUp = linkUp;
  }

  /** Looks which peers may be held back, now that something has come. */
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
   * Whether a peer may go on sending: not while all that waits takes more than the budget, and
   * surely comes to its end without more of the peer's.
   */
  boolean mayGoOn(InboundStream in) {
    return hasRoom(in, 1);
  }

  private boolean hasRoom(InboundStream in, int factor) {
    if (!visibility.mayHoldBack(in)) {
      return true; // mostly, and at once: who waits is added up each time
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

  /** Whether another pull may begin: while others are under way, only if there is room. */
  boolean mayPullMore(InboundStream in, long nowNanos) {
    if (!hasRoomForPull(in)) {
      // Their offers may never come again.
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
    // Where what was pulled is visible at once, one goes on in any case.
    return visibility.mayRefuse()
        ? mayGoOn(in)
        : in.pulls().count() == 0
            || visibility.waitingBytes() <= around.settings().memory().waiting();
  }

  /**
   * What is used of the budget.
   *
   * @param keptBytes of what came of answers that ended early
   */
  Budget.Usage usage(long keptBytes) {
    return new Budget.Usage(
        "waiting",
        around.settings().memory().waiting(),
        visibility.waitingBytes() + keptBytes,
        waitingSpent);
  }
}
