package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Walks that fail, such as on a damaged object, step by step. */
final class RepeatedWalkTest {
  private long now;
  private final LongAdder failures = new LongAdder();
  private final RepeatedWalk walk = new RepeatedWalk("a walk", failures, () -> now, new Random(1));
  private int begun;
  private CompletableFuture<Integer> last = new CompletableFuture<>();

  private CompletableFuture<Integer> begin() {
    begun++;
    last = new CompletableFuture<>();
    return last;
  }

  private OptionalInt step() {
    return walk.step(this::begin);
  }

  @Test
  void walkThatFails_beginsAgainMoreAndMoreSeldom_andEndsWellInTheEnd() {
    for (; now < 600_000; now += 100) {
      assertThat(step()).isEmpty();
      last.completeExceptionally(new IllegalStateException("damaged"));
    }
    assertThat(begun).as("of 6,000 looks").isBetween(12, 30);
    assertThat(failures.sum()).isBetween(begun - 1L, (long) begun);
    now += 60_000;
    for (int i = 0; i < 3; i++) {
      assertThat(step()).isEmpty();
    }
    last.complete(7);
    assertThat(step()).hasValue(7);
  }

  @Test
  void walksThatEndWell_followEachOther() {
    for (int i = 0; i < 5; i++) {
      assertThat(step()).isEmpty();
      last.complete(i);
      assertThat(step()).hasValue(i);
    }
    assertThat(begun).isEqualTo(5);
    assertThat(failures.sum()).isZero();
  }

  /** It may be past what there is to be found since. */
  @Test
  void walkUnderWay_doesNotCountOnceOneIsToBeginAnew() {
    walk.beginAnew();
    assertThat(step()).isEmpty();
    last.complete(1);
    assertThat(step()).as("there was none").hasValue(1);
    assertThat(step()).isEmpty();
    walk.beginAnew();
    last.complete(2);
    assertThat(step()).isEmpty();
    assertThat(step()).isEmpty();
    last.complete(3);
    assertThat(step()).hasValue(3);
    assertThat(begun).isEqualTo(3);
  }
}
