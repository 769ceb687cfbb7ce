package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.Heard;
import org.junit.jupiter.api.Test;

/** How long a datacenter that has just started waits for the others' word. */
final class FirstWordTest {
  private static final long START = 7_000_000_000L;
  private final FirstWord word = new FirstWord(START);

  private boolean knows(Heard from, long afterNanos) {
    return word.knows(from, START + afterNanos);
  }

  @Test
  void whoHasHeardAll_waitsNoLonger() {
    assertThat(knows(Heard.NOBODY, 0)).isFalse();
    assertThat(knows(Heard.ALL, 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  /** The one that was heard may have just started itself. */
  @Test
  void whoHasHeardOne_waitsForTheOthersHalfTheTime() {
    assertThat(knows(Heard.SOME, FirstWord.WAIT_FOR_MORE_NANOS - 1)).isFalse();
    assertThat(knows(Heard.SOME, FirstWord.WAIT_FOR_MORE_NANOS)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  @Test
  void whoHearsNobody_goesOnWhenTheTimeIsOver_andIsAloneUntilItHearsOne() {
    assertThat(knows(Heard.NOBODY, FirstWord.WAIT_NANOS - 1)).isFalse();
    assertThat(word.isAlone()).isFalse();
    assertThat(knows(Heard.NOBODY, FirstWord.WAIT_NANOS)).isTrue();
    assertThat(word.isAlone()).isTrue();
    assertThat(knows(Heard.SOME, FirstWord.WAIT_NANOS + 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }

  @Test
  void whoKnows_doesNotWaitAgain_whateverIsComparedAnew() {
    assertThat(knows(Heard.ALL, 0)).isTrue();
    assertThat(knows(Heard.NOBODY, 1)).isTrue();
    assertThat(word.isAlone()).isFalse();
  }
}
