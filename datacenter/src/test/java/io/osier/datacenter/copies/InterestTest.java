package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class InterestTest {
  private final Interest interest = new Interest(new CopyRule(100), 1_000);

  private void read(String key, int times) {
    for (int i = 0; i < times; i++) {
      interest.read(new ObjectName("k", Key.of(key)), "eu", 50);
    }
  }

  private List<Interest.Candidate> afterAPeriod(String copied) {
    interest.nextPeriod();
    return interest.candidates(name -> name.key().toString().contains(copied), holder -> 20);
  }

  @Test
  void longKeys_areNotCounted_andEachWayIsAskedForOnce() {
    read("x".repeat(256), 10);
    read("x".repeat(257), 10);
    read("n", 10);
    AtomicInteger asked = new AtomicInteger();
    interest.nextPeriod();
    List<Interest.Candidate> found =
        interest.candidates(name -> false, holder -> 20 * asked.incrementAndGet());
    assertThat(found)
        .extracting(each -> each.name().key().length())
        .containsExactlyInAnyOrder(256, 1);
    assertThat(asked).hasValue(1);
  }

  private int periodsUntilAsked() {
    for (int periods = 1; ; periods++) {
      read("hot", 100);
      if (!afterAPeriod("none").isEmpty()) {
        return periods;
      }
    }
  }

  /** What was refused may have been lost with a link, or nobody there may know of copies. */
  @Test
  void holderThatRefuses_isAskedAgainSoon_andThenMoreAndMoreSeldom_untilItTells() {
    assertThat(periodsUntilAsked()).isEqualTo(1);
    List<Integer> pauses = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      interest.refuses("eu");
      pauses.add(periodsUntilAsked());
    }
    assertThat(pauses).containsExactly(1, 2, 4, 8, 15, 15);
    interest.tells("eu");
    interest.refuses("eu");
    assertThat(periodsUntilAsked()).isEqualTo(1);
    interest.distrusts("eu");
    interest.tells("eu"); // of another partition, say
    assertThat(periodsUntilAsked()).isEqualTo(15);
  }

  /** The reads of a copied object are its copy's, so its counter falls, and others come to it. */
  @Test
  void demandOfACopy_isItsOwn_whoeverTakesTheCounter() {
    read("hot", 100);
    Interest.Candidate hot = afterAPeriod("none").getFirst();
    assertThat(hot.demand().reads()).isGreaterThan(0);
    for (int period = 0; period < 20; period++) {
      for (int i = 0; i < 1_000; i++) {
        read("once" + period + "/" + i, 1);
      }
      hot.demand().readFromCopy(100);
      assertThat(interest.isWorthIt(hot.demand(), 20)).isTrue();
      assertThat(afterAPeriod("hot")).isEmpty();
    }
    assertThat(hot.demand().reads()).isBetween(99.0, 101.0);
    assertThat(hot.demand().bytesPerRead()).isGreaterThan(0);
  }
}
