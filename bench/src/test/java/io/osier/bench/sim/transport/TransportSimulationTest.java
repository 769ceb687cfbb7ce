package io.osier.bench.sim.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.world.Violation;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The transport simulation finds nothing, and finds each sabotage that it is there for. */
final class TransportSimulationTest {
  private static final int SEEDS = 100;

  /**
   * A sabotage is tried with seeds from this one on. Each seed draws what connections do, and few
   * draw what shows the sabotage; behind this one such a seed comes soon.
   */
  private static final int FIRST = 35;

  private static final int SEEDS_MAX = 240;

  /** `osier sim --transport` runs many more seeds than these. */
  @Test
  void seeds_findNothing_andCarrySomething() {
    long refused = 0;
    long together = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      TransportSimulation run = new TransportSimulation(seed, Sabotage.NONE);
      assertThat(violation(run)).as("seed %d", seed).isEmpty();
      assertThat(run.carried()).as("seed %d", seed).isPositive();
      refused += run.refused();
      together += run.carriedTogether();
    }
    assertThat(refused).as("strangers were told so").isPositive();
    assertThat(together).as("compressed blocks of several frames were read").isGreaterThan(1_000);
  }

  @Test
  void oneSeed_isOneRun() {
    for (long seed = 1; seed <= 10; seed++) {
      TransportSimulation first = new TransportSimulation(seed, Sabotage.NONE);
      first.run();
      TransportSimulation second = new TransportSimulation(seed, Sabotage.NONE);
      second.run();
      assertThat(second.toString()).as("seed %d", seed).isEqualTo(first.toString());
    }
  }

  static Stream<Arguments> sabotages() {
    return Stream.of(
        arguments(
            "what was lost is told as refused",
            "was not sent, and it has come|has not asked there",
            supplier(TransportSabotages::denying)),
        arguments(
            "answers are taken for those of the next connection",
            "and the answer was",
            supplier(TransportSabotages::confusing)),
        arguments(
            "clients do not hear that they are heard",
            "gives up the connection",
            supplier(TransportSabotages::unheard)),
        arguments(
            "signs of life are swallowed",
            "gives up the connection",
            supplier(TransportSabotages::mute)),
        arguments(
            "who does not log in is let in",
            "has not logged in",
            supplier(TransportSabotages::trusting)),
        arguments(
            "a wrong password is taken",
            "has not logged in",
            supplier(TransportSabotages::gullible)),
        arguments(
            "what is large is never decoded",
            "has never come|was sent",
            supplier(TransportSabotages::deaf)));
  }

  private static Supplier<Sabotage> supplier(Supplier<Sabotage> makes) {
    return makes;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("sabotages")
  void sabotage_isNoticed(String name, String says, Supplier<Sabotage> makes) {
    for (long seed = FIRST; seed < FIRST + SEEDS_MAX; seed++) {
      Optional<Violation> noticed = violation(new TransportSimulation(seed, makes.get()));
      if (noticed.isPresent()) {
        assertThat(noticed.get()).hasMessageMatching("(?s).*(" + says + ").*");
        return;
      }
    }
    throw new AssertionError(name + ": nothing was noticed in " + SEEDS_MAX + " seeds");
  }

  private static Optional<Violation> violation(TransportSimulation run) {
    try {
      run.run();
      return Optional.empty();
    } catch (Violation e) {
      return Optional.of(e);
    }
  }
}
