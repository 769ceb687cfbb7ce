package io.osier.bench.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.cluster.Workers;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.bench.systems.Target;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Measures how soon the last node shows an update made at the first: updates an object of its own,
 * reads it at the last node each millisecond, and rests for a random time, so that it does not fall
 * into step with the system's own periods.
 */
final class Prober implements AutoCloseable {
  private static final int REST_MILLIS_MAX = 200;
  private static final int SETS = 100;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final Calls first;
  private final Calls last;
  private final Recorder tenths = new Recorder(3);
  private final Workers workers = new Workers(this::broken);
  private volatile boolean stopping;
  private volatile @Nullable String failure;

  /**
   * Starts the thread that probes.
   *
   * @param load the load beside which it runs; the prober uses keys above the load's
   * @throws io.osier.bench.systems.ScenarioException if the load's mix has neither increment nor
   *     add
   */
  Prober(Target target, Config load) throws IOException {
    String operation = Audit.operation(load);
    int key = load.getInt("keys");
    Config own = ConfigFactory.parseString("keys = " + (key + SETS)).withFallback(load);
    first = target.calls(0, own);
    last = target.calls(target.nodes() - 1, own);
    boolean isAdd = operation.equals("add");
    int elements = load.getInt("elements");
    Calls.Call call = first.call(operation);
    workers.start(
        "prober", isAdd ? () -> addToSets(call, key, elements) : () -> increment(call, key));
  }

  private void broken(String what) {
    failure = what;
  }

  private void increment(Calls.Call call, int key) {
    long before = first.count(key);
    for (long i = 1; !stopping; i++) {
      long wanted = before + i;
      probe(call, key, i, () -> last.count(key) >= wanted);
    }
  }

  private void addToSets(Calls.Call call, int key, int elements) {
    for (long i = 0; !stopping && i < (long) SETS * elements; i++) {
      int set = key + (int) (i / elements);
      int element = OsierCalls.elementOf(i, elements);
      if (!last.has(set, element)) {
        probe(call, set, i, () -> last.has(set, element));
      }
    }
  }

  private void probe(Calls.Call call, int key, long number, BooleanSupplier shown) {
    long start = System.nanoTime();
    call.make(key, number).toCompletableFuture().join();
    while (!shown.getAsBoolean() && !stopping) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new OsierException(ErrorCode.INTERNAL, "an update was not seen within a minute");
      }
      LockSupport.parkNanos(1_000_000);
    }
    if (!stopping) {
      tenths.recordValue((System.nanoTime() - start) / 100);
      LockSupport.parkNanos(new SplittableRandom(number).nextInt(REST_MILLIS_MAX) * 1_000_000L);
    }
  }

  /**
   * Returns the times from an update to its being shown, of those probes that ended since the last
   * time this was called, in tenths of a microsecond.
   *
   * @throws OsierException INTERNAL if an update failed or was not seen within a minute
   */
  Histogram sinceLast() {
    String why = failure;
    if (why != null) {
      throw new OsierException(ErrorCode.INTERNAL, why);
    }
    return tenths.getIntervalHistogram().copy();
  }

  @Override
  public void close() {
    stopping = true;
    workers.join();
    first.close();
    last.close();
  }
}
