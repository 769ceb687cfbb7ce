package io.osier.adaptation;

/**
 * What is measured of one tracked object. Its signals: how often it is updated, how large it is,
 * how large one operation is, and how large a flush was. The rate can be trusted once the object
 * has been tracked for a few periods; the flush size only after the first flush, and until then it
 * is bounded from above by the operations and by the object.
 */
final class Sensor {
  private static final double GAIN = 0.2;

  /** The recent rate follows in this part of the half-life. */
  private static final double RECENT = 0.25;

  /** By so many standard deviations must the recent rate differ to be believed. */
  private static final double SURPRISE = 3;

  private long updates;
  private double perSecond;
  private double recent;
  private double opBytes;
  private long objectBytes;
  private double flushBytesPerUpdate;
  private double flushBytes;

  void updated(int bytes, long size) {
    updates++;
    opBytes = opBytes == 0 ? bytes : opBytes + GAIN * (bytes - opBytes);
    objectBytes = size;
  }

  void flushed(int joined, long bytes) {
    flushBytes = flushBytes == 0 ? bytes : flushBytes + GAIN * (bytes - flushBytes);
    double each = (double) bytes / Math.max(1, joined);
    flushBytesPerUpdate =
        flushBytesPerUpdate == 0 ? each : flushBytesPerUpdate + GAIN * (each - flushBytesPerUpdate);
  }

  /**
   * Closes a period: the rate is an average in which a half-life ago weighs half. A change that
   * chance does not explain is believed sooner: then the rate is that of the last moments, so that
   * what has cooled down does not stay on top for half-lives.
   */
  void period(double seconds, double halfLifeSeconds) {
    // It starts from 0: one update in an object's first period must not look like a steady rate.
    double now = updates / seconds;
    updates = 0;
    perSecond += gain(seconds, halfLifeSeconds) * (now - perSecond);
    double gain = gain(seconds, halfLifeSeconds * RECENT);
    recent += gain * (now - recent);
    // Of updates that come by chance: the variance of such an average of counts.
    double variance = Math.max(perSecond, 1 / seconds) / seconds * gain / (2 - gain);
    if (Math.abs(recent - perSecond) > SURPRISE * Math.sqrt(variance)) {
      perSecond = recent;
    }
  }

  private static double gain(double seconds, double halfLifeSeconds) {
    return 1 - Math.pow(0.5, seconds / halfLifeSeconds);
  }

  double perSecond() {
    return perSecond;
  }

  double opBytes() {
    return opBytes;
  }

  long objectBytes() {
    return objectBytes;
  }

  /**
   * What a flush of so many updates will take: as the last ones did, at most the object or its ops.
   */
  double flushBytes(double joined) {
    double upper = Math.min(joined * opBytes, (double) objectBytes);
    if (flushBytes == 0) {
      return upper;
    }
    // Between two models: a flush as large as the last ones (a counter, a register), and one that
    // grows
    // with the number of updates (a set). The smaller of both is never above what was seen.
    return Math.min(upper, Math.max(Math.min(flushBytes, flushBytesPerUpdate * joined), 1));
  }
}
