package io.osier.propagation;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What all partitions together have sent to one peer and not heard of. It is spent for all at once;
 * each stream then still has a small share of its own, so that one whose peer is slow to
 * acknowledge delays the others little, and no stream waits for another's acknowledgement. Pure;
 * thread-safe.
 */
public final class LinkWindow {
  /** Is never spent: for a partition that has its links for itself. */
  static final LinkWindow NONE = new LinkWindow(Long.MAX_VALUE);

  private final long bytesMax;
  private final AtomicLong inFlight = new AtomicLong();

  LinkWindow(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Whether more may be sent. */
  public boolean isOpen() {
    return inFlight.get() < bytesMax;
  }

  /** Something was sent. */
  public void take(long bytes) {
    inFlight.addAndGet(bytes);
  }

  /** Something was acknowledged, or is given up. */
  public void give(long bytes) {
    inFlight.addAndGet(-bytes);
  }

  /** What is under way, in bytes. */
  public long inFlightBytes() {
    return inFlight.get();
  }
}
