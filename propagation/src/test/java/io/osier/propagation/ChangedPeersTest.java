package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.StreamSettings;
import io.osier.testing.EachConsistency;
import java.util.List;

/** Changes of a partition's peers while it serves. */
final class ChangedPeersTest {
  private final Script script = new Script();

  private String run(String... commands) {
    return script.runAll(commands);
  }

  /** Simulator seeds 91 and 94: the partition failed. No other datacenter may have the update. */
  @EachConsistency
  void whatHasComeOfOneThatIsGivenUp_andWaits_isShownWithWhatItWaitsFor(String kind) {
    run("start " + kind + " ap eu us", "run 1000", "cut ap us", "ap add k x", "run 100");
    assertThat(run("eu add k y", "run 100")).doesNotContain("us     shows");
    run("us peers ap", "ap peers us", "run 100");
    assertThat(run("join ap us", "run 3000")).contains("us     shows {k=x y}");
  }

  @EachConsistency
  void oneThatIsNew_isGivenAll_alsoWhatWasEverywhere(String kind) {
    run("start " + kind + " ap eu us", "run 1000");
    run("ap peers eu", "eu peers ap", "us peers", "run 100");
    run("ap add k x", "eu add l y", "run 3000");
    run("ap peers eu us", "eu peers ap us", "us peers ap eu");
    run("join ap us", "join eu us", "run 3000");
    assertThat(run("us add k z", "run 1000"))
        .contains("ap     shows {k=x z}", "eu     shows {k=x z}");
    assertThat(run("ap add l w", "run 1000")).contains("us     shows {l=w y}");
  }

  /** Each datacenter gets the updates of a given-up one that any other has. */
  @EachConsistency
  void whatOneHasOfOneThatIsGivenUp_comesToTheOthers(String kind) {
    run("start " + kind + " ap eu us", "run 1000", "cut eu us", "eu add k x", "run 100");
    run("ap peers us", "us peers ap");
    assertThat(run("run 5000")).contains("us     shows {k=x}");
  }

  /** The peer may have its old store, and with it its place in the stream. */
  @EachConsistency
  void oneThatIsAddedAgain_isGivenWhatWasCommittedForNobodyMeanwhile(String kind) {
    run("start " + kind + " ap eu", "ap add k x", "run 1000", "cut ap eu", "ap peers");
    run("ap add k y", "ap add l z", "run 1000", "ap peers eu");
    assertThat(run("join ap eu", "run 3000")).contains("eu     shows", "k=x y", "l=z");
  }

  /** The received part of its open cut was dropped when it was removed. */
  @EachConsistency
  void oneThatIsAddedAgain_givesOnceMoreWhatHadBegunToCome(String kind) {
    Script narrow = new Script(new StreamSettings(1 << 10, 1 << 10, 1_000, 200, 3_600_000, 10_000));
    narrow.run("start " + kind + " ap eu us");
    for (String command : List.of("run 1000", "cut eu us", "cut ap eu")) {
      narrow.run(command);
    }
    for (int i = 0; i < 100; i++) {
      narrow.run("eu add s" + i + " x");
    }
    for (String command :
        List.of(
            "run 700000",
            "join eu us",
            "run 60",
            "us peers ap",
            "us peers ap eu",
            "cut eu us",
            "join eu us",
            "run 10000")) {
      narrow.run(command);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(narrow.state("us", "s" + i)).isEqualTo(narrow.state("eu", "s" + i));
    }
  }
}
