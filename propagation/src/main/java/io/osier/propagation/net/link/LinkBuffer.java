package io.osier.propagation.net.link;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the bytes that were given to the network for one peer and have not left. Large frames do
 * not count against the bound: a single one may be larger, and there are only as many as requested
 * answers. Pure; thread-safe.
 */
public final class LinkBuffer {
  /** The most bytes of frames that are not large; beyond it the peer is taken to read nothing. */
  public static final long BYTES_MAX = 256L << 20;

  public static final int LARGE_BYTES_MIN = 16 << 20;

  private final long bytesMax;
  private final int largeBytesMin;
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong large = new AtomicLong();

  /**
   * @param largeBytesMin frames of this size or more do not count against the bound
   */
  public LinkBuffer(long bytesMax, int largeBytesMin) {
    this.bytesMax = bytesMax;
    this.largeBytesMin = largeBytesMin;
  }

  /** Counts a frame; returns false without counting it if the bound is reached. */
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

  /** Notes that a frame has left, or will not leave any more. */
  public void left(int bytes) {
    (bytes >= largeBytesMin ? large : small).addAndGet(-bytes);
  }

  /** Returns how many bytes wait. */
  public long bytes() {
    return small.get() + large.get();
  }
}
