package io.osier.datacenter.store;

/**
 * When sets and maps are decomposed.
 *
 * @param bytesMin an object is when its encoded size is this at least, and until it is less than a
 *     quarter of that; in bytes
 * @param inMemoryMax so many of its entries may have changed before those that are written are let
 *     go from memory; some more are while they are being written
 * @param headBytesMax with a larger head, which is written with each update, an object is not
 *     decomposed: with many elements that have deadlines it is nearly all of it. It is until its
 *     head is twice as large; in bytes
 */
public record DecompositionLimits(long bytesMin, int inMemoryMax, long headBytesMax) {
  private static final long HEAD_BYTES_MAX = 8 << 10;

  /**
   * What a datacenter has: below this size a whole object is read and written as fast as its
   * entries would be.
   */
  public static final DecompositionLimits DEFAULT = new DecompositionLimits(64 << 10, 4_096);

  /** With heads as large as a datacenter has them. */
  public DecompositionLimits(long bytesMin, int inMemoryMax) {
    this(bytesMin, inMemoryMax, HEAD_BYTES_MAX);
  }
}
