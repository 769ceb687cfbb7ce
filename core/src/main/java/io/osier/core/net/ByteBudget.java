package io.osier.core.net;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Limits the bytes that several users hold together. Thread-safe. */
public final class ByteBudget {
  /** A budget that is never spent. */
  public static final ByteBudget UNLIMITED = new ByteBudget(Long.MAX_VALUE / 2);

  private volatile long max;
  private final AtomicLong taken = new AtomicLong();
  private final @Nullable ByteBudget within; // null if these bytes are part of no other budget

  public ByteBudget(long max) {
    this.max = max;
    this.within = null;
  }

  /** Creates a budget that is a part of another one: bytes taken here are taken there, too. */
  public ByteBudget(long max, ByteBudget within) {
    this.max = max;
    this.within = within;
  }

  /** Changes the limit; bytes that are taken stay taken. */
  public void setMax(long bytes) {
    max = bytes;
  }

  /** Takes bytes, to be given back later; returns false without taking any if they do not fit. */
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

  /** Whether this many bytes fit into this budget now, whatever the enclosing one has. */
  public boolean has(long bytes) {
    return taken.get() + bytes <= max;
  }

  /** Takes bytes even if they do not fit. */
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

  /** Returns the limit, in bytes. */
  public long max() {
    return max;
  }

  /** Returns how many bytes are taken. */
  public long taken() {
    return taken.get();
  }
}
