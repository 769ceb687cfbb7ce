package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.testing.EachConsistency;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The clearing of a large set is a state without content, and ships as one. */
final class ClearedSetTest {
  private final Script script = new Script();

  private String run(String... commands) {
    return script.runAll(commands);
  }

  @EachConsistency
  void isShown_withoutItsElements(String consistency) {
    run("start " + consistency + " eu us", "run 1000", "eu add k a b", "us add k c", "run 1000");
    assertThat(run("eu clear k", "run 1000")).contains("[k whole", "us     shows {k=}");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }

  @EachConsistency
  void whatWasAddedAtTheSameTime_stays(String consistency) {
    run("start " + consistency + " eu us", "run 1000", "eu add k a b", "run 1000");
    run("us add k c", "eu clear k", "eu add k d", "run 1000");
    assertThat(run("us add k e", "run 1000")).contains("eu     shows {k=c d e}");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }

  /**
   * An update is held for a round, so the cut ends before it. The set's state at the time when the
   * clearing leaves includes a part of a transaction that lies behind the cut's end.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void inACausalKeyspace_showsNothingThatLiesBehindTheCut(boolean isHeld) {
    run("start causal eu us", "run 1000", "eu add k a b", "run 1000");
    String told =
        run(
            "untold eu clear k",
            "untold eu " + (isHeld ? "hold" : "add") + " h x",
            "eu both k m z",
            "run 5000");
    assertThat(told).doesNotContain("shows {k=z}").contains("m=z");
    if (isHeld) {
      assertThat(told).contains("us     shows {k=}");
    }
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }
}
