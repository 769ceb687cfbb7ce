package io.osier.datacenter.copies;

/**
 * How much an object is read here, and what its changes cost while there is a copy: means of the
 * last periods, of which each counts half of the one behind it. What changes cost is remembered
 * after a copy has ended, and halved with each period, so a copy is tried again. Not thread-safe.
 */
final class Demand {
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
    reads = (reads + newReads) / 2;
    shippedBytes = (shippedBytes + newShippedBytes) / 2;
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
