package io.osier.proxy;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.net.Framing;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@NullUnmarked // null stands for no answer
final class SessionTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private static Reply done(ReplicaId who, long number) {
    return new Reply.Done(new Dot(who, number));
  }

  private static Reply count(long value, VersionVector seen) {
    return new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(value), seen);
  }

  private static OsierClient client(FakeServer eu, FakeServer us) {
    OsierClient.Builder builder = FakeServer.patient().endpoint("eu", eu.address()).prefer("eu");
    if (us != null) {
      builder.endpoint("us", us.address());
    }
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofMinutes(2));
    // Which one connects first is chance; the tests begin at eu.
    Awaitility.await().until(() -> client.nearest().filter("eu"::equals).isPresent());
    return client;
  }

  @Test
  void vector_goesWithTheFirstRequestAtAnotherDatacenter_only() throws IOException {
    try (FakeServer eu = FakeServer.of(EU, FakeServer.SHOP, r -> done(EU, 5));
        FakeServer us = FakeServer.of(US, FakeServer.SHOP, r -> count(1, VersionVector.of(US, 3)));
        OsierClient client = client(eu, us)) {
      Awaitility.await()
          .until(() -> client.status().stream().allMatch(OsierClient.Status::connected));
      Session session = client.session();
      CounterHandle counter = session.keyspace("shop").counter("c");
      counter.increment(1);
      counter.increment(1);
      assertThat(((Request.Write) eu.requests.get(1)).after().isEmpty()).isTrue();
      eu.close();
      assertThat(counter.get()).isEqualTo(1);
      assertThat(counter.get()).isEqualTo(1);
      assertThat(((Request.Read) us.requests.get(0)).after()).isEqualTo(VersionVector.of(EU, 5));
      assertThat(((Request.Read) us.requests.get(1)).after().isEmpty()).isTrue();
      assertThat(session.datacenter()).contains("us");
    }
  }

  /** A session that is moved between two datacenters; answers wait while held. */
  private static final class Roaming implements AutoCloseable {
    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
    private final FakeServer eu = server(EU, 9);
    private final FakeServer us = server(US, 3);
    private final OsierClient client =
        FakeServer.patient().endpoint("eu", eu.address()).endpoint("us", us.address()).build();
    private final Session session = client.session();
    private final Keyspace shop = session.keyspace("shop");

    Roaming() throws IOException {
      client.awaitConnected(Duration.ofMinutes(2));
      moveTo("eu");
    }

    private FakeServer server(ReplicaId who, long number) throws IOException {
      return FakeServer.of(
          who,
          FakeServer.SHOP,
          request ->
              switch (request) {
                case Request.Read r -> {
                  await(r.key());
                  yield count(1, VersionVector.of(who, number));
                }
                case Request.Write w -> {
                  await(w.key());
                  yield done(who, number);
                }
                default -> null;
              });
    }

    private void await(Key key) {
      try {
        held.getOrDefault(key.toString(), new CountDownLatch(0)).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    void hold(String key) {
      held.put(Key.of(key).toString(), new CountDownLatch(1));
    }

    void release(String key) {
      held.get(Key.of(key).toString()).countDown();
    }

    void moveTo(String dc) {
      session.pin(dc);
    }

    VersionVector nextCarries(FakeServer at) {
      int before = at.requests.size();
      shop.counter("next").get();
      assertThat(at.requests).hasSize(before + 1);
      return ((Request.Read) at.requests.getLast()).after();
    }

    static void arrived(FakeServer at, int requests) {
      Awaitility.await().until(() -> at.requests.size() == requests);
    }

    @Override
    public void close() throws IOException {
      held.values().forEach(CountDownLatch::countDown);
      client.close();
      eu.close();
      us.close();
    }
  }

  @Test
  void lateAnswerOfADatacenterThatWasLeft_makesTheVectorGoAgain() throws IOException {
    try (Roaming r = new Roaming()) {
      r.hold("late");
      CompletableFuture<Void> late = r.shop.counter("late").incrementAsync(1);
      Roaming.arrived(r.eu, 1);
      r.moveTo("us");
      assertThat(r.nextCarries(r.us).isEmpty()).isTrue();
      r.release("late");
      late.join();
      assertThat(r.nextCarries(r.us))
          .isEqualTo(VersionVector.of(EU, 9).join(VersionVector.of(US, 3)));
      assertThat(r.nextCarries(r.us).isEmpty()).isTrue();
    }
  }

  @Test
  void answerToARequestThatDidNotCarryAllThatIsSeenByNow_doesNotAttach() throws IOException {
    try (Roaming r = new Roaming()) {
      r.hold("late");
      r.hold("slow");
      CompletableFuture<Void> late = r.shop.counter("late").incrementAsync(1);
      Roaming.arrived(r.eu, 1);
      r.moveTo("us");
      CompletableFuture<Long> slow = r.shop.counter("slow").getAsync();
      Roaming.arrived(r.us, 1);
      r.release("late");
      late.join();
      r.release("slow");
      slow.join();
      assertThat(r.nextCarries(r.us).get(EU)).isEqualTo(9);
    }
  }

  @Test
  void answerFromBeforeAJourneyThereAndBack_doesNotAttach() throws IOException {
    try (Roaming r = new Roaming()) {
      r.hold("late");
      r.hold("slow");
      CompletableFuture<Long> late = r.shop.counter("late").getAsync();
      Roaming.arrived(r.eu, 1);
      r.moveTo("us");
      r.shop.counter("c").get();
      r.moveTo("eu");
      CompletableFuture<Long> slow = r.shop.counter("slow").getAsync();
      Roaming.arrived(r.eu, 2);
      r.release("late");
      late.join();
      assertThat(r.nextCarries(r.eu).get(US)).isEqualTo(3);
      r.release("slow");
      slow.join();
    }
  }

  @Test
  void newIncarnation_isShownTheVectorAgain() throws IOException {
    AtomicReference<ReplicaId> who = new AtomicReference<>(EU);
    try (FakeServer eu = FakeServer.of(who::get, FakeServer.SHOP, r -> done(who.get(), 5));
        OsierClient client = client(eu, null)) {
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      counter.increment(1);
      who.set(new ReplicaId("eu", 2));
      eu.drop();
      Awaitility.await()
          .until(() -> client.status().getFirst().replica().equals(Optional.of(who.get())));
      counter.increment(1);
      assertThat(((Request.Write) eu.requests.getLast()).after())
          .isEqualTo(VersionVector.of(EU, 5));
    }
  }

  /** What a process had others do for the former connection it does not know of the next one. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void requestForAFormerConnection_isNotSentOverTheOneThatTookItsPlace(long incarnation)
      throws IOException {
    AtomicReference<ReplicaId> who = new AtomicReference<>(EU);
    try (FakeServer eu =
            FakeServer.of(who::get, FakeServer.SHOP, r -> count(1, VersionVector.EMPTY));
        OsierClient client = client(eu, null)) {
      Connection connection = client.core().datacenters().get("eu");
      ReplicaId first = requireNonNull(connection.replica());
      assertThat(answered(connection, first).join()).isInstanceOf(Reply.Answer.class);
      who.set(new ReplicaId("eu", incarnation));
      eu.drop();
      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(connection.replica()).isNotSameAs(first);
                assertThat(connection.isUp()).isTrue();
              });
      assertThatThrownBy(() -> answered(connection, first).join())
          .hasCauseInstanceOf(LostException.class)
          .hasMessageContaining("connected anew");
      ReplicaId next = requireNonNull(connection.replica());
      assertThat(next).isEqualTo(who.get());
      assertThat(answered(connection, next).join()).isInstanceOf(Reply.Answer.class);
      assertThat(eu.requests).hasSize(2);
    }
  }

  /** A read that is made for one connection. */
  private static CompletableFuture<Reply> answered(Connection by, ReplicaId process) {
    CompletableFuture<Reply> result = new CompletableFuture<>();
    long now = System.nanoTime();
    by.send(
        process,
        new Request.Read(
            "shop",
            Key.of("c"),
            Optional.empty(),
            new Query.Whole(),
            VersionVector.EMPTY,
            false,
            0),
        now,
        now + Patience.LIMIT.toNanos(),
        Connection.Answered.of(result));
    return result;
  }

  @Test
  void callThatIsNotSent_leavesNothingUnderWay() throws IOException {
    Function<Request, Reply> reads =
        r -> r instanceof Request.Read ? count(7, VersionVector.EMPTY) : null;
    try (FakeServer eu = FakeServer.of(EU, FakeServer.SHOP, reads);
        OsierClient client = client(eu, null)) {
      Keyspace shop = client.session().keyspace("shop");
      Operation large =
          new Operation.Assign(Value.of(new byte[Framing.CLIENT_FRAME_BYTES_MAX / 5]));
      List<Keyspace.Change> many =
          Collections.nCopies(5, new Keyspace.Change("c", CrdtType.LWW_REGISTER, large));
      refused(ErrorCode.VALUE_TOO_LARGE, () -> shop.updateTogether(many));
      assertThat(shop.counter("c").get()).isEqualTo(7);
      Request.Read read = (Request.Read) eu.requests.getLast();
      assertThat(read.ordered()).as("no update is under way").isFalse();
      assertThat(eu.requests).as("the update was not sent").hasSize(1);
    }
  }

  @Test
  void read_isTriedElsewhere_whenTheConnectionIsLostOrTheDatacenterIsBehind() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    try (FakeServer eu =
            FakeServer.of(
                EU,
                FakeServer.SHOP,
                r -> {
                  asked.incrementAndGet();
                  return new Reply.Failure(ErrorCode.SESSION_BEHIND, "not yet");
                });
        FakeServer us = FakeServer.of(US, FakeServer.SHOP, r -> count(7, VersionVector.EMPTY));
        OsierClient client = client(eu, us)) {
      Awaitility.await()
          .until(() -> client.status().stream().allMatch(OsierClient.Status::connected));
      assertThat(client.session().keyspace("shop").counter("c").get()).isEqualTo(7);
      assertThat(asked.get()).isEqualTo(1);
    }
  }

  @Test
  void answersOutOfOrder_findTheirRequests_andGarbageClosesTheConnection() throws IOException {
    try (FakeServer eu =
            FakeServer.of(
                EU,
                FakeServer.SHOP,
                r -> count(((Request.Read) r).key().length(), VersionVector.EMPTY));
        OsierClient client = client(eu, null)) {
      Keyspace shop = client.session().keyspace("shop");
      CompletableFuture<Long> a = shop.counter("x").getAsync();
      CompletableFuture<Long> b = shop.counter("xyz").getAsync();
      assertThat(b.join()).isEqualTo(3);
      assertThat(a.join()).isEqualTo(1);
    }
  }
}
