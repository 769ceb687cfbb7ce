package io.osier.datacenter.server;

import io.osier.core.SlewedClock;
import io.osier.datacenter.partition.Now;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What time it is for a partition and what is around it; passed in, so that tests can set it. */
public interface Time {
  /** A monotonic clock. */
  long nanos();

  /** Both clocks. Used by one thread at a time. */
  Now now();

  /** The machine's clocks, the wall clock followed slowly. */
  static Time of(String name, SlewedClock clock) {
    Logger log = LoggerFactory.getLogger(Time.class);
    return new Time() {
      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public Now now() {
        long nanos = System.nanoTime();
        long wall = System.currentTimeMillis();
        long millis = clock.read(wall, nanos);
        if (clock.jumped()) {
          log.warn(
              "{}: the system clock jumped; it is {} ms ahead of the time in use, which follows"
                  + " slowly",
              name,
              clock.offsetMillis());
        }
        return new Now(nanos, millis);
      }
    };
  }
}
