package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Request;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class SimulationTest {
  private static Simulation run(EnumSet<Fault> faults, Set<Feature> features, long seed) {
    Simulation simulation =
        new Simulation(new SimOptions(3, faults, features, 60, false, Sabotage.NONE), seed);
    SimRun.run(simulation);
    return simulation;
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void eachFault(Fault fault) {
    long times = 0;
    for (long seed = 1; seed <= 3; seed++) {
      Simulation simulation = new Simulation(new SimOptions(3, EnumSet.of(fault), 30), seed);
      SimRun.run(simulation);
      assertThat(new SimSummary(simulation).updates()).isPositive();
      times += simulation.happened().getOrDefault(fault, 0L);
    }
    assertThat(times).as("how often it happened").isPositive();
  }

  @Test
  void withoutFaults_everySlaIsChecked() {
    int seeds = 0;
    for (long seed = 1; seeds < 3; seed++) {
      EnumSet<Fault> none = EnumSet.noneOf(Fault.class);
      Simulation simulation = new Simulation(new SimOptions(4, none, 60), seed);
      if (!simulation.profile().has(Feature.HOLDERS)) { // else some are held by one alone
        seeds++;
        SimRun.run(simulation);
        assertThat(new SimSummary(simulation).slaChecked())
            .isGreaterThan(new SimSummary(simulation).updates() / 3);
      }
    }
  }

  @Test
  void oneSeed_isOneRun() {
    long first = hash(77);
    assertThat(hash(78)).isNotEqualTo(first);
    assertThat(hash(77)).as("whatever ran before it").isEqualTo(first);
  }

  private static long hash(long seed) {
    Simulation simulation = new Simulation(new SimOptions(3, EnumSet.allOf(Fault.class), 40), seed);
    SimRun.run(simulation);
    return simulation.trace().hash();
  }

  @Test
  void framesOfOneTime_shareACompressedBlock() {
    Simulation simulation = new Simulation(new SimOptions(3, EnumSet.noneOf(Fault.class), 60), 3);
    SimRun.run(simulation);
    // Some share one within a read, without gathering, too: 9 of this seed.
    assertThat(simulation.frames().inSharedBlocks()).isGreaterThan(20);
  }

  /** So that nobody looks at programs of which none was done, or none refused. */
  @Test
  void programs_areDoneAndRefused_andSeenAsAWhole() {
    for (long seed = 1; seed <= 2; seed++) {
      Simulation simulation = run(EnumSet.allOf(Fault.class), EnumSet.of(Feature.PROGRAMS), seed);
      for (Checks checks : simulation.checks()) {
        assertThat(checks.programs().done()).as("seed %d", seed).isPositive();
        assertThat(checks.programs().views()).as("seed %d", seed).isPositive();
        assertThat(checks.programs().takes().taken()).as("seed %d", seed).isPositive();
      }
      assertThat(simulation.checks().stream().mapToLong(c -> c.programs().refused()).sum())
          .as("seed %d", seed)
          .isPositive();
    }
  }

  /**
   * So that nobody looks at what is forwarded where nothing is, nor at holders that never change.
   */
  @Test
  void holders_areAdded_andOthersForward() {
    int[] forwarded = {0};
    Sabotage counting =
        new Sabotage() {
          @Override
          public Set<Feature> features() {
            return EnumSet.of(Feature.HOLDERS);
          }

          @Override
          public Request forwarded(Request request) {
            forwarded[0]++;
            return request;
          }
        };
    boolean isAdded = false;
    for (long seed = 6; !isAdded || forwarded[0] == 0; seed++) {
      assertThat(seed).as("no holder was added, or nothing forwarded").isLessThan(20);
      Simulation simulation =
          new Simulation(new SimOptions(3, EnumSet.allOf(Fault.class), 20, false, counting), seed);
      SimRun.run(simulation);
      isAdded |= simulation.holders().hasChanged();
    }
  }

  /** So that nobody looks at copies where there are none. */
  @Test
  void copies_answerReads_alikeInEachRun() {
    Set<Feature> features = EnumSet.of(Feature.HOLDERS, Feature.COPIES);
    SimOptions options =
        new SimOptions(3, EnumSet.noneOf(Fault.class), features, 20, false, Sabotage.NONE);
    Simulation simulation = new Simulation(options, 6);
    SimRun.run(simulation);
    assertThat(new SimSummary(simulation).copied()).isGreaterThan(50);
    Simulation again = new Simulation(options, 6);
    SimRun.run(again);
    assertThat(again.trace().hash()).isEqualTo(simulation.trace().hash());
  }

  /**
   * Where an application calls a datacenter in its own process, the client takes what is thrown for
   * a failure of its call.
   */
  @Test
  void whatIsViolated_endsTheRun_whoeverCalled() {
    for (long seed = 1; seed <= 20; seed++) {
      long used = seed;
      int[] left = {5 + (int) seed};
      assertThatThrownBy(() -> runViolating(used, left, false))
          .as("seed %s", seed)
          .hasMessage("the first");
      // What waits behind it in its lane has its turn all the same.
      assertThat(left[0]).as("seed %s ended at once", seed).isBetween(-9, 0);
    }
  }

  /**
   * In one seed of some fifty an update that waits behind the violated one has its turn before the
   * run ends: they are tried one after the other until there is one.
   *
   * @param updates which update is violated, and with it all that come after
   * @param first the seed that showed it last
   */
  @ParameterizedTest
  @CsvSource({"5, 102", "8, 331"})
  void whatIsViolatedFirst_isWhatTheRunFailsFor(int updates, long first) {
    int[] left = {updates};
    for (long seed = first; left[0] >= 0; seed++) {
      assertThat(seed).as("nothing ever came after it").isLessThan(1_500);
      left[0] = updates;
      long present = seed;
      assertThatThrownBy(() -> runViolating(present, left, true)).hasMessage("the first");
    }
  }

  /** Runs; of so many updates the last is violated, and if asked for all later ones, too. */
  private static void runViolating(long seed, int[] left, boolean goesOn) {
    Sabotage violating =
        new Sabotage() {
          @Override
          public CrdtState stored(
              ReplicaId at, ObjectId object, @Nullable CrdtState before, CrdtState after) {
            if (--left[0] == 0 || (goesOn && left[0] < 0)) {
              throw new Violation(object, left[0] == 0 ? "the first" : "a later one");
            }
            return after;
          }
        };
    SimRun.run(new Simulation(new SimOptions(3, Set.of(), 20, false, violating), seed));
  }
}
