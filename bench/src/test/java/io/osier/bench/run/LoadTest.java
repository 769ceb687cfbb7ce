package io.osier.bench.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.Target;
import io.osier.core.OsierException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class LoadTest {
  /** Two nodes that count increments, and answer as a test wants. */
  private static class Fake implements Target, Calls {
    final ConcurrentHashMap<Integer, Integer> counts = new ConcurrentHashMap<>();
    final AtomicInteger underWay = new AtomicInteger();
    final AtomicInteger mostUnderWay = new AtomicInteger();

    @Override
    public int nodes() {
      return 2;
    }

    @Override
    public Calls calls(int node, Config load) {
      return this;
    }

    @Override
    public Call call(String operation) {
      return (key, number) -> {
        mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        counts.merge(key, 1, Integer::sum);
        return answer(number).whenComplete((done, error) -> underWay.decrementAndGet());
      };
    }

    CompletionStage<?> answer(long unusedNumber) {
      return CompletableFuture.runAsync(Thread::yield);
    }

    @Override
    public void fill(String operation, int keys) {}

    @Override
    public long count(int key) {
      return counts.getOrDefault(key, 0);
    }

    @Override
    public void close() {}
  }

  private static Config load(String changes) {
    Config defaults = Scenario.read("client", List.of(), false).config();
    return ConfigFactory.parseString("at = all, keys = 10, mix { increment = 1 }, " + changes)
        .withFallback(defaults.getConfig("load"));
  }

  private static void runUntil(Load load, int calls) throws InterruptedException {
    load.start();
    while (load.done() < calls) {
      Thread.sleep(1);
    }
    load.stop();
  }

  @Test
  void closedLoop_keepsSoManyUnderWayAtEachNode_andNoMore() throws InterruptedException {
    Fake fake = new Fake();
    Load load = new Load(fake, load("in-flight = 3"), null);
    runUntil(load, 5_000);
    assertThat(fake.mostUnderWay.get()).isBetween(2, 6);
    assertThat(fake.underWay.get()).isZero();
    Histogram increments = requireNonNull(load.sinceLast().get("increment"));
    assertThat(increments.getTotalCount()).isEqualTo(load.done());
  }

  @Test
  void failures_areCounted_andTheLoopGoesOn() throws InterruptedException {
    Fake fake =
        new Fake() {
          @Override
          CompletionStage<?> answer(long number) {
            return number % 3 == 0
                ? CompletableFuture.failedFuture(new IllegalStateException())
                : super.answer(number);
          }
        };
    Load load = new Load(fake, load("in-flight = 2"), null);
    runUntil(load, 20);
    assertThat(load.failed()).isPositive();
  }

  @Test
  void openLoop_countsFromWhenACallWasDue() throws InterruptedException {
    long heldMillis = 150;
    CompletableFuture<Void> held = new CompletableFuture<>();
    Fake fake =
        new Fake() {
          @Override
          CompletionStage<?> answer(long number) {
            return number == 0 ? held : CompletableFuture.completedFuture(null);
          }
        };
    Load load = new Load(fake, load("at = first, in-flight = 1, rate = 1000"), null);
    load.start();
    while (fake.underWay.get() == 0) {
      Thread.sleep(1);
    }
    long began = System.nanoTime();
    while (System.nanoTime() - began < heldMillis * 1_000_000) {
      Thread.sleep(1); // the others are due, and wait for the first
    }
    held.complete(null);
    while (load.done() < heldMillis) {
      Thread.sleep(1);
    }
    load.stop();
    Histogram tenths = requireNonNull(load.sinceLast().get("increment"));
    // Those that were due in the first third of that time have waited for more than half of it.
    assertThat(tenths.getCountBetweenValues(heldMillis * 10_000 / 2, tenths.getMaxValue()))
        .isGreaterThan(heldMillis / 5);
  }

  @Test
  void audit_findsWhatWasCountedTwice() throws Exception {
    Fake fake = new Fake();
    Config config = load("in-flight = 2");
    Audit audit = new Audit(10, 1, false);
    Load load = new Load(fake, config, audit);
    runUntil(load, 100);
    assertThat(audit.acknowledged()).isEqualTo(load.done());
    assertThat(audit.awaitEverywhere(fake, config, "increment")).isNotNegative();
    Audit second = new Audit(10, 1, false);
    second.startFrom(fake);
    assertThat(second.awaitEverywhere(fake, config, "increment")).isNotNegative();
    fake.counts.merge(3, 1, Integer::sum);
    assertThatThrownBy(() -> audit.awaitEverywhere(fake, config, "increment"))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("key 3")
        .hasMessageContaining("twice");
  }
}
