package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Which failures of a load leave open whether its update was done. */
final class FailuresTest {
  @Test
  void error_thatAnswersTheUpdate_saysThatItWasNotDone() {
    OsierException refused = new OsierException(ErrorCode.OVERLOADED, "a queue is full");
    assertThat(WriterLoad.mayBeDone(refused)).isFalse();
    assertThat(WriterLoad.mayBeDone(new CompletionException(refused))).isFalse();
  }

  @Test
  void anythingElse_leavesItOpen() {
    assertThat(WriterLoad.mayBeDone(new IllegalStateException("no answer"))).isTrue();
    assertThat(
            WriterLoad.mayBeDone(new CompletionException(new IllegalStateException("no answer"))))
        .isTrue();
  }
}
