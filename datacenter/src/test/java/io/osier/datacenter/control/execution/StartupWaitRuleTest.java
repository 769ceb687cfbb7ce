package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.PeersHeard;
import org.junit.jupiter.api.Test;

/** How long a datacenter that has just started waits for the others' rule. */
final class StartupWaitRuleTest {
  private static final long START = 7_000_000_000L;
  private final StartupWaitRule rule = new StartupWaitRule(START, StartupWaitRule.WAIT_NANOS);

  private boolean isOver(PeersHeard from, long afterNanos) {
    return rule.isOver(from, false, START + afterNanos);
  }

  private boolean isHeld(long afterNanos) {
    return !rule.isOver(PeersHeard.NOBODY, true, START + afterNanos);
  }

  @Test
  void whoHasHeardAll_waitsNoLonger() {
    assertThat(isOver(PeersHeard.NOBODY, 0)).isFalse();
    assertThat(isOver(PeersHeard.ALL, 1)).isTrue();
    assertThat(rule.isAlone()).isFalse();
  }

  /** The one that was heard may have just started itself. */
  @Test
  void whoHasHeardOne_waitsForTheOthersHalfTheTime() {
    assertThat(isOver(PeersHeard.SOME, StartupWaitRule.WAIT_NANOS / 2 - 1)).isFalse();
    assertThat(isOver(PeersHeard.SOME, StartupWaitRule.WAIT_NANOS / 2)).isTrue();
    assertThat(rule.isAlone()).isFalse();
  }

  @Test
  void whoHearsNobody_goesOnWhenTheTimeIsOver_andIsAloneUntilItHearsOne() {
    assertThat(isOver(PeersHeard.NOBODY, StartupWaitRule.WAIT_NANOS - 1)).isFalse();
    assertThat(rule.isAlone()).isFalse();
    assertThat(isOver(PeersHeard.NOBODY, StartupWaitRule.WAIT_NANOS)).isTrue();
    assertThat(rule.isAlone()).isTrue();
    assertThat(isOver(PeersHeard.SOME, StartupWaitRule.WAIT_NANOS + 1)).isTrue();
    assertThat(rule.isAlone()).isFalse();
  }

  /** As long as a connection of its former life may linger there, and no longer. */
  @Test
  void whatIsThere_isWaitedFor_whileItIsHeld() {
    assertThat(rule.partitionsWait(false, START)).isFalse();
    assertThat(rule.partitionsWait(true, START)).isTrue();
    assertThat(rule.partitionsWait(true, START + StartupWaitRule.DEAD_NANOS - 1)).isTrue();
    assertThat(rule.partitionsWait(true, START + StartupWaitRule.DEAD_NANOS)).isFalse();
  }

  /** A connection of its former life lingers there. */
  @Test
  void whoIsHeld_waitsUntilItWasLetIn_andThenForTheOthersWord() {
    long letIn = StartupWaitRule.WAIT_NANOS + 1_000_000_000L;
    assertThat(isHeld(10)).isTrue();
    assertThat(isHeld(letIn)).isTrue();
    assertThat(isOver(PeersHeard.NOBODY, letIn + 1)).isFalse();
    assertThat(isOver(PeersHeard.ALL, letIn + 2)).isTrue();
    assertThat(rule.isAlone()).isFalse();
  }

  @Test
  void whoIsHeld_andHearsNothingWhenItIsLetIn_waitsAsLongAsAtTheStart() {
    assertThat(isHeld(1_000_000_000L)).isTrue();
    assertThat(isOver(PeersHeard.NOBODY, 1_000_000_000L + StartupWaitRule.WAIT_NANOS - 1))
        .isFalse();
    assertThat(isOver(PeersHeard.NOBODY, 1_000_000_000L + StartupWaitRule.WAIT_NANOS)).isTrue();
  }

  @Test
  void whoIsHeldAgainAndAgain_goesOn_whenAnyFormerLifeWouldHaveEnded() {
    for (long after = 0;
        after < StartupWaitRule.WAIT_NANOS + StartupWaitRule.DEAD_NANOS;
        after += 100_000_000) {
      assertThat(isHeld(after)).isTrue();
    }
    assertThat(isHeld(StartupWaitRule.WAIT_NANOS + StartupWaitRule.DEAD_NANOS)).isFalse();
    assertThat(rule.isAlone()).isTrue();
  }

  @Test
  void whoKnows_doesNotWaitAgain_whateverIsComparedAnew() {
    assertThat(isOver(PeersHeard.ALL, 0)).isTrue();
    assertThat(isOver(PeersHeard.NOBODY, 1)).isTrue();
    assertThat(rule.isAlone()).isFalse();
  }
}
