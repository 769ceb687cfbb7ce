package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Trace;
import java.io.PrintStream;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One run of what carries bytes, without the partitions behind it: production's connections, codecs
 * and logins, between applications and ports or between datacenters, over connections that split,
 * delay, fill up and break. What comes is what was sent, once and in order, and what does not come
 * is told. A seed gives the same run every time.
 */
public final class TransportSimulation {
  private static final long FAULTS_NANOS = 20 * SECOND;
  private static final long CALM_NANOS = 40 * SECOND;
  private static final int PAUSE_MILLIS_MAX = 4_000;
  private static final int DURATION_MILLIS_MAX = 2_500;
  private static final int LONG_MILLIS_MAX = 15_000;

  private final Scheduler scheduler = new Scheduler();
  private final Trace trace;
  private final Random random;
  private final Half half;

  /** A run that has not begun. */
  public TransportSimulation(long seed, Sabotage sabotage) {
    this(seed, sabotage, Trace::new);
  }

  /** A run that keeps its last events, and prints all if {@code to} is not null. */
  public static TransportSimulation traced(long seed, Sabotage sabotage, @Nullable PrintStream to) {
    return new TransportSimulation(seed, sabotage, scheduler -> new Trace(scheduler, to));
  }

  private TransportSimulation(long seed, Sabotage sabotage, Function<Scheduler, Trace> trace) {
    this.trace = trace.apply(scheduler);
    this.random = new Random(seed * 0x9E3779B97F4A7C15L);
    Random own = new Random(random.nextLong());
    this.half =
        random.nextBoolean()
            ? new Applications(scheduler, this.trace, sabotage, own)
            : new Peers(scheduler, this.trace, sabotage, own);
  }

  /** Runs to the end. Throws a Violation. */
  public void run() {
    half.start();
    long until = scheduler.nanos() + FAULTS_NANOS;
    while (scheduler.nanos() < until) {
      scheduler.runFor((1 + random.nextInt(PAUSE_MILLIS_MAX)) * MILLI);
      int most = random.nextInt(8) == 0 ? LONG_MILLIS_MAX : DURATION_MILLIS_MAX;
      half.fault((100 + random.nextInt(most)) * MILLI);
    }
    half.heal();
    trace.note("all faults end");
    scheduler.runFor(CALM_NANOS);
    half.check();
  }

  public Scheduler scheduler() {
    return scheduler;
  }

  /** How many requests were answered, or frames came. */
  public long carried() {
    return half.carried();
  }

  /** How many frames came in one compressed block with the frame before them. */
  long carriedTogether() {
    return half.carriedTogether();
  }

  /** How many requests were refused because nobody had logged in. */
  public long refused() {
    return half.refused();
  }

  @Override
  public String toString() {
    return half
        + ": "
        + carried()
        + " carried, "
        + refused()
        + " refused, hash "
        + String.format("%016x", trace.hash());
  }
}
