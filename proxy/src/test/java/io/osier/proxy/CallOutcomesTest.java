package io.osier.proxy;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.PermanentException;
import io.osier.core.ReplicaId;
import io.osier.core.TransientException;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a caller is told, and when nothing is sent. */
final class CallOutcomesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  private static FakeServer eu(Function<Request, Reply> rest) throws IOException {
    return FakeServer.of(EU, FakeServer.SHOP, rest);
  }

  private static OsierClient.Builder to(FakeServer eu) {
    return FakeServer.patient().endpoint("eu", eu.address());
  }

  private static OsierClient connected(OsierClient.Builder builder) {
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofMinutes(2));
    return client;
  }

  private static Reply of(CrdtType type, Reading reading) {
    return new Reply.Answer(type, reading, VersionVector.EMPTY);
  }

  private static Reply one() {
    return of(CrdtType.PN_COUNTER, new Reading.Count(1));
  }

  private static void pause(CountDownLatch until) {
    try {
      assertThat(until.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void listenerThatThrows_harmsNoCall() throws IOException {
    ClientMetrics broken =
        new ClientMetrics() {
          @Override
          public void answered(String dc, long nanos) {
            throw new IllegalStateException("a fault of the application");
          }

          @Override
          public void failed(String dc, ErrorCode code) {
            throw new IllegalStateException("a fault of the application");
          }
        };
    Function<Request, Reply> answers =
        r -> r instanceof Request.Read ? one() : new Reply.Failure(ErrorCode.WRONG_TYPE, "wrong");
    try (FakeServer eu = eu(answers);
        OsierClient client = connected(to(eu).metrics(broken).inFlightMax(1))) {
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      for (int i = 0; i < 3; i++) {
        assertThat(counter.getAsync()).succeedsWithin(Patience.LIMIT).isEqualTo(1L);
        assertThatThrownBy(() -> counter.increment(1)).is(Refused.with(ErrorCode.WRONG_TYPE));
      }
    }
  }

  /** That what is nested deeper has no time to live is seen of its answer alone. */
  @Test
  void readWhoseAnswerIsOfNoUse_isObservedAsItsCallerSeesIt_ofAFieldToo() {
    FakeInProcess eu = new FakeInProcess();
    Reply map = of(CrdtType.OR_MAP, new Reading.Fields(new TreeMap<>()));
    List<Optional<ErrorCode>> outcomes = new ArrayList<>();
    ClientObserver observer =
        (keyspace, update) -> (datacenter, error) -> outcomes.add(error.map(OsierException::code));
    try (OsierClient client = OsierClient.inProcess(eu, OsierClient.builder().observer(observer))) {
      MapHandle handle = client.session().keyspace("shop").map("m");
      eu.handler = (request, reply) -> reply.accept(map);
      assertThat(handle.register("r").get()).isEmpty();
      assertThatThrownBy(() -> handle.map("in").timeToLive("x"))
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
      eu.handler = (request, reply) -> reply.accept(one());
      assertThatThrownBy(handle::get).is(Refused.with(ErrorCode.INTERNAL));
      assertThatThrownBy(handle.register("r")::get).is(Refused.with(ErrorCode.INTERNAL));
    }
    assertThat(outcomes)
        .containsExactly(
            Optional.empty(),
            Optional.of(ErrorCode.INVALID_ARGUMENT),
            Optional.of(ErrorCode.INTERNAL),
            Optional.of(ErrorCode.INTERNAL));
  }

  @Test
  void datacenterThatDoesNotKnow_leavesAnUpdateUnknown_butNotARead() throws IOException {
    try (FakeServer eu = eu(r -> new Reply.Failure(ErrorCode.TIMEOUT, "it failed at this"));
        OsierClient client = connected(to(eu))) {
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      assertThatThrownBy(() -> counter.increment(1)).isInstanceOf(OutcomeUnknownException.class);
      assertThatThrownBy(counter::get)
          .isExactlyInstanceOf(TransientException.class)
          .is(Refused.with(ErrorCode.TIMEOUT));
    }
  }

  @Test
  void callsBeyondTheLimit_waitForRoom_alsoAsynchronousOnes() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    try (FakeServer eu =
            eu(
                r -> {
                  pause(held);
                  return new Reply.Done(new Dot(EU, 1));
                });
        OsierClient client = connected(to(eu).inFlightMax(1))) {
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      CompletableFuture<Void> first = counter.incrementAsync(1);
      CompletableFuture<CompletableFuture<Void>> second = new CompletableFuture<>();
      Thread caller = Thread.ofPlatform().start(() -> second.complete(counter.incrementAsync(1)));
      await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
      assertThat(second).isNotDone();
      assertThat(eu.requests).hasSizeLessThan(2);
      held.countDown();
      first.get(Patience.SECONDS, TimeUnit.SECONDS);
      second.get(Patience.SECONDS, TimeUnit.SECONDS).get(Patience.SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Before, as many could wait for the first one as somebody asked for. */
  @Test
  void stepsOfATransaction_takeRoom_alsoWhileTheyWait() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    VersionVector clock = VersionVector.of(EU, 1);
    try (FakeServer eu =
            FakeServer.of(
                EU,
                List.of(new Reply.KeyspaceInfo("bank", 2_000, 1, true)),
                request ->
                    switch (request) {
                      case Request.Transact t -> {
                        if (t.step() == 2 && !t.reads().isEmpty()) {
                          pause(held);
                        }
                        int answers = t.reads().size();
                        yield new Reply.Transacted(
                            clock,
                            Optional.empty(),
                            Collections.nCopies(answers, (Reply.Answer) one()));
                      }
                      default -> new Reply.Pong();
                    });
        OsierClient client = connected(to(eu).inFlightMax(2))) {
      Keyspace bank = client.session().keyspace("bank");
      Transaction other = bank.begin();
      Transaction tx = bank.begin();
      tx.counter("c").increment(1);
      CompletableFuture<Long> first = tx.counter("c").getAsync();
      CompletableFuture<Long> second = tx.counter("c").getAsync();
      tx.counter("c").increment(1);
      Thread.currentThread().interrupt(); // so it does not wait for room
      assertThatThrownBy(tx::commit)
          .isExactlyInstanceOf(PermanentException.class)
          .is(Refused.with(ErrorCode.CANCELLED))
          .hasMessageContaining("2 calls of this client are under way (inFlightMax)");
      other.close(); // needs none
      assertThatThrownBy(() -> bank.counter("c").get()).is(Refused.with(ErrorCode.CANCELLED));
      assertThat(Thread.interrupted()).isTrue();
      held.countDown();
      assertThat(first.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
      assertThat(second.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
      for (int i = 0; i < 5; i++) {
        assertThat(tx.counter("c").get()).isOne();
      }
      assertThat(tx.commit()).as("what was refused left it open").isEqualTo(clock);
      assertThatThrownBy(tx::commit).is(Refused.with(ErrorCode.TRANSACTION_ENDED));
      assertThat(client.close(Duration.ofMinutes(1))).as("all places are free again").isTrue();
      long updates =
          eu.requests.stream()
              .filter(Request.Transact.class::isInstance)
              .mapToLong(r -> ((Request.Transact) r).updates().size())
              .sum();
      assertThat(updates).as("also that of the commit that was refused").isEqualTo(2);
    }
  }

  @Test
  void synchronousCallInACallback_isRefused_insteadOfWaitingForItself() throws Exception {
    try (FakeServer eu = eu(r -> one());
        OsierClient client = connected(to(eu))) {
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      CountDownLatch attached = new CountDownLatch(1);
      CompletableFuture<Long> twice =
          counter
              .getAsync()
              .thenCompose(
                  v -> {
                    try {
                      attached.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                    return counter.getAsync();
                  })
              .thenApply(v -> counter.get());
      attached.countDown();
      assertThatThrownBy(() -> twice.get(Patience.SECONDS, TimeUnit.SECONDS))
          .cause()
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
          .hasMessageContaining("callback");
    }
  }

  @Test
  void closedClient_saysSo() throws IOException {
    try (FakeServer eu = eu(r -> one())) {
      OsierClient client = connected(to(eu));
      CounterHandle counter = client.session().keyspace("shop").counter("c");
      client.close();
      assertThatThrownBy(counter::get).hasMessageContaining("client is closed");
      assertThatThrownBy(() -> client.awaitConnected(Duration.ofMillis(1)))
          .hasMessageContaining("client is closed");
    }
  }

  @Test
  void callThatPausesBeforeItsNextTry_endsWithTheClient() {
    OsierClient client = OsierClient.builder().endpoint("eu", "127.0.0.1:1").build();
    CompletableFuture<Long> read = client.session().keyspace("shop").counter("c").getAsync();
    client.close();
    assertThatThrownBy(() -> read.get(Patience.SECONDS, TimeUnit.SECONDS))
        .hasMessageContaining("closed");
  }

  @Test
  void callThatADatacenterInThisProcessDoesNotAnswer_endsWithTheClient() {
    FakeInProcess silent = new FakeInProcess();
    OsierClient client = OsierClient.inProcess(silent);
    CompletableFuture<Void> write =
        client.session().keyspace("shop").register("r").assignAsync(Value.of(1));
    client.close();
    assertThatThrownBy(() -> write.get(Patience.SECONDS, TimeUnit.SECONDS))
        .hasCauseInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void updateWhoseConnectionIsLost_hasAnUnknownOutcome() throws IOException {
    try (FakeServer eu = eu(r -> null);
        OsierClient client = connected(to(eu))) {
      CompletableFuture<Void> update =
          client.session().keyspace("shop").counter("c").incrementAsync(1);
      await().until(() -> !eu.requests.isEmpty());
      eu.drop();
      assertThatThrownBy(update::join).hasCauseInstanceOf(OutcomeUnknownException.class);
    }
  }

  @Test
  void failure_comesWithItsCode() throws IOException {
    try (FakeServer eu =
            eu(
                r ->
                    r instanceof Request.Keyspaces
                        ? new Reply.Keyspaces(FakeServer.SHOP)
                        : new Reply.Failure(ErrorCode.OVERLOADED, "full"));
        OsierClient client = connected(to(eu))) {
      refused(
          ErrorCode.OVERLOADED, () -> client.session().keyspace("shop").counter("c").increment(1));
      assertThatThrownBy(() -> client.session().keyspace("nope").counter("c").increment(1))
          .hasMessageContaining("shop")
          .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
    }
  }

  /** As while a datacenter starts, and another creation of the keyspace is opened. */
  @Test
  void keyspacesThatAreNotToldYet_areAskedForAgain() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    Function<Request, Reply> answers =
        r ->
            r instanceof Request.Keyspaces
                ? asked.incrementAndGet() < 4
                    ? new Reply.Failure(ErrorCode.UNAVAILABLE, "not yet")
                    : new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("new", 500, 1, false)))
                : one();
    try (FakeServer eu = eu(answers);
        OsierClient client = connected(to(eu))) {
      assertThat(client.session().keyspace("new").counter("c").get()).isEqualTo(1);
      assertThat(asked).hasValue(4);
    }
  }

  @Test
  void wrongSettings_areNamed() {
    assertThatThrownBy(() -> OsierClient.builder().build()).hasMessageContaining("endpoint");
    assertThatThrownBy(() -> OsierClient.builder().endpoint("eu", "nowhere").build())
        .hasMessageContaining("host:port");
    assertThatThrownBy(() -> OsierClient.builder().endpoint("eu", "a:1").prefer("us").build())
        .hasMessageContaining("us")
        .hasMessageContaining("eu");
    assertThatThrownBy(() -> OsierClient.builder().timeout(Duration.ZERO))
        .hasMessageContaining("timeout");
  }
}
