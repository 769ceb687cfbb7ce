package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.OsierException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Operators who alter the laws of keyspaces that not all hold, and let the holders of some follow
 * their load, while all serve.
 */
final class LawChanges {
  private static final int ALTER_SECONDS_MAX = 15;
  private static final List<String> LEAST = List.of("auto", "1", "2", "3");

  private final Simulation simulation;
  private final Random random;

  LawChanges(Simulation simulation) {
    this.simulation = simulation;
    this.random = new Random(simulation.profile().seed() * 0x9E3779B97F4A7C15L + 1);
  }

  void start() {
    RunProfile profile = simulation.profile();
    if (profile.hasPlacement()) {
      simulation.units().stream()
          .filter(unit -> unit.partition() == 0 && !unit.policy().replicas().isEmpty())
          .forEach(unit -> later(unit, !profile.follows(unit)));
    }
  }

  /**
   * Says something in a while.
   *
   * @param begun whether a keyspace that follows its load was told so
   */
  private void later(Unit unit, boolean begun) {
    int seconds = begun ? 1 + random.nextInt(ALTER_SECONDS_MAX * simulation.profile().pace()) : 1;
    simulation
        .scheduler()
        .in(
            seconds * SECOND,
            () -> {
              if (simulation.isLoading()) {
                boolean isDone = says(unit, begun ? drawn(unit) : adaptive(unit));
                later(unit, begun || isDone);
              }
            });
  }

  /** Within those that lose nothing: others may lose their memory all at once. */
  private Map<String, String> adaptive(Unit unit) {
    String least = unit.policy().replicas().size() == 1 ? "1" : "auto";
    String allow = String.join(",", simulation.holders().keeping());
    return Map.of("placement", "adaptive", "allow", allow, "holders-min", least);
  }

  private Map<String, String> drawn(Unit unit) {
    boolean follows = simulation.profile().follows(unit);
    String some =
        String.join(",", simulation.names().stream().filter(n -> random.nextBoolean()).toList());
    return switch (random.nextInt(4)) {
      case 0 -> Map.of("holders-min", LEAST.get(random.nextInt(LEAST.size())));
      case 1 -> Map.of("deny", random.nextBoolean() ? "" : simulation.anyDc(random));
      case 2 ->
          follows
              ? Map.of("placement", random.nextInt(3) == 0 ? "pinned" : "adaptive")
              : Map.of("allow", random.nextBoolean() ? "" : some);
      default -> Map.of("deny", "", "holders-min", "1");
    };
  }

  /** Whether it was not refused. */
  private boolean says(Unit unit, Map<String, String> settings) {
    SimDc at = simulation.dc(simulation.anyDc(random));
    String keyspace = unit.policy().name();
    if (!at.isUp()) {
      return false;
    }
    try {
      simulation
          .holders()
          .laws()
          .alterLaws(at, keyspace, () -> at.control().alter(keyspace, new TreeMap<>(settings)));
      simulation.trace().note("%s is told that of %s %s", at.self(), keyspace, settings);
      return true;
    } catch (OsierException e) {
      simulation.trace().note("%s refuses of %s %s: %s", at.self(), keyspace, settings, e);
      return false;
    }
  }
}
