package io.osier.core.net;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Bytes that several may hold together at most. Thread-safe. */
public final class ByteBudget {
  /** Never spent. */
  public static final ByteBudget UNLIMITED = new ByteBudget(Long.MAX_VALUE / 2);

  private volatile long max;
  private final AtomicLong taken = new AtomicLong();
  private final @Nullable ByteBudget within; // null if these bytes are nobody else's

  public ByteBudget(long max) {
    this.max = max;
    this.within = null;
  }

  /** Of so many bytes of another budget: what is taken here is taken there, too. */
  public ByteBudget(long max, ByteBudget within) {
    this.max = max;
    this.within = within;
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
    if (within != null && !within.tryTake(bytes)) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Whether there are so many bytes here at this moment, whatever it is a part of. */
  public boolean has(long bytes) {
    return taken.get() + bytes <= max;
  }

  /** Takes bytes even if there are not so many. */
  public void take(long bytes) {
    taken.addAndGet(bytes);
    if (within != null) {
      within.take(bytes);
    }
  }

  public void give(long bytes) {
    taken.addAndGet(-bytes);
    if (within != null) {
      within.give(bytes);
    }
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
