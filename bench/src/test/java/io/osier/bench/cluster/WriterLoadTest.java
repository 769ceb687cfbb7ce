package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A load of which a part ends too early has not checked what it should. */
final class WriterLoadTest {
  private static final class Failing extends WriterLoad {
    Failing(CountDownLatch reached) {
      super(Set.of("k"), 1);
      start(
          List.of("eu"),
          dc -> OsierClient.builder().endpoint(dc, "127.0.0.1:1").build(),
          (dc, client) ->
              room -> {
                reached.countDown();
                throw new IllegalStateException("meant");
              });
    }

    @Override
    protected Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis) {
      return new Audit(0, 0);
    }
  }

  @Test
  void threadThatEndsByAnException_isTold() throws InterruptedException {
    CountDownLatch reached = new CountDownLatch(1);
    try (WriterLoad load = new Failing(reached)) {
      assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
      load.stop();
      assertThat(load.broken())
          .containsExactly("load-eu ended by java.lang.IllegalStateException: meant");
    }
  }

  @Test
  void mayBeDone_errorThatAnswersTheUpdate_isFalse() {
    OsierException refused = new OsierException(ErrorCode.OVERLOADED, "a queue is full");
    assertThat(WriterLoad.mayBeDone(refused)).isFalse();
    assertThat(WriterLoad.mayBeDone(new CompletionException(refused))).isFalse();
  }

  @Test
  void mayBeDone_anythingElse_isTrue() {
    assertThat(WriterLoad.mayBeDone(new IllegalStateException("no answer"))).isTrue();
    assertThat(
            WriterLoad.mayBeDone(new CompletionException(new IllegalStateException("no answer"))))
        .isTrue();
  }
}
