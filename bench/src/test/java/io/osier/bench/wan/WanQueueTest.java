package io.osier.bench.wan;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class WanQueueTest {
  private static final long MILLI = 1_000_000L;

  private static WanDirection direction(double delay, double jitter, long bytesPerSecond) {
    return new WanDirection(new WanQuality(delay, jitter, bytesPerSecond), 7);
  }

  @Test
  void delay_isExact() {
    WanQueue<String> queue = new WanQueue<>(direction(40, 0, 0), 100);
    queue.offer("a", 1, 5 * MILLI);
    assertThat(queue.nextDueNanos()).isEqualTo(45 * MILLI);
    assertThat(queue.poll(45 * MILLI - 1)).isNull();
    assertThat(queue.poll(45 * MILLI)).isEqualTo("a");
  }

  @Test
  void bandwidth_isSharedByTheConnectionsOfADirection() {
    WanDirection way = direction(10, 0, 1_000); // a byte a millisecond
    WanQueue<String> one = new WanQueue<>(way, 1_000);
    WanQueue<String> other = new WanQueue<>(way, 1_000);
    one.offer("a", 100, 0);
    other.offer("b", 50, 0);
    assertThat(one.nextDueNanos()).isEqualTo(110 * MILLI);
    assertThat(other.nextDueNanos()).isEqualTo(160 * MILLI);
    other.offer("c", 10, 1_000 * MILLI); // the line has been idle, and lends nothing
    assertThat(other.poll(1_019 * MILLI)).isEqualTo("b");
    assertThat(other.poll(1_020 * MILLI - 1)).isNull();
    assertThat(other.poll(1_020 * MILLI)).isEqualTo("c");
  }

  @Test
  void healedDirection_sendsAgainWithDelayAndBandwidth() {
    WanDirection way = direction(10, 0, 1_000);
    WanQueue<String> queue = new WanQueue<>(way, 1_000);
    queue.offer("a", 100, 0);
    queue.offer("b", 100, 0);
    way.cut();
    assertThat(queue.isWaiting()).isFalse();
    assertThat(queue.poll(10_000 * MILLI)).isNull();
    way.heal(10_000 * MILLI);
    queue.restart(10_000 * MILLI);
    assertThat(queue.poll(10_110 * MILLI - 1)).isNull();
    assertThat(queue.poll(10_110 * MILLI)).isEqualTo("a");
    assertThat(queue.poll(10_210 * MILLI - 1)).isNull();
    assertThat(queue.poll(10_210 * MILLI)).isEqualTo("b");
  }

  @Test
  void end_comesBehindTheBytes_andNotThroughACut() {
    WanDirection way = direction(10, 0, 0);
    WanQueue<String> queue = new WanQueue<>(way, 100);
    queue.offer("a", 1, 0);
    queue.end(MILLI);
    assertThat(queue.isEnded(11 * MILLI)).isFalse();
    assertThat(queue.poll(11 * MILLI)).isEqualTo("a");
    assertThat(queue.isEnded(11 * MILLI)).isTrue();
    way.cut();
    assertThat(queue.isEnded(11 * MILLI)).isFalse();
    way.heal(20 * MILLI);
    queue.restart(20 * MILLI);
    assertThat(queue.isEnded(30 * MILLI - 1)).isFalse();
    assertThat(queue.isEnded(30 * MILLI)).isTrue();
  }

  @Test
  void fullQueue_hasRoomAgainAtHalf() {
    WanQueue<String> queue = new WanQueue<>(direction(0, 0, 0), 100);
    queue.offer("a", 49, 0);
    assertThat(queue.isFull()).isFalse();
    queue.offer("b", 51, 0);
    assertThat(queue.isFull()).isTrue();
    assertThat(queue.hasRoomAgain()).isFalse();
    queue.poll(0);
    assertThat(queue.isFull()).isFalse();
    assertThat(queue.hasRoomAgain()).isFalse();
    queue.poll(0);
    assertThat(queue.hasRoomAgain()).isTrue();
  }

  /** The seed is the emulator's own input: jitter has no structure that could be drawn. */
  @Property
  void everything_comesOnceInOrder_withinDelayAndJitter(
      @ForAll @Size(min = 1, max = 50) List<@IntRange(min = 0, max = 20) Integer> pauses,
      @ForAll long seed) {
    WanDirection way = new WanDirection(new WanQuality(20, 15, 0), seed);
    WanQueue<Long> queue = new WanQueue<>(way, 1_000);
    List<Long> sent = new ArrayList<>();
    List<Long> received = new ArrayList<>();
    long now = 0;
    for (int pause : pauses) {
      now += pause * MILLI + 1; // the sending time is the content, so it must be unique
      queue.offer(now, 1, now);
      sent.add(now);
    }
    while (queue.isWaiting()) {
      long due = queue.nextDueNanos();
      assertThat(queue.poll(due - 1)).isNull();
      long content = requireNonNull(queue.poll(due));
      received.add(content);
      assertThat(due - content).isBetween(20 * MILLI, 35 * MILLI);
    }
    assertThat(received).isEqualTo(sent);
  }

  @Test
  void directionThatBecomesNarrow_delaysWhatIsSentAfterwards_andHoldsLess() {
    WanDirection way = new WanDirection(new WanQuality(10, 0, 0), 1);
    WanQueue<String> queue = new WanQueue<>(way, 1 << 22);
    queue.offer("wide", 1 << 20, 0);
    assertThat(queue.nextDueNanos()).isEqualTo(10_000_000);
    assertThat(queue.isFull()).isFalse();
    assertThat(queue.poll(10_000_000)).isEqualTo("wide");
    way.become(new WanQuality(500, 0, 125_000));
    queue.offer("narrow", 125_000, 0);
    assertThat(queue.nextDueNanos())
        .as("one second to send, then the delay")
        .isEqualTo(1_500_000_000L);
    assertThat(queue.isFull()).as("more than is on its way or buffered").isTrue();
  }
}
