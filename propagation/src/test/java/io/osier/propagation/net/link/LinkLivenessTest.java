package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.net.link.LinkLiveness.Due;
import org.junit.jupiter.api.Test;

/** An end that sends signs every 10, for which the other end is dead after 50. */
final class LinkLivenessTest {
  private static LinkLiveness liveness(boolean asks) {
    return new LinkLiveness(10, 50, asks, 0);
  }

  @Test
  void asking_givesASignEveryInterval_onceGreeted() {
    LinkLiveness asking = liveness(true);
    assertThat(asking.due(20)).isEqualTo(Due.NOTHING);
    asking.greeted(20);
    assertThat(asking.due(29)).isEqualTo(Due.NOTHING);
    assertThat(asking.due(30)).isEqualTo(Due.SIGN);
    assertThat(asking.due(31)).isEqualTo(Due.NOTHING);
    assertThat(asking.due(40)).isEqualTo(Due.SIGN);
  }

  @Test
  void asking_isNotNeeded_whereSomethingWasWritten() {
    LinkLiveness asking = liveness(true);
    asking.greeted(0);
    asking.written(9);
    assertThat(asking.due(18)).isEqualTo(Due.NOTHING);
    assertThat(asking.dueNanos()).isEqualTo(19);
    assertThat(asking.due(19)).isEqualTo(Due.SIGN);
  }

  @Test
  void answering_givesASign_onlyWhereBytesCame() {
    LinkLiveness answering = liveness(false);
    answering.greeted(0);
    assertThat(answering.due(10)).isEqualTo(Due.NOTHING);
    assertThat(answering.dueNanos()).isEqualTo(50);
    answering.heard(11);
    assertThat(answering.due(11)).as("at once").isEqualTo(Due.SIGN);
    assertThat(answering.due(30)).isEqualTo(Due.NOTHING);
    answering.heard(31);
    answering.written(31); // the answer to a ping
    assertThat(answering.due(45)).isEqualTo(Due.NOTHING);
  }

  @Test
  void answering_waitsForTheIntervalsEnd_afterAnAnswer() {
    LinkLiveness answering = liveness(false);
    answering.greeted(0);
    answering.heard(4);
    assertThat(answering.due(9)).isEqualTo(Due.NOTHING);
    assertThat(answering.dueNanos()).isEqualTo(10);
    assertThat(answering.due(10)).isEqualTo(Due.SIGN);
    answering.heard(11);
    answering.heard(15);
    assertThat(answering.due(15)).as("half an interval later").isEqualTo(Due.SIGN);
  }

  @Test
  void silence_isDeath_andAnyByteIsLife_alsoBeforeTheGreeting() {
    LinkLiveness liveness = liveness(false);
    assertThat(liveness.due(49)).isEqualTo(Due.NOTHING);
    liveness.heard(49);
    assertThat(liveness.due(98)).isEqualTo(Due.NOTHING);
    assertThat(liveness.due(99)).isEqualTo(Due.DEAD);
  }

  @Test
  void whoWorksOnWhatHasCome_saysSo_andGivesNobodyUp() {
    LinkLiveness liveness = liveness(false);
    liveness.greeted(0);
    liveness.busy(true, 10);
    assertThat(liveness.due(100)).isEqualTo(Due.SIGN);
    assertThat(liveness.due(110)).isEqualTo(Due.SIGN);
    liveness.busy(false, 115);
    assertThat(liveness.due(164)).isEqualTo(Due.NOTHING);
    assertThat(liveness.due(165)).isEqualTo(Due.DEAD);
  }

  @Test
  void due_isTheSignOrTheDeath_whicheverComesFirst() {
    LinkLiveness liveness = liveness(true);
    // before the greeting, only the dead interval counts
    assertThat(liveness.dueNanos()).isEqualTo(50);
    liveness.heard(7);
    assertThat(liveness.dueNanos()).isEqualTo(57);
    liveness.greeted(8);
    assertThat(liveness.dueNanos()).isEqualTo(18);
    for (long now = 18; now < 57; now += 10) {
      assertThat(liveness.due(now)).isEqualTo(Due.SIGN);
    }
    assertThat(liveness.dueNanos()).isEqualTo(57); // and not 58, when the next sign would be due
    liveness.busy(true, 55);
    assertThat(liveness.dueNanos()).isEqualTo(58);
  }

  @Test
  void whoIsBusyAndNotGreeted_hasNothingToDo() {
    LinkLiveness liveness = liveness(false);
    liveness.busy(true, 1);
    assertThat(liveness.dueNanos()).isEqualTo(Long.MAX_VALUE);
  }
}
