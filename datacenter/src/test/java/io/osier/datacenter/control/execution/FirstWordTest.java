package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.PeersHeard;
import org.junit.jupiter.api.Test;

/** How long a datacenter that has just started waits for the others' word. */
final class FirstWordTest {
  private static final long START = 7_000_000_000L;
  private final FirstWord word = new FirstWord(START, FirstWord.WAIT_NANOS);

  private boolean knows(PeersHeard from, long afterNanos) {
    return word.knows(from, false, START + afterNanos);
  }

  private boolean isHeld(long afterNanos) {
    return !word.knows(PeersHeard.NOBODY, true, START + afterNanos);
  }

  @Test
  void whoHasHeardAll_waitsNoLonger() {
    assertThat(knows(PeersHeard.NOBODY, 0)).isFalse();
    assertThat(knows(PeersHeard.ALL, 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  /** The one that was heard may have just started itself. */
  @Test
  void whoHasHeardOne_waitsForTheOthersHalfTheTime() {
    assertThat(knows(PeersHeard.SOME, FirstWord.WAIT_NANOS / 2 - 1)).isFalse();
    assertThat(knows(PeersHeard.SOME, FirstWord.WAIT_NANOS / 2)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  @Test
  void whoHearsNobody_goesOnWhenTheTimeIsOver_andIsAloneUntilItHearsOne() {
    assertThat(knows(PeersHeard.NOBODY, FirstWord.WAIT_NANOS - 1)).isFalse();
    assertThat(word.isAlone()).isFalse();
    assertThat(knows(PeersHeard.NOBODY, FirstWord.WAIT_NANOS)).isTrue();
    assertThat(word.isAlone()).isTrue();
    assertThat(knows(PeersHeard.SOME, FirstWord.WAIT_NANOS + 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  /** As long as a connection of its former life may linger there, and no longer. */
  @Test
  void whatIsThere_isWaitedFor_whileItIsHeld() {
    assertThat(word.awaits(false, START)).isFalse();
    assertThat(word.awaits(true, START)).isTrue();
    assertThat(word.awaits(true, START + FirstWord.DEAD_NANOS - 1)).isTrue();
    assertThat(word.awaits(true, START + FirstWord.DEAD_NANOS)).isFalse();
  }

  /** A connection of its former life lingers there. */
  @Test
  void whoIsHeld_waitsUntilItWasLetIn_andThenForTheOthersWord() {
    long letIn = FirstWord.WAIT_NANOS + 1_000_000_000L;
    assertThat(isHeld(10)).isTrue();
    assertThat(isHeld(letIn)).isTrue();
    assertThat(knows(PeersHeard.NOBODY, letIn + 1)).isFalse();
    assertThat(knows(PeersHeard.ALL, letIn + 2)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  @Test
  void whoIsHeld_andHearsNothingWhenItIsLetIn_waitsAsLongAsAtTheStart() {
    assertThat(isHeld(1_000_000_000L)).isTrue();
    assertThat(knows(PeersHeard.NOBODY, 1_000_000_000L + FirstWord.WAIT_NANOS - 1)).isFalse();
    assertThat(knows(PeersHeard.NOBODY, 1_000_000_000L + FirstWord.WAIT_NANOS)).isTrue();
  }

  @Test
  void whoIsHeldAgainAndAgain_goesOn_whenAnyFormerLifeWouldHaveEnded() {
    for (long after = 0;
        after < FirstWord.WAIT_NANOS + FirstWord.DEAD_NANOS;
        after += 100_000_000) {
      assertThat(isHeld(after)).isTrue();
    }
    assertThat(isHeld(FirstWord.WAIT_NANOS + FirstWord.DEAD_NANOS)).isFalse();
    assertThat(word.isAlone()).isTrue();
  }

  @Test
  void whoKnows_doesNotWaitAgain_whateverIsComparedAnew() {
    assertThat(knows(PeersHeard.ALL, 0)).isTrue();
    assertThat(knows(PeersHeard.NOBODY, 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }
}
