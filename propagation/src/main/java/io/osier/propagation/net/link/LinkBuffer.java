package io.osier.propagation.net.link;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what was given to the network for one peer and has not left. Large frames are known but do
 * not count against the bound: one alone may be larger, and there are as many as answers that were
 * asked for. Pure; thread-safe.
 */
public final class LinkBuffer {
  /** Bytes of frames that are not large, at most: then the peer takes nothing. */
  public static final long BYTES_MAX = 256L << 20;

  public static final int LARGE_BYTES_MIN = 16 << 20;

  private final long bytesMax;
  private final int largeBytesMin;
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong large = new AtomicLong();

  /**
   * @param largeBytesMin so many bytes has what does not count
   */
  public LinkBuffer(long bytesMax, int largeBytesMin) {
    this.bytesMax = bytesMax;
    this.largeBytesMin = largeBytesMin;
  }

  /** Takes a frame into account; false, and it is not, if the bound is reached. */
  public boolean add(int bytes) {
    if (bytes >= largeBytesMin) {
      large.addAndGet(bytes);
      return true;
    }
    if (small.get() > bytesMax) {
      return false;
    }
    small.addAndGet(bytes);
    return true;
  }

  /** A frame has left, or will not leave any more. */
  public void left(int bytes) {
    (bytes >= largeBytesMin ? large : small).addAndGet(-bytes);
  }

  /** What waits. */
  public long bytes() {
    return small.get() + large.get();
  }
}
