package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.testing.EachConsistency;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datacenters at rest send each other few statuses, and notice everything in time. */
final class QuiescenceTest {
  private static final int LINKS = 6;

  private final Script script = new Script();

  private void rest(String consistency) {
    script.run("start " + consistency + " ap eu us");
    script.run("eu add x 1");
    script.run("run 10000");
    script.statuses();
  }

  @EachConsistency
  void atRest_statusesComeEveryTwoSeconds(String consistency) {
    rest(consistency);
    script.run("run 20000");
    assertThat(script.statuses()).isEqualTo(10 * LINKS);
  }

  /** So the statuses of all partitions leave together, whenever each of them came to rest. */
  @ParameterizedTest
  @ValueSource(ints = {0, 130, 1_270})
  void atRest_statusesComeAtTheSameTimes_wheneverTheRestBegan(int later) {
    rest("session");
    script.run("run " + later);
    script.run("eu add x 2");
    script.run("run " + (10_000 - later));
    script.statuses();
    script.run("run 1998");
    assertThat(script.statuses()).isZero();
    script.run("run 2");
    assertThat(script.statuses()).isEqualTo(LINKS);
  }

  @EachConsistency
  void afterAnUpdate_statusesComeAsBefore_andThenMoreSeldomAgain(String consistency) {
    rest(consistency);
    script.run("eu add x 2");
    script.run("run 4000");
    // At once or 0.2 s later, and after 0.5, 1 and 2 s; each perhaps once more before the rest.
    assertThat(script.statuses()).isBetween(3 * LINKS, 6 * LINKS);
    assertThat(script.shipped("eu")).isEqualTo(2);
  }

  /** A datacenter that holds an update for a round, or lacks one, is not at rest, and says so. */
  @EachConsistency
  void heldUpdate_endsTheRestOfAll(String consistency) {
    rest(consistency);
    script.run("eu hold x 2");
    script.run("run 1000");
    assertThat(script.statuses()).isGreaterThanOrEqualTo(2 * LINKS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ap", "us"})
  void lostStatus_isMadeGood_beforeTheLongestPauseIsOver(String dc) {
    rest("session");
    script.loseStatus(dc, "eu");
    script.run("eu add x 2");
    script.run("run 400");
    assertThat(script.shipped("eu")).as("its status was lost").isEqualTo(1);
    script.run("run 1600");
    assertThat(script.shipped("eu")).isEqualTo(2);
  }

  /** While nothing is missing, silence has no effect; from then on the usual time counts. */
  @EachConsistency
  void whoFallsSilentAtRest_isRepairedAsSoonAsOneThatWasBusy(String consistency) {
    rest(consistency);
    script.run("mute eu us");
    script.run("run 1900"); // as long as eu may rest
    script.run("eu add x 2");
    // 0.2 s until ap has reported, 2 s of patience, 0.5 s until the next check
    String came = script.run("run 2800");
    assertThat(came).contains("us>ap  heal eu").containsPattern("us +shows .x=1 2");
  }

  @EachConsistency
  void afterARest_nothingIsLate_andNobodyIsHealed(String consistency) {
    rest(consistency);
    for (int i = 0; i < 20; i++) {
      assertThat(script.run("run " + (2_000 + 130 * i))).doesNotContain("heal", "fetch");
      assertThat(script.run("us add y " + i)).doesNotContain("heal", "fetch");
      assertThat(script.run("run 70")).doesNotContain("heal", "fetch");
      assertThat(script.run("ap add y " + i)).doesNotContain("heal", "fetch");
    }
    assertThat(script.late("eu").outage()).isZero();
    assertThat(script.late("eu").violations()).isZero();
  }

  /**
   * Acknowledgements are signs of life: us, which is not at rest while eu is away, must not count
   * ap, which is at rest, as silent. Its statuses do not come at exactly equal times.
   */
  @Test
  void statusOfWhoIsNotAtRest_isAnsweredByWhoIs() {
    rest("session");
    script.links.uneven("us>ap");
    script.run("cut eu us");
    script.run("run 5000");
    int before = script.acks("ap", "us");
    script.run("run 5000");
    assertThat(script.acks("ap", "us") - before).isEqualTo(10);
  }
}
