package io.osier.datacenter.shard.agent;

import io.osier.core.time.SlewedClock;
import io.osier.datacenter.partition.machine.Now;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What time it is for a partition and what is around it; passed in, so that tests can set it. */
public interface Time {
  /** A monotonic clock. */
  long nanos();

  /** Both clocks. Used by one thread at a time. */
  Now now();

  /** About {@link Now#millis}. For any thread. */
  long millis();

  /** The machine's clocks, the wall clock followed slowly. */
  static Time of(String name, SlewedClock clock) {
    Logger log = LoggerFactory.getLogger(Time.class);
    return new Time() {
      private volatile @Nullable Now last;

      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public long millis() {
        Now then = last;
        return then == null
            ? System.currentTimeMillis()
            : then.millis() + (System.nanoTime() - then.nanos()) / 1_000_000;
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
        Now now = new Now(nanos, millis);
        last = now;
        return now;
      }
    };
  }
}
