package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.node.SimDc;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * What the others do after a datacenter was given up, until one of them takes over its rights of
 * bounded counters: the steps of production's control plane, each when all have taken the one
 * before, at any time after that.
 */
final class SimDeparture {
  private static final long LOOK_NANOS = 200 * MILLI;

  /** How far a datacenter has come. */
  private enum Step {
    /** It may still hear the datacenter that was given up. */
    NONE,
    PARTED,
    /** It compares itself, and then gives it no part of new counters. */
    COMPARING,
    DROPPING,
    UNSHARED,
    /** It compares itself again. */
    COMPARING_AGAIN,
    AGREED,
    /** The heir only: it compares itself once more. */
    COMPARING_AT_LAST,
    INHERITED
  }

  private final Simulation simulation;
  private final Random random;
  private final String name;
  private final List<String> others;
  private final String heir;
  private final Map<String, Step> steps = new TreeMap<>();
  private boolean ended;

  SimDeparture(Simulation simulation, Random random, String name, List<String> others) {
    this.simulation = simulation;
    this.random = new Random(random.nextLong());
    this.name = name;
    this.others = others;
    this.heir = others.get(random.nextInt(others.size()));
    others.forEach(other -> steps.put(other, Step.NONE));
  }

  /** Goes on until {@link #end}. */
  void begin() {
    if (!ended) {
      others.forEach(this::look);
      simulation.scheduler().in(LOOK_NANOS, this::begin);
    }
  }

  /** The datacenter is added again, and gets its rights back unless they were taken over. */
  void end() {
    ended = true;
    others.forEach(other -> simulation.members().share(other, simulation.names()));
  }

  private boolean all(Step step) {
    return steps.values().stream().allMatch(s -> s.compareTo(step) >= 0);
  }

  private void look(String other) {
    SimDc dc = simulation.dc(other);
    if (!dc.isUp()
        || simulation.members().peersOf(other).contains(name)
        || random.nextInt(3) == 0) {
      return;
    }
    Step now = steps.getOrDefault(other, Step.NONE);
    if (now == Step.NONE && simulation.options().sabotage().everybodyInherits()) {
      completed(dc, Step.COMPARING_AT_LAST);
      return;
    }
    switch (now) {
      case NONE, COMPARING, DROPPING, COMPARING_AGAIN, COMPARING_AT_LAST -> {
        if (dc.isComplete()) {
          completed(dc, now);
        }
      }
      case PARTED -> {
        if (all(Step.PARTED)) {
          compare(dc, Step.COMPARING);
        }
      }
      case UNSHARED -> {
        if (all(Step.UNSHARED)) {
          compare(dc, Step.COMPARING_AGAIN);
        }
      }
      case AGREED -> {
        if (all(Step.AGREED) && other.equals(heir)) {
          compare(dc, Step.COMPARING_AT_LAST);
        }
      }
      case INHERITED -> {}
    }
  }

  private void completed(SimDc dc, Step now) {
    String other = dc.self().dc();
    if (now == Step.COMPARING) {
      simulation.members().share(other, others);
      compare(dc, Step.DROPPING);
      return;
    }
    if (now == Step.COMPARING_AT_LAST) {
      simulation.trace().note("%s takes over the rights of %s", dc.self(), name);
      dc.inherit(name);
    }
    steps.put(other, Step.values()[now.ordinal() + 1]);
  }

  private void compare(SimDc dc, Step next) {
    String other = dc.self().dc();
    steps.put(other, next);
    simulation.members().setPeers(dc, simulation.members().peersOf(other), false);
  }
}
