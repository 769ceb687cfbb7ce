package io.osier.bench.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.systems.ScenarioException;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class LoadTest {
  private static final long MILLI = 1_000_000;

  private final FakeTarget target = new FakeTarget();
  private final SteppedTime time = new SteppedTime();

  private Load load(String changes) {
    return new Load(target, FakeTarget.load(changes), List.of(), time);
  }

  private static Histogram increments(Load load) {
    return requireNonNull(load.sinceLast().get("increment"));
  }

  private void answerAll() {
    List<FakeTarget.Made> all = new ArrayList<>();
    target.underWay.drainTo(all);
    all.forEach(made -> made.answer().complete(null));
  }

  @Test
  void closedLoop_keepsSoManyUnderWayAtEachNode_andNoMore() throws InterruptedException {
    Load load = load("in-flight = 3");
    load.start();
    for (int i = 0; i < 20; i++) {
      assertThat(target.underWay).hasSize(6);
      time.pass(MILLI);
      target.underWay.take().answer().complete(null); // who hears it makes the next
    }
    assertThat(load.done()).isEqualTo(20);
    Histogram tenths = increments(load);
    assertThat(tenths.getTotalCount()).isEqualTo(20);
    // The first six were made at once, and answered one in each millisecond; so each waits six.
    assertThat(tenths.getMaxValue()).isBetween(60_000L, 60_100L);
    assertThat(increments(load).getTotalCount()).as("since last").isZero();
    Thread stopping = Thread.ofPlatform().start(() -> stop(load));
    while (stopping.isAlive()) {
      answerAll();
      stopping.join(1);
    }
    assertThat(target.underWay).isEmpty();
  }

  private static void stop(Load load) {
    try {
      load.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void failures_areCounted_andTheLoopGoesOnLater() throws InterruptedException {
    Load load = load("at = first, in-flight = 1");
    load.start();
    target.underWay.take().answer().completeExceptionally(new IllegalStateException());
    FakeTarget.Made next = target.underWay.take();
    assertThat(next.by()).as("not at once, by who heard it").isNotEqualTo(Thread.currentThread());
    next.answer().completeExceptionally(new IllegalStateException());
    target.underWay.take().answer().complete(null);
    target.underWay.take(); // made when the one before it was counted
    assertThat(load.failed()).isEqualTo(2);
    assertThat(load.done()).isEqualTo(1);
    assertThat(increments(load).getTotalCount()).as("failures have no latency").isEqualTo(1);
    load.close();
  }

  @Test
  void callsThatThrow_areFailures_andTheLoopGoesOnLater() throws InterruptedException {
    target.thrown.set(1);
    Load load = load("at = first, in-flight = 1");
    load.start();
    assertThat(target.underWay.take().by()).isNotEqualTo(Thread.currentThread());
    assertThat(load.failed()).isEqualTo(1);
    load.close();
  }

  /** If it counted from when calls are made, and not from when they are due, it would be one. */
  @Test
  void openLoop_aStall_isInThePercentilesOfAllThatWereDueInIt() throws InterruptedException {
    Load load = load("at = first, in-flight = 1, rate = 1000");
    load.start();
    FakeTarget.Made held = target.underWay.take();
    time.pass(150 * MILLI);
    held.answer().complete(null);
    for (int i = 1; i < 150; i++) {
      target.underWay.take().answer().complete(null); // due after i milliseconds, made after 150
    }
    Thread stopping = Thread.ofPlatform().start(() -> stop(load));
    while (stopping.isAlive()) {
      answerAll();
      stopping.join(1);
    }
    Histogram tenths = increments(load);
    assertThat(tenths.getCountBetweenValues(75 * 10_000, tenths.getMaxValue())).isBetween(75L, 77L);
    assertThat(tenths.getCountBetweenValues(140 * 10_000, tenths.getMaxValue()))
        .isBetween(10L, 12L);
  }

  @Test
  void openLoop_makesNoCallBeforeItIsDue() throws InterruptedException {
    Load load = load("at = first, in-flight = 10, rate = 1000");
    load.start();
    for (int i = 0; i < 50; i++) {
      FakeTarget.Made made = target.underWay.take();
      assertThat(time.nanos()).isGreaterThanOrEqualTo(i * MILLI);
      made.answer().complete(null);
    }
    Thread stopping = Thread.ofPlatform().start(() -> stop(load));
    while (stopping.isAlive()) {
      answerAll();
      stopping.join(1);
    }
  }

  @Test
  void at_namesNodes_andAWrongNameIsRefused() {
    Load named = load("at = [us], in-flight = 3");
    named.start();
    assertThat(target.underWay).hasSize(3);
    named.close();
    for (String at : List.of("[us, nowhere]", "[]", "last")) {
      assertThatThrownBy(() -> load("at = " + at))
          .isInstanceOf(ScenarioException.class)
          .hasMessageContaining("eu, us");
    }
  }
}
