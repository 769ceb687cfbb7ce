package io.osier.datacenter.redis.pubsub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.RedisException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PubSubTest {
  private static final long ROOM = 100 * PubSub.SUBSCRIPTION_BYTES;

  private final List<PublishNote> sent = new ArrayList<>();
  private int notSent;

  private final PubSub all = pubSub(ROOM);

  private PubSub pubSub(long room) {
    return new PubSub(
        room,
        note -> {
          sent.add(note);
          return notSent;
        });
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String text(RespValue value) {
    return switch (value) {
      case RespValue.Bulk b -> new String(b.bytes(), ISO_8859_1);
      case RespValue.Int i -> String.valueOf(i.value());
      case RespValue.Null n -> "-";
      case RespValue.Push p -> String.join(" ", p.values().stream().map(PubSubTest::text).toList());
      default -> throw new AssertionError(value);
    };
  }

  private static List<String> texts(List<RespValue> values) {
    return values.stream().map(PubSubTest::text).toList();
  }

  private static List<Topic> channels(String... names) {
    return Arrays.stream(names).map(n -> Topic.channel("k", bytes(n))).toList();
  }

  private static List<Topic> patterns(String... names) {
    return Arrays.stream(names).map(n -> Topic.pattern("k", bytes(n))).toList();
  }

  private Subscriber subscriber() {
    return new Subscriber(all, () -> {});
  }

  private int publish(String channel, String content) {
    return all.publish("k", bytes(channel), bytes(content));
  }

  private static List<String> heard(Subscriber by) {
    List<String> heard = new ArrayList<>();
    RespValue.Push next;
    while ((next = by.poll()) != null) {
      heard.add(text(next));
    }
    return heard;
  }

  // ---------------------------------------------------------------- who hears what

  /** What a subscriber wants and has not polled, as lists. */
  private static final class Model {
    final Set<String> channels = new TreeSet<>();
    final Set<String> patterns = new TreeSet<>();
    final List<String> waiting = new ArrayList<>();
  }

  @Test
  void randomSubscribers_hearWhatTheModelSays() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String[] names = {"a", "b", "ab", "ba", ""};
    String[] globs = {"*", "a*", "*b", "?", "a*b*", "[ab]"};
    List<Subscriber> subscribers = new ArrayList<>();
    List<Model> models = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      subscribers.add(subscriber());
      models.add(new Model());
    }
    for (int step = 0; step < 20_000; step++) {
      int at = random.nextInt(subscribers.size());
      Subscriber one = subscribers.get(at);
      Model model = models.get(at);
      boolean ofPatterns = random.nextBoolean();
      Set<String> wanted = ofPatterns ? model.patterns : model.channels;
      String[] from = ofPatterns ? globs : names;
      String name = from[random.nextInt(from.length)];
      List<Topic> topics = ofPatterns ? patterns(name, name) : channels(name, name);
      String as = "step " + step + " of seed " + seed;
      switch (random.nextInt(8)) {
        case 0, 1 -> {
          wanted.add(name);
          int count = model.channels.size() + model.patterns.size();
          String line = (ofPatterns ? "psubscribe " : "subscribe ") + name + " " + count;
          assertThat(texts(one.subscribe(topics))).as(as).containsExactly(line, line);
        }
        case 2 -> {
          check(one, model, as);
          wanted.remove(name);
          int count = model.channels.size() + model.patterns.size();
          String line = (ofPatterns ? "punsubscribe " : "unsubscribe ") + name + " " + count;
          assertThat(texts(one.unsubscribe(topics))).as(as).containsExactly(line, line);
        }
        case 3 -> {
          if (random.nextInt(10) == 0) {
            check(one, model, as);
            one.unsubscribeAll(ofPatterns);
            wanted.clear();
          }
        }
        case 4 -> {
          if (random.nextInt(20) == 0) {
            one.close();
            subscribers.set(at, subscriber());
            models.set(at, new Model());
          }
        }
        case 5 -> check(one, model, as);
        default -> {
          String channel = names[random.nextInt(names.length)];
          assertThat(publish(channel, "m" + step)).as(as).isEqualTo(hear(models, channel, step));
        }
      }
      Set<String> there = new TreeSet<>();
      models.forEach(m -> there.addAll(m.channels));
      assertThat(all.channelCount()).as(as).isEqualTo(there.size());
      assertThat(all.figures().subscribers())
          .as(as)
          .isEqualTo(
              models.stream().filter(m -> m.channels.size() + m.patterns.size() > 0).count());
    }
    assertThat(all.channels("k", bytes("*")).stream().map(b -> new String(b, ISO_8859_1)))
        .as("seed " + seed)
        .containsExactlyInAnyOrderElementsOf(
            models.stream().flatMap(m -> m.channels.stream()).distinct().toList());
    subscribers.forEach(Subscriber::close);
    assertThat(all.channelCount() + all.patternCount()).isZero();
    assertThat(all.tryTake(ROOM)).as("all room is given back, seed " + seed).isTrue();
  }

  private static void check(Subscriber one, Model model, String as) {
    assertThat(heard(one)).as(as).containsExactlyInAnyOrderElementsOf(model.waiting);
    model.waiting.clear();
  }

  private static String by(boolean pattern, String name) {
    return (pattern ? "pmessage " : "message ") + name + " ";
  }

  private static int hear(List<Model> models, String channel, int step) {
    int receivers = 0;
    for (Model model : models) {
      if (model.channels.contains(channel)) {
        model.waiting.add(by(false, channel) + "m" + step);
        receivers++;
      }
      for (String pattern : model.patterns) {
        if (Glob.matches(bytes(pattern), bytes(channel))) {
          model.waiting.add(by(true, pattern) + channel + " m" + step);
          receivers++;
        }
      }
    }
    return receivers;
  }

  /** A publisher may still have been at it when the channel was left. */
  @Test
  void message_ofAChannelThatWasLeft_isNotHeardBehindTheAnswer() {
    Subscriber one = subscriber();
    one.subscribe(channels("c", "d"));
    publish("c", "1");
    publish("d", "2");
    one.unsubscribe(channels("c"));
    assertThat(one.hasWaiting()).isTrue();
    assertThat(heard(one)).containsExactly("message d 2");
    assertThat(one.waitingBytes()).isZero();
  }

  @Test
  void channel_ofAnotherKeyspace_isAnotherOne() {
    Subscriber one = subscriber();
    one.subscribe(channels("c"));
    one.subscribe(patterns("*"));
    assertThat(all.publish("other", bytes("c"), bytes("m"))).isZero();
    assertThat(heard(one)).isEmpty();
    assertThat(all.channels("other", bytes("*"))).isEmpty();
    assertThat(all.patterns("other")).isZero();
    assertThat(all.patterns("k")).isOne();
    assertThat(all.subscribers("other", bytes("c"))).isZero();
    assertThat(texts(one.unsubscribeAll(false))).containsExactly("unsubscribe c 1");
    assertThat(texts(one.unsubscribeAll(false))).containsExactly("unsubscribe - 1");
  }

  @Test
  void messagesOfEachPublisher_areHeardInTheirOrder_whoeverElsePublishes() throws Exception {
    int publishers = 4;
    int count = 5_000;
    AtomicInteger wakes = new AtomicInteger();
    Subscriber one = new Subscriber(all, wakes::incrementAndGet);
    one.subscribe(channels("c"));
    PubSub quiet = all;
    try (ExecutorService threads = Executors.newFixedThreadPool(publishers)) {
      List<Callable<Integer>> tasks =
          IntStream.range(0, publishers)
              .<Callable<Integer>>mapToObj(
                  p ->
                      () -> {
                        int taken = 0;
                        byte[] note;
                        for (int i = 0; i < count; i++) {
                          note = new PublishNote("k", bytes("c"), bytes(p + " " + i)).encode();
                          quiet.received(note);
                          taken++;
                        }
                        return taken;
                      })
              .toList();
      for (Future<Integer> done : threads.invokeAll(tasks)) {
        assertThat(done.get()).isEqualTo(count);
      }
    }
    Map<String, Integer> next = new HashMap<>();
    List<String> heard = heard(one);
    assertThat(heard).hasSize(publishers * count);
    for (String line : heard) {
      String[] words = line.split(" ");
      assertThat(Integer.parseInt(words[3])).isEqualTo(next.merge(words[2], 1, Integer::sum) - 1);
    }
    assertThat(wakes.get()).isEqualTo(publishers * count);
    assertThat(one.waitingBytes()).isZero();
  }

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
        .hasMessageStartingWith("BUSY nothing was done: the subscriptions");
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
      assertThat(e).hasMessageContaining("those with one * at most cost less");
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
      assertThat(e).hasMessageContaining("would be compared for too long");
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
    byte[] channel = new byte[PubSub.NAME_BYTES_MAX];
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

  // ---------------------------------------------------------------- other datacenters

  @Test
  void message_isSentToOthers_andWhatIsNotSentIsCounted() {
    assertThat(publish("c", "m")).isZero();
    notSent = 2;
    publish("c", "n");
    assertThat(sent.stream().map(n -> n.keyspace() + " " + new String(n.content(), ISO_8859_1)))
        .containsExactly("k m", "k n");
    assertThat(all.figures()).isEqualTo(new PubSub.Figures(0, 2, 0, 0, 2));
  }

  @Test
  void note_keepsItsForm_andIsHeardElsewhere_andGoesNoFurther() {
    byte[] note = new PublishNote("shop", bytes("news"), bytes("hi")).encode();
    assertThat(HexFormat.of().formatHex(note)).isEqualTo("080473686f70046e6577736869");
    assertThat(PublishNote.isOne(note)).isTrue();
    Subscriber one = subscriber();
    one.subscribe(List.of(Topic.channel("shop", bytes("news"))));
    all.received(note);
    assertThat(heard(one)).containsExactly("message news hi");
    assertThat(sent).isEmpty();
    assertThat(all.figures()).isEqualTo(new PubSub.Figures(1, 0, 1, 0, 0));
  }

  @Test
  void note_thatIsDamaged_isMalformedOrAnotherMessage_andNothingElse() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] note = new PublishNote("shop", bytes("news"), bytes("hi")).encode();
    Map<Boolean, Integer> outcomes = new TreeMap<>();
    for (int i = 0; i < 10_000; i++) {
      byte[] damaged = Arrays.copyOf(note, random.nextInt(1, note.length + 1));
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      boolean read;
      try {
        all.received(damaged);
        read = true;
      } catch (MalformedException e) {
        read = false;
      }
      outcomes.merge(read, 1, Integer::sum);
    }
    assertThat(outcomes).as("seed " + seed).containsOnlyKeys(true, false);
    assertThat(all.figures().received()).isEqualTo((long) outcomes.getOrDefault(true, 0));
    byte[] longName = new PublishNote("shop", new byte[1_025], bytes("hi")).encode();
    assertThatThrownBy(() -> all.received(longName)).isInstanceOf(MalformedException.class);
  }
}
