package io.osier.datacenter.redis.pubsub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.redis.RespValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Channels and their subscribers. */
abstract class PubSubFixture {
  static final long ROOM = 100 * PubSub.SUBSCRIPTION_BYTES;
  final List<PublishNote> sent = new ArrayList<>();
  int notSent;
  final PubSub all = pubSub(ROOM);

  PubSub pubSub(long room) {
    return new PubSub(
        room,
        note -> {
          sent.add(note);
          return notSent;
        });
  }

  static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  static String text(RespValue value) {
    return switch (value) {
      case RespValue.Bulk b -> new String(b.bytes(), ISO_8859_1);
      case RespValue.Int i -> String.valueOf(i.value());
      case RespValue.Null n -> "-";
      case RespValue.Push p -> String.join(" ", p.values().stream().map(PubSubTest::text).toList());
      default -> throw new AssertionError(value);
    };
  }

  static List<Topic> channels(String... names) {
    return Arrays.stream(names).map(n -> Topic.channel("k", bytes(n))).toList();
  }

  static List<Topic> patterns(String... names) {
    return Arrays.stream(names).map(n -> Topic.pattern("k", bytes(n))).toList();
  }

  Subscriber subscriber() {
    return new Subscriber(all, () -> {});
  }

  int publish(String channel, String content) {
    return all.publish("k", bytes(channel), bytes(content));
  }

  static List<String> heard(Subscriber by) {
    List<String> heard = new ArrayList<>();
    RespValue.Push next;
    while ((next = by.poll()) != null) {
      heard.add(text(next));
    }
    return heard;
  }

  /** What a subscriber wants and has not polled, as lists. */
  static final class Model {
    final Set<String> channels = new TreeSet<>();
    final Set<String> patterns = new TreeSet<>();
    final List<String> waiting = new ArrayList<>();
  }

  static void check(Subscriber one, Model model, String as) {
    assertThat(heard(one)).as(as).containsExactlyInAnyOrderElementsOf(model.waiting);
    model.waiting.clear();
  }

  static String by(boolean pattern, String name) {
    return (pattern ? "pmessage " : "message ") + name + " ";
  }
}
