package io.osier.datacenter.copies;

/**
 * Measures how much an object is read here, and what its changes cost while there is a copy: means
 * of the last periods, of which each counts three quarters of the following one. The cost of
 * changes is remembered after the copy has ended and fades with each period, so that a copy is
 * tried again. Not thread-safe.
 */
final class Demand {
  /**
   * The weight of the last period in the means. More would be noise: of an object that is read once
   * in a period on average, every third period has no read and every twelfth has three or more.
   */
  private static final double LAST = 0.25;

  private long newReads;
  private long newReadBytes;
  private long newShippedBytes;
  private double reads;
  private double bytesPerRead;
  private double shippedBytes;
  private long notBefore;
  private int pause = 1;

  /** Notes reads whose answers had so many bytes together. */
  void read(long times, long bytes) {
    newReads += times;
    newReadBytes += bytes;
  }

  /**
   * Notes reads that the copy answered; the sizes that their forwarded answers would have had are
   * estimated.
   */
  void readFromCopy(long times) {
    newReads += times;
    newReadBytes += Math.round(times * bytesPerRead);
  }

  /** Notes that a holder has shipped a new state of so many bytes. */
  void shipped(long bytes) {
    newShippedBytes += bytes;
  }

  /** Ends a period: updates the means. */
  void periodEnds() {
    if (newReads > 0) {
      double mean = (double) newReadBytes / newReads;
      bytesPerRead = bytesPerRead == 0 ? mean : (bytesPerRead + mean) / 2;
    }
    reads += LAST * (newReads - reads);
    shippedBytes += LAST * (newShippedBytes - shippedBytes);
    newReads = 0;
    newReadBytes = 0;
    newShippedBytes = 0;
  }

  /** Notes that a copy was not worth it: each time the next one may begin later. */
  void wasNotWorthIt(long now) {
    notBefore = now + pause;
    pause = Math.min(CopyRule.PAUSE_MAX, 2 * pause);
  }

  /** Returns the mean number of reads in a period. */
  double reads() {
    return reads;
  }

  /** Returns the mean size of an answer, in bytes. */
  double bytesPerRead() {
    return bytesPerRead;
  }

  /** Returns the mean of the bytes that the holder ships in a period. */
  double shippedBytes() {
    return shippedBytes;
  }

  /** Returns the number of the first period in which another copy may begin. */
  long notBefore() {
    return notBefore;
  }
}
