package io.osier.proxy.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.connection.CallbackThread;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many calls are under way. A caller beyond the limit waits until an earlier call has
 * ended, within its own time limit. A thread that delivers answers does not wait, since it may be
 * the one to deliver the answers that end other calls: its calls may exceed the limit up to twice,
 * and are refused beyond that. Thread-safe.
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
   * Largest limit: half of what the semaphore can count, so that {@link #close} can admit all
   * waiting callers.
   */
  private static final int MOST_MAX = Integer.MAX_VALUE / 2;

  private final int most;
  private final Places places;

  CallLimiter(int most) {
    this.most = Math.min(most, MOST_MAX);
    this.places = new Places(this.most);
  }

  /** Admits a call if it is within the limit; if so {@link #leave} must follow. */
  public boolean enterAtOnce() {
    return places.tryAcquire();
  }

  /**
   * Waits until a call is within the limit.
   *
   * @param leftNanos how long to wait at most
   * @return null if the call is admitted: {@link #leave} must follow; otherwise the error
   */
  public @Nullable OsierException enter(long leftNanos) {
    if (CallbackThread.isHere()) {
      if (places.availablePermits() <= -most) {
        return full("and a callback or an event loop must not block until one of them ends");
      }
      places.takeBeyond();
      return null;
    }
    try {
      return places.tryAcquire(leftNanos, TimeUnit.NANOSECONDS)
          ? null
          : full("and none of them ended within the call's time limit");
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
   * Waits until no call is under way. The client must refuse new calls meanwhile.
   *
   * @return whether all calls ended in time
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

  /** Admits all waiting callers: the closed client then tells them so. */
  void close() {
    places.release(MOST_MAX);
  }
}
