package io.osier.datacenter.redis.pubsub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.datacenter.redis.command.RedisException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What channels and their subscribers may take, and what becomes of more. */
final class PubSubBoundsTest extends PubSubFixture {
  // ---------------------------------------------------------------- bounds

  @Test
  void subscriberThatDoesNotPoll_isTooSlow_andHearsNothingMore() {
    AtomicInteger wakes = new AtomicInteger();
    Subscriber slow = new Subscriber(all, wakes::incrementAndGet);
    Subscriber other = subscriber();
    slow.subscribe(channels("c"));
    other.subscribe(channels("c"));
    byte[] content = new byte[PubSub.MESSAGE_BYTES_MAX - 1];
    int taken = 0;
    while (all.publish("k", bytes("c"), content) == 2) {
      taken++;
      assertThat(heard(other)).hasSize(1);
      assertThat(slow.isTooSlow()).isFalse();
    }
    assertThat((long) taken * content.length)
        .isBetween(
            Subscriber.WAITING_BYTES_MAX - 2L * content.length, Subscriber.WAITING_BYTES_MAX);
    assertThat(slow.isTooSlow()).isTrue();
    assertThat(wakes.get()).as("once more, to be closed").isEqualTo(taken + 1);
    assertThat(slow.waitingBytes()).isLessThanOrEqualTo(Subscriber.WAITING_BYTES_MAX);
    assertThat(publish("c", "small")).as("nothing comes behind what is lost").isOne();
    slow.close();
    assertThat(all.figures().droppedHere()).isEqualTo(taken + 2);
    assertThat(publish("c", "small")).isOne();
    assertThat(heard(other)).hasSize(3);
  }

  @Test
  void subscriptionsOfAConnection_haveABound_andAllOrNoneAreTaken() {
    PubSub large = pubSub(1L << 30);
    Subscriber one = new Subscriber(large, () -> {});
    String[] names =
        IntStream.range(0, Subscriber.SUBSCRIPTIONS_MAX)
            .mapToObj(String::valueOf)
            .toArray(String[]::new);
    one.subscribe(channels(names));
    one.subscribe(channels("7"));
    assertThatThrownBy(() -> one.subscribe(channels("7", "more")))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("at most 10000 subscriptions");
    assertThat(one.channels()).isEqualTo(Subscriber.SUBSCRIPTIONS_MAX);
    assertThat(large.subscribers("k", bytes("more"))).isZero();
    Subscriber two = new Subscriber(large, () -> {});
    for (int i = 0; i < Subscriber.NAMES_BYTES_MAX / 1_000; i++) {
      two.subscribe(channels("%01000d".formatted(i)));
    }
    assertThatThrownBy(() -> two.subscribe(channels("x".repeat(1_000))))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("bytes of their names");
    two.unsubscribe(channels("%01000d".formatted(5)));
    two.subscribe(channels("x".repeat(1_000)));
    for (Topic tooLong :
        List.of(channels("x".repeat(1_025)).getFirst(), patterns("x".repeat(1_025)).getFirst())) {
      assertThatThrownBy(() -> one.subscribe(List.of(tooLong)))
          .isInstanceOf(RedisException.class)
          .hasMessageContaining("at most 1024 bytes, not 1025");
    }
  }

  @Test
  void subscriptionsOfADatacenter_haveABound_andGiveTheirRoomBack() {
    Subscriber one = subscriber();
    Subscriber two = subscriber();
    String[] names = IntStream.range(0, 60).mapToObj(String::valueOf).toArray(String[]::new);
    one.subscribe(channels(names));
    assertThatThrownBy(() -> two.subscribe(channels(names)))
        .isInstanceOf(RedisException.class)
        .hasMessageStartingWith(
            "BUSY nothing was done: the memory for this datacenter's subscriptions");
    assertThat(two.topics()).isEmpty();
    one.unsubscribe(channels(names));
    two.subscribe(channels(names));
    two.close();
    one.subscribe(channels(names));
  }

  @Test
  void patterns_areAsManyAsMayBeCompared_andThoseOfOneStarAreCheap() {
    PubSub large = pubSub(1L << 30);
    List<Subscriber> some = new ArrayList<>();
    String twoStars = "*%0100d*";
    int slow = 0;
    Subscriber one = new Subscriber(large, () -> {});
    some.add(one);
    try {
      while (slow < 10_000) {
        one.subscribe(patterns(twoStars.formatted(slow)));
        slow++;
      }
    } catch (RedisException e) {
      assertThat(e).hasMessageContaining("use patterns with one * at most");
    }
    assertThat(slow).isEqualTo(PubSub.SLOW_BYTES_MAX / (102 + PubSub.PATTERN_BYTES));
    int more = slow;
    assertThatThrownBy(() -> one.subscribe(patterns("quick*", twoStars.formatted(more))))
        .as("all of them or none")
        .isInstanceOf(RedisException.class);
    assertThat(large.patterns("k")).isEqualTo(slow);
    assertThat(one.patterns()).isEqualTo(slow);
    new Subscriber(large, () -> {})
        .subscribe(patterns(twoStars.formatted(0))); // it is compared once
    one.unsubscribe(patterns(twoStars.formatted(1)));
    one.subscribe(patterns(twoStars.formatted(more)));
    int quick = 0;
    try {
      while (quick < 200_000) {
        if (quick % 9_000 == 0) {
          some.add(new Subscriber(large, () -> {}));
        }
        some.getLast().subscribe(patterns("q%07d*".formatted(quick)));
        quick++;
      }
    } catch (RedisException e) {
      assertThat(e).hasMessageContaining("too many patterns to compare");
    }
    assertThat(quick).isEqualTo(PubSub.QUICK_BYTES_MAX / (9 + PubSub.PATTERN_BYTES));
    assertThat(large.publish("k", bytes("q0000007 and more"), bytes("m"))).isOne();
    some.forEach(Subscriber::close);
    assertThat(large.patternCount()).isOne();
  }

  @Test
  void namesOfChannels_areNotComparedForTooLong() {
    PubSub large = pubSub(1L << 30);
    for (int s = 0; s < 4; s++) {
      Subscriber one = new Subscriber(large, () -> {});
      for (int i = 0; i < 1_000; i++) {
        one.subscribe(channels("%d-%0900d".formatted(s, i)));
      }
    }
    String hostile = "*a".repeat(50) + "*b";
    assertThat(large.channels("k", bytes("*b"))).isEmpty();
    assertThatThrownBy(() -> large.channels("k", bytes(hostile)))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("too many channels");
  }

  @Test
  void message_thatIsTooLarge_isRefused_andTheLargestFitsIntoANote() {
    byte[] channel = new byte[Topic.NAME_BYTES_MAX];
    byte[] content = new byte[PubSub.MESSAGE_BYTES_MAX - channel.length];
    PubSub.check(channel, content);
    String keyspace = "k".repeat(64);
    assertThat(new PublishNote(keyspace, channel, content).encode())
        .hasSizeLessThanOrEqualTo(64 << 10);
    assertThatThrownBy(() -> PubSub.check(channel, new byte[content.length + 1]))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("at most 65024 bytes, not 65025");
    assertThatThrownBy(() -> PubSub.check(new byte[channel.length + 1], new byte[0]))
        .isInstanceOf(RedisException.class);
  }
}
