package io.osier.datacenter.shard.agent;

import io.osier.core.time.SlewedClock;
import io.osier.datacenter.partition.machine.Now;
import java.time.Instant;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The clocks of a partition and its surroundings; passed in, so that tests can set them. */
public interface Time {
  /** A monotonic clock. */
  long nanos();

  /** Reads both clocks. Used by one thread at a time. */
  Now now();

  /** Returns about {@link Now#millis}. For any thread. */
  long millis();

  /** Returns the machine's wall clock, in milliseconds since 1970 with their fraction. */
  static double wallMillis() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1e3 + now.getNano() / 1e6;
  }

  /** Makes a time of these clocks; it follows the wall clock slowly. */
  static Time of(String name, SlewedClock clock, LongSupplier monotonic, DoubleSupplier wall) {
    Logger log = LoggerFactory.getLogger(Time.class);
    record Reading(long nanos, double millis) {}
    return new Time() {
      private volatile @Nullable Reading last;

      @Override
      public long nanos() {
        return monotonic.getAsLong();
      }

      @Override
      public long millis() {
        Reading then = last;
        return (long)
            (then == null
                ? wall.getAsDouble()
                : then.millis + (monotonic.getAsLong() - then.nanos) / 1e6);
      }

      @Override
      public Now now() {
        long nanos = monotonic.getAsLong();
        double millis = clock.read(wall.getAsDouble(), nanos);
        if (clock.jumped()) {
          log.warn(
              "{}: the system clock jumped: it is {} ms ahead of the time that Osier uses, which is"
                  + " adjusted slowly",
              name,
              clock.offsetMillis());
        }
        last = new Reading(nanos, millis);
        return new Now(nanos, (long) millis);
      }
    };
  }
}
