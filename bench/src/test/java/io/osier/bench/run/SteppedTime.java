package io.osier.bench.run;

/** A clock that stands still but when somebody lets time pass. */
final class SteppedTime implements Time {
  private long nanos;

  @Override
  public synchronized long nanos() {
    return nanos;
  }

  @Override
  public long millis() {
    return nanos() / 1_000_000;
  }

  @Override
  public synchronized void pass(long by) {
    nanos += Math.max(0, by);
  }
}
