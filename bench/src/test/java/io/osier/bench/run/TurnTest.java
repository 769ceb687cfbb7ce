package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.Target;
import io.osier.testing.Patience;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class TurnTest {
  /** Two nodes with one counter, which the second one shows late. */
  private static final class LateTarget implements Target {
    final AtomicInteger increments = new AtomicInteger(1);
    final AtomicInteger late = new AtomicInteger(3);

    @Override
    public int nodes() {
      return 2;
    }

    @Override
    public Calls calls(int node, Config load) {
      return new Calls() {
        @Override
        public Call call(String operation) {
          return (key, number) -> CompletableFuture.completedFuture(increments.incrementAndGet());
        }

        @Override
        public long count(int key) {
          return node == 1 && late.getAndDecrement() > 0 ? 0 : increments.get();
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public void close() {}
  }

  @Test
  void warmUpThatIsAudited_endsWhenAllNodesShowIt() throws IOException, InterruptedException {
    LateTarget target = new LateTarget();
    Scenario scenario =
        Scenario.read("peers", List.of("load.probe=false", "load.keys=1", "load.threads=1"), false);
    try (Turn turn = new Turn(target, scenario.cases().getFirst().variants().getFirst())) {
      turn.warmUp(0);
    }
    assertThat(target.late.get()).isNotPositive();
  }
}
