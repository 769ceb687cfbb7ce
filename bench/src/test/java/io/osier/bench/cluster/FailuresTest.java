package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Which failures of a load leave open whether its update was done. */
final class FailuresTest {
  private final Failures failures = new Failures();

  @Test
  void error_thatAnswersTheUpdate_saysThatItWasNotDone() {
    OsierException refused = new OsierException(ErrorCode.OVERLOADED, "a queue is full");
    assertThat(failures.add(refused)).isFalse();
    assertThat(failures.add(new CompletionException(refused))).isFalse();
    assertThat(failures.count()).isEqualTo(2);
  }

  @Test
  void anythingElse_leavesItOpen() {
    assertThat(failures.add(new IllegalStateException("no answer"))).isTrue();
    assertThat(failures.add(new CompletionException(new IllegalStateException("no answer"))))
        .isTrue();
    assertThat(failures.count()).isEqualTo(2);
  }
}
