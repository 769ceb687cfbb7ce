package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.proxy.Timers;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** Gives production's client the simulation's time, timers and random numbers. */
public final class SimTimers implements Timers {
  private final Scheduler scheduler;
  private final Random random;
  private final Set<Runnable> waiting = new LinkedHashSet<>();
  private final Consumer<UUID> drawn;
  private boolean closed;

  /**
   * Makes timers.
   *
   * @param drawn hears of each id that the client draws
   */
  public SimTimers(Scheduler scheduler, Random random, Consumer<UUID> drawn) {
    this.drawn = drawn;
    this.scheduler = scheduler;
    this.random = random;
  }

  @Override
  public long nanoTime() {
    return scheduler.nanos();
  }

  @Override
  public long pauseMillis(long longest) {
    return random.nextLong(longest / 2, longest + 1);
  }

  @Override
  public UUID newId() {
    UUID id = new UUID(random.nextLong(), random.nextLong());
    drawn.accept(id);
    return id;
  }

  @Override
  public void later(Runnable action, long millis) {
    Runnable once =
        new Runnable() {
          @Override
          public void run() {
            if (waiting.remove(this)) {
              action.run();
            }
          }
        };
    waiting.add(once);
    if (closed) {
      once.run();
    } else {
      scheduler.in(millis * MILLI, once);
    }
  }

  @Override
  public void close() {
    closed = true;
    List.copyOf(waiting).forEach(Runnable::run);
  }
}
