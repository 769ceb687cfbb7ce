package io.osier.datacenter.control.execution;

import io.osier.core.time.Retry;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A walk through all objects, in another thread, that begins anew after a failure, after a growing
 * pause. One thread looks at it again and again.
 */
final class RepeatedWalk {
  private static final Logger LOG = LoggerFactory.getLogger(RepeatedWalk.class);
  private static final long PAUSE_MILLIS_MIN = 1_000;
  private static final long PAUSE_MILLIS_MAX = 60_000;

  private final String what;
  private final LongSupplier millis;
  private final LongAdder failures;
  private final Retry retry;
  private @Nullable CompletableFuture<Integer> underWay;
  private boolean anew;

  /**
   * @param what the walk does, for a line of the log: "... failed"
   * @param failures counts failed walks
   */
  RepeatedWalk(String what, LongAdder failures, LongSupplier millis, RandomGenerator random) {
    this.what = what;
    this.failures = failures;
    this.millis = millis;
    this.retry = new Retry(PAUSE_MILLIS_MIN, PAUSE_MILLIS_MAX, random);
  }

  /** There may be more to find now: a walk in progress does not count. */
  void beginAnew() {
    anew = underWay != null;
  }

  /**
   * Begins a walk, if none is in progress and it is time.
   *
   * @return the result of a walk that has ended; empty if none has, or it failed
   */
  OptionalInt step(Supplier<CompletableFuture<Integer>> begin) {
    CompletableFuture<Integer> walk = underWay;
    if (walk == null) {
      underWay = retry.isDue(millis.getAsLong()) ? begin.get() : null;
      return OptionalInt.empty();
    }
    if (!walk.isDone()) {
      return OptionalInt.empty();
    }
    underWay = null;
    boolean counts = !anew;
    anew = false;
    try {
      int found = walk.join();
      boolean unused = retry.worked();
      return counts ? OptionalInt.of(found) : OptionalInt.empty();
    } catch (CompletionException e) {
      failures.increment();
      if (retry.failed(String.valueOf(e.getMessage()), millis.getAsLong())) {
        LOG.error("{} failed, and is tried again", what, e);
      }
      return OptionalInt.empty();
    }
  }
}
