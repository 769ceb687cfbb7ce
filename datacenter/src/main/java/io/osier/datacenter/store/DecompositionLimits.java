package io.osier.datacenter.store;

/**
 * The limits at which sets and maps are decomposed.
 *
 * @param bytesMin an object is decomposed when its encoded size is at least this, and until it is
 *     less than a quarter of it; in bytes
 * @param inMemoryMax how many of its changed entries are kept in memory before those written are
 *     let go; there may be some more while they are being written
 * @param headBytesMax an object with a larger head is not decomposed, since its head is written
 *     with each update and, with many deadlines, is nearly all of the object. A decomposed object
 *     stays so until its head is twice as large; in bytes
 */
public record DecompositionLimits(long bytesMin, int inMemoryMax, long headBytesMax) {
  private static final long HEAD_BYTES_MAX = 8 << 10;

  /**
   * A datacenter's limits: below this size a whole object is read and written as fast as its
   * entries would be.
   */
  public static final DecompositionLimits DEFAULT = new DecompositionLimits(64 << 10, 4_096);

  /** Limits with the default size of heads. */
  public DecompositionLimits(long bytesMin, int inMemoryMax) {
    this(bytesMin, inMemoryMax, HEAD_BYTES_MAX);
  }
}
