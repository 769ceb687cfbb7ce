package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.datacenter.redis.pubsub.Subscriber;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscribers and publishers as bytes. */
final class PubSubConnectionTest extends PubSubConnections {
  private static final ReplicaId EU = ServedClients.EU;

  private static Reply done(String sum) {
    return new Reply.Done(new Dot(EU, 1), Optional.of(answer(sum)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void channelsAndPatterns_areHeard_andCounted(boolean resp3) throws Exception {
    RawRedis sub = connect(resp3);
    RawRedis pub = connect(false);
    String push = resp3 ? ">" : "";
    sub.commands("SUBSCRIBE news other news", "PSUBSCRIBE n*");
    assertThat(read(sub, 4))
        .containsExactly(
            push + "[subscribe, news, :1]",
            push + "[subscribe, other, :2]",
            push + "[subscribe, news, :2]",
            push + "[psubscribe, n*, :3]");
    assertThat(pub.ask("PUBLISH news hello")).isEqualTo(":2");
    assertThat(pub.ask("PUBLISH n x")).isEqualTo(":1");
    assertThat(pub.ask("PUBLISH nobody x")).isEqualTo(":1");
    assertThat(pub.ask("PUBLISH quiet x")).isEqualTo(":0");
    assertThat(read(sub, 4))
        .containsExactly(
            push + "[message, news, hello]",
            push + "[pmessage, n*, news, hello]",
            push + "[pmessage, n*, n, x]",
            push + "[pmessage, n*, nobody, x]");
    assertThat(pub.ask("PUBSUB CHANNELS n*")).isEqualTo("[news]");
    assertThat(pub.ask("PUBSUB NUMSUB news quiet")).isEqualTo("[news, :1, quiet, :0]");
    assertThat(pub.ask("PUBSUB NUMSUB")).isEqualTo("[]");
    assertThat(pub.ask("PUBSUB NUMPAT")).isEqualTo(":1");
    assertThat(pub.ask("PUBSUB SHARDCHANNELS")).contains("sharded channels are not served");
    assertThat(pub.ask("SSUBSCRIBE a")).contains("is not served");
    assertThat(pub.ask("PUBSUB NONE")).contains("unknown subcommand");
    assertThat(pub.ask("CLIENT LIST TYPE pubsub")).contains("flags=P").contains("sub=2 psub=1");
    sub.commands("UNSUBSCRIBE other nothing", "PUNSUBSCRIBE", "UNSUBSCRIBE", "UNSUBSCRIBE");
    assertThat(read(sub, 5))
        .containsExactly(
            push + "[unsubscribe, other, :2]",
            push + "[unsubscribe, nothing, :2]",
            push + "[punsubscribe, n*, :1]",
            push + "[unsubscribe, news, :0]",
            push + (resp3 ? "[unsubscribe, _, :0]" : "[unsubscribe, null, :0]"));
    assertThat(pub.ask("PUBLISH news again")).isEqualTo(":0");
    assertThat(sub.ask("PING")).isEqualTo("+PONG");
    assertThat(all.figures().subscribers()).isZero();
  }

  @Test
  void subscriber_ofResp2_mayOnlyDoWhatCannotBeTakenForAMessage() throws Exception {
    RawRedis sub = connect(false);
    RawRedis pub = connect(false);
    sub.ask("SUBSCRIBE c");
    assertThat(sub.ask("get k"))
        .isEqualTo(
            "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT /"
                + " RESET are allowed in this context");
    assertThat(sub.ask("HELLO 3")).startsWith("-ERR Can't execute 'hello'");
    assertThat(sub.ask("PING")).isEqualTo("[pong, ]");
    assertThat(sub.ask("PING x")).isEqualTo("[pong, x]");
    assertThat(sub.ask("RESET")).isEqualTo("+RESET");
    assertThat(pub.ask("PUBLISH c m")).isEqualTo(":0");
    assertThat(sub.ask("PING")).isEqualTo("+PONG");
    sub.ask("PSUBSCRIBE *");
    assertThat(sub.ask("QUIT")).isEqualTo("+OK");
    assertThat(sub.hasEnded()).isTrue();
    await().until(() -> pub.ask("PUBLISH c m").equals(":0"));
  }

  @Test
  void subscriber_ofResp3_doesAllCommands_andHearsItself() throws Exception {
    RawRedis sub = connect(true);
    sub.commands("SUBSCRIBE c", "PUBLISH c m", "PING", "CLIENT REPLY OFF", "PING");
    assertThat(read(sub, 4)) // a message comes behind the answers that there are
        .containsExactly(">[subscribe, c, :1]", ":1", "+PONG", ">[message, c, m]");
    sub.commands("PING", "SUBSCRIBE d", "PUBLISH d n", "CLIENT REPLY ON");
    assertThat(read(sub, 3)).containsExactly(">[subscribe, d, :2]", "+OK", ">[message, d, n]");
  }

  @Test
  void messages_ofMoreThanOneTurn_allCome() throws Exception {
    RawRedis sub = connect(true);
    String[] commands = new String[500];
    Arrays.setAll(commands, i -> i == 0 ? "SUBSCRIBE c" : "PUBLISH c m" + i);
    sub.commands(commands);
    int messages = 0;
    for (int i = 0; i < 2 * commands.length - 1; i++) {
      String line = sub.read();
      if (line.startsWith(">[message")) {
        assertThat(line).isEqualTo(">[message, c, m" + ++messages + "]");
      }
    }
    assertThat(messages).isEqualTo(commands.length - 1);
  }

  @Test
  void databases_haveChannelsOfTheirOwn() throws Exception {
    RawRedis sub = connect(true);
    RawRedis pub = connect(false);
    sub.commands("SUBSCRIBE c", "SELECT 1", "SUBSCRIBE c", "UNSUBSCRIBE nothing");
    assertThat(read(sub, 4))
        .containsExactly(
            ">[subscribe, c, :1]", "+OK", ">[subscribe, c, :2]", ">[unsubscribe, nothing, :2]");
    pub.commands("PUBLISH c shop", "SELECT 1", "PUBLISH c carts");
    assertThat(read(sub, 2)).containsExactly(">[message, c, shop]", ">[message, c, carts]");
    sub.commands("UNSUBSCRIBE c", "PING");
    assertThat(read(sub, 2)).containsExactly(">[unsubscribe, c, :1]", "+PONG");
    assertThat(read(pub, 3)).containsExactly(":1", "+OK", ":1");
    assertThat(pub.ask("PUBLISH c carts")).isEqualTo(":0");
    assertThat(pub.ask("PUBSUB CHANNELS")).isEqualTo("[]");
  }

  /** Who hears of it may look at what was written before. */
  @Test
  void publish_waitsForTheUpdatesBeforeIt_andHoldsUpWhatIsBehindIt() throws Exception {
    RawRedis sub = connect(true);
    RawRedis pub = connect(false);
    sub.ask("SUBSCRIBE c");
    pub.commands("GET k", "INCR k", "INCR k", "PUBLISH c m", "GET k");
    Consumer<Reply> get = next();
    Consumer<Reply> first = next();
    Consumer<Reply> second = next();
    second.accept(done("2"));
    sub.commands("GET other");
    Consumer<Reply> other = next(); // and not what is behind PUBLISH
    other.accept(answer("o"));
    assertThat(sub.read()).as("nothing is published yet").isEqualTo("o");
    get.accept(answer("0"));
    first.accept(done("1"));
    assertThat(sub.read()).isEqualTo(">[message, c, m]");
    next().accept(answer("3"));
    assertThat(read(pub, 5)).containsExactly("0", ":1", ":2", ":1", "3");
  }

  @Test
  void publish_behindAnUpdateWithoutACertainOutcome_isNotDone() throws Exception {
    RawRedis pub = connect(false);
    pub.commands("INCR k", "PUBLISH c m");
    next().accept(new Reply.Failure(ErrorCode.TIMEOUT, "it may be done"));
    assertThat(pub.hasEnded()).isTrue();
    assertThat(all.figures().published()).isZero();
  }

  @Test
  void messages_standBetweenAnswers_andBothKeepTheirOrder() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    RawRedis sub = connect(true);
    RawRedis pub = connect(false);
    sub.commands("SUBSCRIBE c", "PSUBSCRIBE *");
    read(sub, 2);
    int answers = 0;
    int messages = 0;
    for (int round = 0; round < 200; round++) {
      int asks = random.nextInt(4);
      int publishes = random.nextInt(4);
      List<String> gets = new ArrayList<>();
      for (int i = 0; i < asks; i++) {
        gets.add(random.nextBoolean() ? "GET k" : "ECHO " + (answers + i));
      }
      sub.commands(gets.toArray(String[]::new));
      List<Consumer<Reply>> replies = new ArrayList<>();
      List<String> values = new ArrayList<>();
      for (int i = 0; i < asks; i++) {
        if (gets.get(i).equals("GET k")) {
          replies.add(next());
          values.add(String.valueOf(answers + i));
        }
      }
      String[] sent = new String[publishes];
      for (int i = 0; i < publishes; i++) {
        sent[i] = "PUBLISH c m" + (messages + i);
      }
      pub.commands(sent);
      for (int i = replies.size() - 1; i >= 0; i--) {
        replies.get(i).accept(answer(values.get(i)));
      }
      assertThat(read(pub, publishes)).as("seed " + seed).allMatch(":2"::equals);
      for (int i = 0; i < asks + 2 * publishes; i++) {
        String line = sub.read();
        if (line.startsWith(">[message")) {
          assertThat(line).as("seed " + seed).isEqualTo(">[message, c, m" + messages + "]");
          assertThat(sub.read()).isEqualTo(">[pmessage, *, c, m" + messages++ + "]");
          i++;
        } else {
          assertThat(line).as("seed " + seed).isEqualTo(String.valueOf(answers++));
        }
      }
    }
  }

  @Test
  void subscriberThatDoesNotRead_isClosed_andTheOthersAreNot() throws Exception {
    String content = "x".repeat(60_000);
    RawRedis slow = connect(false);
    RawRedis sub = connect(false);
    RawRedis pub = connect(false);
    slow.ask("SUBSCRIBE c");
    sub.ask("SUBSCRIBE c");
    int published = 0;
    String taken;
    do {
      taken = pub.ask("PUBLISH c " + content);
      assertThat(sub.read()).hasSizeGreaterThan(60_000);
      published++;
    } while (taken.equals(":2") && published < 10_000);
    assertThat(taken).isEqualTo(":1");
    assertThat((long) published * content.length())
        .isGreaterThan(Subscriber.WAITING_BYTES_MAX * 9 / 10);
    await().until(() -> all.figures().subscribers() == 1);
    assertThat(all.figures().droppedHere()).isPositive();
    assertThat(pub.ask("PUBLISH c more")).isEqualTo(":1");
    assertThat(sub.read()).isEqualTo("[message, c, more]");
  }

  @Test
  void connectionThatIsKilled_hearsNothingMore() throws Exception {
    RawRedis sub = connect(false);
    RawRedis pub = connect(false);
    sub.ask("PSUBSCRIBE *");
    assertThat(pub.ask("CLIENT KILL TYPE pubsub")).isEqualTo(":1");
    assertThat(sub.hasEnded()).isTrue();
    await().until(() -> all.patternCount() == 0);
    assertThat(pub.ask("PUBLISH c m")).isEqualTo(":0");
  }
}
