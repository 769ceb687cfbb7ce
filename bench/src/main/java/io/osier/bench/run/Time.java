package io.osier.bench.run;

import java.util.concurrent.locks.LockSupport;

/** The clocks that a run goes by; tests have their own. Thread-safe. */
interface Time {
  /** As System.nanoTime() has it. */
  long nanos();

  /** Milliseconds since 1970. */
  long millis();

  /** Returns when so much time has passed, at once if it is not above 0. */
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
