package io.osier.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.client.OpenLoop.Calls;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What is measured of calls that are due at a fixed rate. */
final class OpenLoopTest {
  private static final long START = -1_000_000_000L;
  private static final long MS = 1_000_000;

  /** A call each millisecond. */
  private final Calls calls = new Calls(START, 1_000, 100);

  @Test
  void between_callMadeLate_countsFromWhenItWasDue() {
    calls.made(3);
    calls.answered(0, START + MS, true);
    calls.answered(1, START + 21 * MS, true); // made behind a stall of 20 ms
    calls.answered(2, START + 21 * MS, true);
    Histogram micros = calls.between(START, START + 3 * MS, START + 50 * MS);
    assertThat(micros.getTotalCount()).isEqualTo(3);
    assertThat(micros.getMinValue()).isEqualTo(1_000);
    assertThat(micros.valuesAreEquivalent(micros.getMaxValue(), 20_000)).isTrue();
  }

  @Test
  void between_noAnswer_countsAsIfItWereThereNow() {
    calls.made(2);
    calls.answered(0, START + MS, true);
    Histogram micros = calls.between(START, START + 2 * MS, START + 51 * MS);
    assertThat(micros.getTotalCount()).isEqualTo(2);
    assertThat(micros.valuesAreEquivalent(micros.getMaxValue(), 50_000)).isTrue();
    assertThat(calls.open()).isEqualTo(1);
  }

  @Test
  void between_otherTimes_countNot() {
    calls.made(100);
    for (int i = 0; i < 100; i++) {
      calls.answered(i, calls.dueNanos(i) + (i < 10 ? 9 : 1) * MS, i % 2 == 0);
    }
    Histogram later = calls.between(START + 10 * MS, START + 20 * MS, START + 200 * MS);
    assertThat(later.getTotalCount()).isEqualTo(10);
    assertThat(later.valuesAreEquivalent(later.getMaxValue(), 1_000)).isTrue();
    assertThat(calls.between(START + 5 * MS, START + 5 * MS, START).getTotalCount()).isZero();
    assertThat(calls.failed()).isEqualTo(50);
  }

  @Test
  void start_allCalls_areMadeOnceAndInOrder() throws InterruptedException {
    long[] next = {0};
    OpenLoop loop =
        OpenLoop.start(
            1_000_000,
            0.001,
            (number, done) -> {
              assertThat(number).isEqualTo(next[0]++);
              done.done(true);
            });
    while (loop.calls().open() > 0 || !loop.isDone()) {
      Thread.onSpinWait();
    }
    loop.close();
    assertThat(next[0]).isEqualTo(1_000);
    assertThat(loop.calls().open()).isZero();
  }
}
