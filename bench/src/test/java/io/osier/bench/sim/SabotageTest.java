package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.osier.bench.sim.check.SessionCheckTest;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.world.Violation;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulator notices each fault that it is there for, from the fault to the message. That each
 * check can fail is seen in milliseconds in tests of its own ({@link SessionCheckTest} and others,
 * {@link SimEndTest}); here it is seen that a whole run asks it. So {@link #ALWAYS ten} sabotages
 * suffice in every build, and all of them run
 *
 * <ul>
 *   <li>with {@code -Dosier.sabotage.all=true}, at their pinned seeds ({@link SabotageSeeds});
 *   <li>with {@code -Dosier.sabotage.from=N}, from seed N on, whatever is pinned, until one of 240
 *       seeds notices it. What is found is in {@code target/sabotage-seeds.txt} then: with N = 1
 *       and where behaviour has changed on purpose it takes the place of the resource.
 * </ul>
 *
 * <p>{@link SabotageCostTest} measures how soon each is noticed.
 */
final class SabotageTest {
  /** What a seed draws changes with each new fault: the first that sees it may be a later one. */
  private static final int SEEDS_MAX = 240;

  /**
   * Those that run always: of each check that looks on while a run goes on, and is called from many
   * places, the one that is noticed with the least processor time, a third of a second or so.
   */
  private static final Set<String> ALWAYS =
      Set.of(
          "frames are late, and the streams do not know", // SlaCheck
          "sessions do not say what they have seen", // SessionCheck
          "updates do not say what they need", // CausalOrderCheck
          "a client forgets a condition", // ConditionCheck
          "a forwarded request does not say what was seen", // SimForwarding
          "a scan leaves out its first objects", // TransactionCheck
          "groups are confirmed before they are written", // WitnessedMachine
          "watchers are not told of a change", // SimWatcher
          "what is not told of a copy counts as told", // CopyCheck
          "what has expired is not hidden"); // SimMortals

  private static final boolean ALL =
      Boolean.getBoolean("osier.sabotage.all") || SabotageSeeds.FROM.isPresent();

  static Stream<Arguments> sabotages() {
    return Stream.of(
        arguments(
            "a remote update is journalled and not stored",
            "records",
            supplier(DatacenterSabotages::forgetful)),
        arguments(
            "a store gives a former state", "the store of", supplier(DatacenterSabotages::stale)),
        arguments(
            "frames are late, and the streams do not know",
            "not visible at",
            supplier(LinkSabotages::late)),
        arguments(
            "sessions do not say what they have seen",
            "the session knew",
            supplier(ClientSabotages::silent)),
        arguments(
            "groups are confirmed before they are written",
            "are durable",
            supplier(DatacenterSabotages::hasty)),
        arguments(
            "a cold write is overtaken",
            "which it had sent before",
            supplier(DatacenterSabotages::overtaking)),
        arguments(
            "a command is carried out twice",
            "counts|shows|cannot be",
            supplier(DatacenterSabotages::twice)),
        arguments(
            "commits are sent again unmarked",
            "the counter is|never committed",
            supplier(ClientSabotages::unmarked)),
        arguments(
            "a repeat's refusal is believed",
            "never committed|_FORGOTTEN",
            supplier(ClientSabotages::believing)),
        arguments(
            "a lost answer is taken for a failure",
            "its caller is told|was done at",
            supplier(ClientSabotages::mistaking)),
        arguments(
            "what has no answer is sent again",
            "is (done|committed as)|was done 2",
            supplier(ClientSabotages::repeating)),
        arguments(
            "a client forgets what its session saw",
            "session (knew|read)",
            supplier(ClientSabotages::amnesiac)),
        arguments(
            "a client's repeats are unmarked",
            "is committed as|the counter is",
            supplier(ClientSabotages::plain)),
        arguments(
            "a closed client says nothing", "has no outcome", supplier(ClientSabotages::taciturn)),
        arguments(
            "updates do not say what they need",
            "without all that it had seen",
            supplier(LinkSabotages::needless)),
        arguments(
            "a window is not given back",
            "the window of .* counts",
            supplier(LinkSabotages::keeping)),
        arguments(
            "what is under way has no bound",
            "sends .* more with",
            supplier(LinkSabotages::boundless)),
        arguments(
            "a partition's acknowledgements are lost",
            "was acknowledged for",
            supplier(LinkSabotages::starving)),
        arguments(
            "what others claim to have never comes",
            "could have caught up",
            supplier(LinkSabotages::boasting)),
        arguments(
            "nobody lets a partition absorb first",
            "the session knew",
            supplier(DatacenterSabotages::hurried)),
        arguments(
            "an update answers with what was before it",
            "the session knew",
            supplier(ClientSabotages::reversing)),
        arguments(
            "a client forgets a condition",
            "condition did not hold",
            supplier(ClientSabotages::unconditional)),
        arguments(
            "a condition is judged too early",
            "condition did not hold",
            supplier(DatacenterSabotages::judging)),
        arguments(
            "existence is asked of another type",
            "does not exist",
            supplier(ClientSabotages::straying)),
        arguments(
            "a batch does not say what was seen",
            "the session knew",
            supplier(ClientSabotages::vague)),
        arguments(
            "a scan leaves out its first objects",
            "transaction",
            supplier(ClientSabotages::skipping)),
        arguments(
            "what was acknowledged in front is lost",
            "and its partition gets",
            supplier(DatacenterSabotages::dropping)),
        arguments(
            "watchers are not told of a change",
            "was not told of a change",
            supplier(DatacenterSabotages::concealing)),
        arguments(
            "everybody takes over the same rights",
            "leaves its bounds",
            supplier(DatacenterSabotages::greedy)),
        arguments(
            "what has expired is not hidden",
            "was gone there|expired there",
            supplier(DatacenterSabotages::showing)),
        arguments(
            "nobody waits for what was prolonged",
            "what was prolonged",
            supplier(LinkSabotages::impatient)),
        arguments(
            "a removal does not say what it removes",
            "gone|differs|holds|was not told",
            supplier(LinkSabotages::careless)),
        arguments(
            "answers count without what they offer",
            "without all that it had seen|which it had seen|session|was not told of|differs",
            supplier(LinkSabotages::rash)),
        arguments(
            "what the absent miss has no bound",
            "memory of (trails|relays)",
            supplier(DatacenterSabotages::hoarding)),
        arguments(
            "a program is done in two turns",
            "a part of program|counts .* programs",
            supplier(DatacenterSabotages::halving)),
        arguments(
            "a program's guard is forgotten",
            "an update is lost",
            supplier(DatacenterSabotages::unguarded)),
        arguments(
            "a forwarded request does not say what was seen",
            "the session knew",
            supplier(ForwardingSabotages::oblivious)),
        arguments(
            "a keyspace of others is taken for an empty one",
            "the session knew",
            supplier(ForwardingSabotages::inventing)),
        arguments(
            "who forwards says that all is lost",
            "saw what was lost|follow what was lost",
            supplier(ForwardingSabotages::alarming)),
        arguments(
            "who is added forgets what it forwarded",
            "the session knew",
            supplier(ForwardingSabotages::forgetful)),
        arguments(
            "a forwarded update is sent twice",
            "is done|counts|shows|was done 2",
            supplier(ForwardingSabotages::insisting)),
        arguments(
            "a holder goes before the others have what it had",
            "session (knew|read)|counts|shows|differs|lost sight|never committed|has rights",
            supplier(HolderSabotages::hasty)),
        arguments(
            "a holder serves on when it has ceased",
            "session (knew|read)|counts|shows|differs|lost sight|never committed|SESSION_LOST",
            supplier(HolderSabotages::lingering)),
        arguments(
            "a holder that goes keeps its rights",
            "which holds nothing, has rights",
            supplier(HolderSabotages::miserly)),
        arguments(
            "a move leaves fewer than holders-min",
            "although at least",
            supplier(HolderSabotages::sparse)),
        arguments(
            "a law is not read",
            "may not hold it|takes a law that",
            supplier(HolderSabotages::lawless)),
        arguments(
            "holders are moved while one is out of reach",
            "is out of reach",
            supplier(HolderSabotages::blind)),
        arguments(
            "a key of another home is taken",
            "of another home",
            supplier(HolderSabotages::homeless)),
        arguments(
            "a copy answers what is older than the session",
            "the session knew",
            supplier(CopySabotages::aging)),
        arguments(
            "a copy outlives its subscription",
            "whose subscription has ended",
            supplier(CopySabotages::outliving)),
        arguments(
            "a copy takes what a former one is told",
            "the session knew|was shown there before",
            supplier(CopySabotages::confusing)),
        arguments(
            "what is not told of a copy counts as told",
            "the session knew|was shown there before",
            supplier(CopySabotages::boasting)),
        arguments(
            "a copy says that it is younger than it is",
            "that says it is",
            supplier(CopySabotages::flattering)));
  }

  static Stream<Arguments> chosen() {
    return sabotages().filter(of -> ALL || ALWAYS.contains((String) of.get()[0]));
  }

  private static Supplier<Sabotage> supplier(Supplier<Sabotage> makes) {
    return makes;
  }

  /** So that no name above is of a sabotage that is called otherwise by now. */
  @Test
  void chosen_areTen_orAll() {
    assertThat(chosen().count()).isEqualTo(ALL ? sabotages().count() : ALWAYS.size());
    assertThat(ALWAYS).hasSize(10);
  }

  /**
   * The pinned seed finds it at once. What a seed draws changes with each new fault, so where the
   * pinned one finds nothing any more, others are tried, and the new pin is printed.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("chosen")
  void sabotage_isNoticed(String name, String says, Supplier<Sabotage> makes) throws IOException {
    OptionalLong pinned = SabotageSeeds.pinned(name);
    if (pinned.isPresent() && isNoticed(says, makes, pinned.getAsLong())) {
      return;
    }
    long first = SabotageSeeds.FROM.orElse(1);
    for (long seed = first; seed < first + SEEDS_MAX; seed++) {
      if (isNoticed(says, makes, seed)) {
        SabotageSeeds.pin(name, seed);
        return;
      }
    }
    throw new AssertionError(
        "nothing was noticed in seeds %d..%d".formatted(first, first + SEEDS_MAX - 1));
  }

  private static boolean isNoticed(String says, Supplier<Sabotage> makes, long seed) {
    Sabotage sabotage = makes.get();
    Optional<Violation> noticed = violation(sabotage, sabotage, seed);
    boolean matches =
        noticed
            .filter(v -> String.valueOf(v.getMessage()).matches("(?s).*(" + says + ").*"))
            .isPresent();
    // What happens without the sabotage as well is not its work.
    if (noticed.isEmpty()
        || (!matches && violation(sabotage, nothing(sabotage.features()), seed).isPresent())) {
      return false;
    }
    assertThat(noticed.get()).as("seed %s", seed).hasMessageMatching("(?s).*(" + says + ").*");
    return true;
  }

  /** Spoils nothing, but where the same takes part. */
  private static Sabotage nothing(Set<Feature> features) {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return features;
      }
    };
  }

  /** What is noticed where a sabotage has the faults and the time that it needs. */
  private static Optional<Violation> violation(Sabotage needs, Sabotage sabotage, long seed) {
    try {
      run(needs, sabotage, seed);
      return Optional.empty();
    } catch (Violation e) {
      return Optional.of(e);
    }
  }

  /** Runs a seed with the faults and the time that a sabotage needs. Throws what is noticed. */
  static void run(Sabotage needs, Sabotage sabotage, long seed) {
    SimRun.run(
        new Simulation(new SimOptions(3, needs.needs(), needs.seconds(), false, sabotage), seed));
  }
}
