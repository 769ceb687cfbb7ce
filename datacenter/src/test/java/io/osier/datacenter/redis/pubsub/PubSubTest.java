package io.osier.datacenter.redis.pubsub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
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

final class PubSubTest extends PubSubFixture {
  private static List<String> texts(List<RespValue> values) {
    return values.stream().map(PubSubTest::text).toList();
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
