package io.osier.datacenter.copies;

/**
 * How much an object is read here, and what its changes cost while there is a copy: means of the
 * last periods, of which each counts three quarters of the one behind it. What changes cost is
 * remembered after a copy has ended, and fades with each period, so a copy is tried again. Not
 * thread-safe.
 */
final class Demand {
  /**
   * How much the last period counts. More would be noise: of what is read once in a period in the
   * mean, every third period has no read and every twelfth has three or more.
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

  /** Objects were read. */
  void read(long times, long bytes) {
    newReads += times;
    newReadBytes += bytes;
  }

  /** Objects were read from the copy, so nobody knows how large the answers would have been. */
  void readFromCopy(long times) {
    newReads += times;
    newReadBytes += Math.round(times * bytesPerRead);
  }

  /** A holder has shipped what it has become. */
  void shipped(long bytes) {
    newShippedBytes += bytes;
  }

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

  /** A copy was not worth it: the next one begins later each time. */
  void wasNotWorthIt(long now) {
    notBefore = now + pause;
    pause = Math.min(CopyRule.PAUSE_MAX, 2 * pause);
  }

  double reads() {
    return reads;
  }

  double bytesPerRead() {
    return bytesPerRead;
  }

  double shippedBytes() {
    return shippedBytes;
  }

  long notBefore() {
    return notBefore;
  }
}
