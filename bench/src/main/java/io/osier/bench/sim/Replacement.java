package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.node.SimDc;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter dies, is given up by the others, each at its own time, and later joins again with
 * nothing: it knows one of the others at first, and the rest when it is told.
 */
final class Replacement {
  private static final int STEP_MILLIS_MAX = 5_000;
  private static final int PAUSE_MILLIS_MAX = 20_000;

  /** So often one that joins looks whether it has all. */
  private static final long LOOK_NANOS = 300 * MILLI;

  private final Simulation simulation;
  private final SimDc dc;
  private final String name;
  private final List<String> others;
  private final ReplicaId former;
  private @Nullable SimDeparture departure;
  private boolean ended;

  Replacement(Simulation simulation, SimDc dc) {
    this.simulation = simulation;
    this.dc = dc;
    this.name = dc.self().dc();
    this.former = dc.self();
    this.others = new ArrayList<>(simulation.members().peersOf(name));
  }

  /** Dies, and plans the rest. Returns how long that takes, at most. */
  long begin(Random random) {
    simulation.lose(dc);
    long pause = random.nextInt(PAUSE_MILLIS_MAX) * MILLI;
    long again = STEP_MILLIS_MAX * MILLI + pause;
    for (String other : others) {
      step(random.nextInt(STEP_MILLIS_MAX) * MILLI, () -> part(other));
      step(again + random.nextInt(STEP_MILLIS_MAX) * MILLI, () -> meet(other));
    }
    departure = new SimDeparture(simulation, random, name, others);
    departure.begin();
    step(again, departure::end);
    String seed = others.get(random.nextInt(others.size()));
    long starts = again + random.nextInt(STEP_MILLIS_MAX) * MILLI;
    step(starts, () -> start(List.of(seed)));
    step(starts + random.nextInt(STEP_MILLIS_MAX) * MILLI, this::learn);
    return again + 2 * STEP_MILLIS_MAX * MILLI + SECOND;
  }

  private void step(long nanos, Runnable what) {
    simulation
        .scheduler()
        .in(
            nanos,
            () -> {
              if (!ended) {
                what.run();
              }
            });
  }

  /** All that has not been done yet is done now. */
  void end() {
    if (ended) {
      return;
    }
    ended = true;
    requireNonNull(departure, "it has begun").end();
    others.forEach(this::meet);
    start(others);
    learn();
  }

  private void part(String other) {
    List<String> left = new ArrayList<>(simulation.members().peersOf(other));
    if (left.remove(name)) {
      simulation.members().setPeers(simulation.dc(other), left, false);
    }
  }

  private void meet(String other) {
    List<String> all = new ArrayList<>(simulation.members().peersOf(other));
    if (!all.contains(name)) {
      all.add(name);
      simulation.members().setPeers(simulation.dc(other), all.stream().sorted().toList(), false);
    }
  }

  private void start(List<String> known) {
    if (dc.isUp() || !dc.self().equals(former)) {
      return;
    }
    simulation.members().know(name, known);
    dc.join();
    dc.start(new ReplicaId(name, former.incarnation() + 1));
    look();
  }

  private void learn() {
    if (!dc.isUp()) {
      // It crashed before it was told: it reads that when it starts.
      simulation.members().know(name, others);
      return;
    }
    simulation.members().setPeers(dc, others, true);
  }

  private void look() {
    boolean all = simulation.members().peersOf(name).size() == others.size();
    if (all && dc.isUp() && dc.isComplete()) {
      dc.joined();
      simulation.members().setPeers(dc, others, false);
    } else {
      simulation.scheduler().in(LOOK_NANOS, this::look);
    }
  }
}
