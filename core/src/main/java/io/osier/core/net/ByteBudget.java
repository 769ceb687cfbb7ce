package io.osier.core.net;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that several may hold together at most. Thread-safe. */
public final class ByteBudget {
  /** Never spent. */
  public static final ByteBudget UNLIMITED = new ByteBudget(Long.MAX_VALUE / 2);

  private volatile long max;
  private final AtomicLong taken = new AtomicLong();

  /** Of so many bytes. */
  public ByteBudget(long max) {
    this.max = max;
  }

  /** There are so many from now on; what is taken stays. */
  public void setMax(long bytes) {
    max = bytes;
  }

  /** Takes bytes, to be given back later; false, and none are taken, if there are not so many. */
  public boolean tryTake(long bytes) {
    if (taken.addAndGet(bytes) > max) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Takes bytes even if there are not so many. */
  void take(long bytes) {
    taken.addAndGet(bytes);
  }

  /** Gives bytes back. */
  public void give(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** The bytes that can be had at most. */
  public long max() {
    return max;
  }

  /** The bytes that are held. */
  public long taken() {
    return taken.get();
  }
}
