package io.osier.bench.run;

import java.util.concurrent.locks.LockSupport;

/** The clock of a run; tests have a stepped one. Thread-safe. */
interface Time {
  /** Returns nanoseconds as System.nanoTime() does. */
  long nanos();

  /** Returns milliseconds since 1970. */
  long millis();

  /** Waits for a number of nanoseconds; returns at once if it is 0 or less. */
  void pass(long nanos);

  Time REAL =
      new Time() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public long millis() {
          return System.currentTimeMillis();
        }

        @Override
        public void pass(long nanos) {
          long until = System.nanoTime() + nanos;
          for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
          }
        }
      };
}
