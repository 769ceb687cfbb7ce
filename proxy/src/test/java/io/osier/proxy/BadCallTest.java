package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.InvalidRequestException;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.PermanentException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.values.ValueCodec;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is wrong with a call is said before it is sent, and harms no other call. */
@NullUnmarked // it passes what must not be null
final class BadCallTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  private final CountDownLatch otherIsAsked = new CountDownLatch(1);
  private final CountDownLatch badIsAnswered = new CountDownLatch(1);
  private FakeServer eu;
  private OsierClient client;
  private Keyspace shop;

  @BeforeEach
  void start() throws IOException {
    eu = new FakeServer(this::answer);
    client = FakeServer.patient().endpoint("eu", eu.address()).build();
    client.awaitConnected(Duration.ofMinutes(2));
    shop = client.session().keyspace("shop");
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    eu.close();
  }

  private Reply answer(Request request) {
    return switch (request) {
      case Greeting.Hello h ->
          new Reply.Welcome(1, EU, List.of(new Reply.KeyspaceInfo("shop", 2_000, 1, false)));
      case Request.Ping p -> new Reply.Pong();
      case Request.Read r -> r.key().equals(Key.of("deep")) ? badAnswer() : otherAnswer();
      default -> null;
    };
  }

  private Reply badAnswer() {
    await(otherIsAsked);
    return new Reply.Answer(Optional.of(CrdtType.OR_MAP), deep(20), true, VersionVector.EMPTY);
  }

  private Reply otherAnswer() {
    otherIsAsked.countDown();
    await(badIsAnswered);
    return new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.EMPTY);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Optional<Reading> deep(int levels) {
    Reading reading = new Reading.Count(1);
    for (int i = 0; i < levels; i++) {
      TreeMap<FieldId, Reading> fields = new TreeMap<>();
      fields.put(new FieldId("f", i == 0 ? CrdtType.PN_COUNTER : CrdtType.OR_MAP), reading);
      reading = new Reading.Fields(fields);
    }
    return Optional.of(reading);
  }

  private static ThrowingConsumer<Throwable> code(ErrorCode code) {
    return e -> assertThat(((OsierException) e).code()).isEqualTo(code);
  }

  private void refused(ErrorCode code, String words, ThrowingCallable call) {
    assertThatThrownBy(call).satisfies(code(code)).hasMessageContaining(words);
    assertThat(eu.requests).isEmpty();
  }

  @Test
  void errorOfACodec_isOfTheClassThatSaysWhatToDo() {
    ValueCodec<String> none =
        new ValueCodec<>() {
          @Override
          public Value encode(String text) {
            throw new OsierException(ErrorCode.INVALID_ARGUMENT, "no " + text);
          }

          @Override
          public String decode(Value value) {
            throw new OsierException(ErrorCode.MALFORMED, "not " + value);
          }
        };
    assertThatThrownBy(() -> new CheckedCodec<>(none).object(Value.of("b")))
        .isExactlyInstanceOf(PermanentException.class)
        .hasMessage("MALFORMED: not b");
    assertThatThrownBy(() -> shop.register("r").as(none).assign("a"))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessage("INVALID_ARGUMENT: no a");
  }

  @Test
  void whatIsTooDeepOrTooLarge_isNotSent() {
    MapHandle map = shop.map("m");
    for (int i = 0; i < 20; i++) {
      map = map.map("f");
    }
    CounterHandle deep = map.counter("c");
    refused(ErrorCode.INVALID_ARGUMENT, "12 levels", () -> deep.increment(1));
    Value large = Value.of(new byte[17 << 20]);
    refused(ErrorCode.VALUE_TOO_LARGE, "limit", () -> shop.register("r").assign(large));
    Keyspace.Get get = new Keyspace.Get("k", CrdtType.PN_COUNTER);
    List<Keyspace.Get> many = Collections.nCopies(10_001, get);
    refused(ErrorCode.INVALID_ARGUMENT, "10000", () -> shop.readTogether(many));
    for (int limit : List.of(-1, 0, 10_001)) {
      refused(
          ErrorCode.INVALID_ARGUMENT,
          "1 to 10000",
          () -> shop.scan(Optional.empty(), Optional.empty(), new Query.Whole(), limit));
    }
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "at least 0",
        () -> Calls.join(client.inspectAsync("eu", Request.Topic.HOT, Optional.empty(), -1)));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "at least 0",
        () -> Calls.join(client.inspectAsync(Request.Topic.HOT, "shop", -1)));
  }

  @Test
  void whatIsMissing_isNamed() {
    refused(ErrorCode.INVALID_ARGUMENT, "a key", () -> shop.counter(null));
    refused(ErrorCode.INVALID_ARGUMENT, "a key", () -> Key.of((String) null));
    refused(ErrorCode.INVALID_ARGUMENT, "a keyspace's name", () -> client.session().keyspace(null));
    refused(ErrorCode.INVALID_ARGUMENT, "a value", () -> shop.register("r").assign((Value) null));
    refused(ErrorCode.INVALID_ARGUMENT, "a value", () -> shop.register("r").assign((String) null));
    refused(ErrorCode.INVALID_ARGUMENT, "a value", () -> shop.set("s").add("a", null));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "an element",
        () -> shop.set("s").add(Arrays.asList(Value.of(1), null)));
    refused(ErrorCode.INVALID_ARGUMENT, "an element", () -> shop.set("s").contains(null));
    refused(ErrorCode.INVALID_ARGUMENT, "a field's name", () -> shop.map("m").counter(null));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "a key",
        () -> shop.update(null, CrdtType.PN_COUNTER, new Operation.Increment(1)));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "an operation",
        () -> shop.update(Key.of("k"), CrdtType.PN_COUNTER, null));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "a query",
        () -> shop.read(Key.of("k"), Optional.empty(), null));
    assertThatThrownBy(() -> OsierClient.builder().endpoint("eu", null))
        .hasMessageContaining("address");
    assertThatThrownBy(() -> OsierClient.builder().name("n".repeat(129)))
        .hasMessageContaining("128 bytes");
  }

  @Test
  void answerThatCannotBeRead_failsItsOwnCallAlone() throws Exception {
    CompletableFuture<Long> other = shop.counter("c").getAsync();
    assertThatThrownBy(() -> shop.map("deep").get()).satisfies(code(ErrorCode.MALFORMED));
    badIsAnswered.countDown();
    assertThat(other.get(120, TimeUnit.SECONDS)).isEqualTo(7);
    assertThat(eu.requests).as("nothing was sent again").hasSize(2);
  }
}
