package io.osier.proxy.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.connection.CallbackThread;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many calls are under way. A caller beyond the limit waits until a call has ended,
 * within its own time limit. A thread that brings answers does not wait, since the answers that
 * would end other calls may have to come by it: its calls may go up to twice the limit, and are
 * refused beyond that. Thread-safe.
 */
public final class CallLimiter {
  private static final class Places extends Semaphore {
    private static final long serialVersionUID = 1L;

    Places(int most) {
      super(most);
    }

    void takeBeyond() {
      reducePermits(1);
    }
  }

  /**
   * Largest limit: half of what the semaphore can count, so that closing can let all waiters in.
   */
  private static final int MOST_MAX = Integer.MAX_VALUE / 2;

  private final int most;
  private final Places places;

  CallLimiter(int most) {
    this.most = Math.min(most, MOST_MAX);
    this.places = new Places(this.most);
  }

  /** Whether there was room at once: then {@link #leave} must follow. */
  public boolean enterAtOnce() {
    return places.tryAcquire();
  }

  /**
   * Waits for room.
   *
   * @param leftNanos for how long at most
   * @return null if there is room: {@link #leave} must follow; otherwise why there is none
   */
  public @Nullable OsierException enter(long leftNanos) {
    if (CallbackThread.isHere()) {
      if (places.availablePermits() <= -most) {
        return full("and a callback or an event loop does not wait for others to end");
      }
      places.takeBeyond();
      return null;
    }
    try {
      return places.tryAcquire(leftNanos, TimeUnit.NANOSECONDS)
          ? null
          : full("and were so for the call's whole time limit");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return full(ErrorCode.CANCELLED, "and the calling thread was interrupted");
    }
  }

  private OsierException full(String more) {
    return full(ErrorCode.OVERLOADED, more);
  }

  private OsierException full(ErrorCode code, String more) {
    return OsierException.of(
        code,
        "nothing was sent: " + most + " calls of this client are under way (inFlightMax), " + more);
  }

  public void leave() {
    places.release();
  }

  /**
   * Waits until no call is under way. Those that begin meanwhile must be refused in front of this.
   *
   * @return whether it came to that in time
   */
  public boolean awaitEmpty(long nanos) {
    try {
      if (!places.tryAcquire(most, nanos, TimeUnit.NANOSECONDS)) {
        return false;
      }
      places.release(most);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Lets all in who wait: the client is closed, and tells them so. */
  void close() {
    places.release(MOST_MAX);
  }
}
