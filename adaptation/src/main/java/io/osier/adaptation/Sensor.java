package io.osier.adaptation;

/**
 * What is measured of one tracked object. Its signals: how often it is updated, how large it is,
 * how large one operation is, and how large a flush was. The rate is that of this datacenter's own
 * updates, since these are what it ships, and can be used from the first period on; the flush size
 * only after the first flush, and until then it is bounded from above by the operations and by the
 * object.
 */
final class Sensor {
  private static final double GAIN = 0.2;

  /** The recent rate follows in this part of the half-life. */
  private static final double RECENT = 0.25;

  /** By so many standard deviations must the recent rate differ to be believed. */
  private static final double SURPRISE = 3;

  private final Average average = new Average();
  private final Average recent = new Average();

  /** In this period. That which began the measurement does not count: it says nothing of a rate. */
  private long updates = -1;

  private double opBytes;
  private long objectBytes;
  private double flushBytesPerUpdate;
  private double flushBytes;

  /** Nothing is measured. */
  void clear() {
    average.clear();
    recent.clear();
    updates = -1;
    opBytes = 0;
    objectBytes = 0;
    flushBytesPerUpdate = 0;
    flushBytes = 0;
  }

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
  void period(double length, double halfLifeSeconds) {
    // An update that is not counted began the first one: on average half of it was left.
    double seconds = average.weight == 0 ? length / 2 : length;
    double now = updates / seconds;
    updates = 0;
    average.period(now, seconds / halfLifeSeconds);
    recent.period(now, seconds / (halfLifeSeconds * RECENT));
    // Of updates that come by chance: the variance of such an average of counts.
    double variance = Math.max(average.value, 1 / seconds) / seconds * recent.squares;
    if (Math.abs(recent.value - average.value) > SURPRISE * Math.sqrt(variance)) {
      average.value = recent.value;
    }
  }

  double perSecond() {
    return average.value;
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

  /**
   * An average of rates in which the past weighs half after a half-life. The weights of the periods
   * there were make up 1, so a young average is not too low.
   */
  private static final class Average {
    double value;

    /** The sum of the squares of the weights: by so much it varies less than a single period. */
    double squares;

    /** The sum of the weights if there had always been periods: 1 in the end. */
    private double weight;

    void clear() {
      value = 0;
      squares = 0;
      weight = 0;
    }

    void period(double now, double halfLives) {
      double kept = Math.pow(0.5, halfLives);
      weight = weight * kept + (1 - kept);
      double gain = (1 - kept) / weight;
      value += gain * (now - value);
      squares = squares * (1 - gain) * (1 - gain) + gain * gain;
    }
  }
}
