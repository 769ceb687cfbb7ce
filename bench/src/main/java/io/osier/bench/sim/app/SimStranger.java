package io.osier.bench.sim.app;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.Random;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * An application that asks for updates again and again and is no user of any datacenter: no request
 * of it may be done, not even a ping.
 */
public final class SimStranger {
  private static final int PACE_MILLIS_MIN = 500;
  private static final int PACE_MILLIS_MAX = 8_000;

  private final Simulation simulation;
  private final SimApp app;
  private final Random random;
  private long refused;

  public SimStranger(Simulation simulation, SimApp app, Random random) {
    this.simulation = simulation;
    this.app = app;
    this.random = random;
  }

  public void start() {
    if (!simulation.isLoading()) {
      return;
    }
    Unit unit = simulation.units().get(random.nextInt(simulation.units().size()));
    app.client()
        .session()
        .keyspace(unit.policy().name())
        .counter("of a stranger")
        .incrementAsync(1)
        .whenComplete((done, error) -> told(error));
    int pause = PACE_MILLIS_MIN + random.nextInt(PACE_MILLIS_MAX - PACE_MILLIS_MIN);
    simulation.scheduler().in(pause * MILLI, this::start);
  }

  private void told(@Nullable Throwable error) {
    Throwable why = error instanceof CompletionException ? error.getCause() : error;
    if (!(why instanceof OsierException refusal)) {
      simulation.scheduler().fail(new Violation("", "%s is told %s", app, String.valueOf(why)));
    } else if (refusal.code() == ErrorCode.NOT_AUTHENTICATED) {
      refused++;
    }
  }

  /** How often it was told that it has not logged in. */
  public long refused() {
    return refused;
  }

  public void end() {
    app.client().close();
  }
}
