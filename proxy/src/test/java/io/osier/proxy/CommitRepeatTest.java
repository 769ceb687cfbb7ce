package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.OsierException;
import io.osier.core.PermanentException;
import io.osier.core.ReplicaId;
import io.osier.core.TransientException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.call.Coordinator;
import io.osier.proxy.call.StepSender;
import io.osier.testing.Faked;
import io.osier.testing.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** Commits whose first answer is lost, and whose repeats are refused. */
@NullUnmarked // null stands for no answer
final class CommitRepeatTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final List<Keyspace.Change> CHANGES =
      List.of(new Keyspace.Change("c", CrdtType.PN_COUNTER, new Operation.Increment(1)));

  private static Reply.Transacted transacted(ReplicaId who, long number) {
    return new Reply.Transacted(
        VersionVector.of(who, number), Optional.of(new Dot(who, number)), List.of());
  }

  /**
   * A datacenter that breaks the connection instead of answering a commit.
   *
   * @param later what its n-th repeat is answered, from 1
   */
  private static FakeServer losesFirst(AtomicInteger repeats, IntFunction<Reply> later)
      throws IOException {
    AtomicReference<FakeServer> server = new AtomicReference<>();
    Function<Request, Reply> answers =
        request ->
            switch (request) {
              case Greeting.Hello h -> welcome(EU);
              case Request.Ping p -> new Reply.Pong();
              case Request.Transact t -> {
                if (t.end() != Request.End.COMMIT) {
                  yield transacted(EU, 3);
                }
                drop(server.get());
                yield null;
              }
              case Request.Repeat r -> later.apply(repeats.incrementAndGet());
              default -> null;
            };
    server.set(new FakeServer(answers));
    return server.get();
  }

  private static void drop(FakeServer server) {
    try {
      server.drop();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Reply welcome(ReplicaId who) {
    return new Reply.Welcome(1, who, List.of(new Reply.KeyspaceInfo("bank", 2_000, 1, true)));
  }

  private static FakeServer other() throws IOException {
    return new FakeServer(
        request ->
            switch (request) {
              case Greeting.Hello h -> welcome(US);
              case Request.Ping p -> new Reply.Pong();
              default -> transacted(US, 1);
            });
  }

  private static OsierClient client(FakeServer eu, FakeServer us) {
    OsierClient client =
        FakeServer.patient()
            .endpoint("eu", eu.address())
            .endpoint("us", us.address())
            .prefer("eu")
            .build();
    await().until(() -> client.status().stream().allMatch(OsierClient.Status::connected));
    await().until(() -> client.nearest().filter("eu"::equals).isPresent()); // us may be up first
    return client;
  }

  @Test
  void repeatThatIsRefusedForAWhile_isAnsweredInTheEnd() throws IOException {
    AtomicInteger commits = new AtomicInteger();
    IntFunction<Reply> later =
        n -> n < 4 ? new Reply.Failure(ErrorCode.OVERLOADED, "full") : transacted(EU, 7);
    try (FakeServer eu = losesFirst(commits, later);
        FakeServer us = other();
        OsierClient client = client(eu, us)) {
      Keyspace bank = client.session().keyspace("bank");
      bank.updateTogether(CHANGES);
      assertThat(commits.getAndSet(0)).isEqualTo(4);
      assertThat(bank.clock()).isEqualTo(VersionVector.of(EU, 7));
      Transaction tx = bank.begin();
      tx.counter("c").increment(1);
      assertThat(tx.commit()).isEqualTo(VersionVector.of(EU, 7));
      assertThat(commits).hasValue(4);
    }
  }

  @Test
  void firstAnswerThatIsARefusal_isBelieved() throws IOException {
    FakeServer full =
        new FakeServer(
            request ->
                switch (request) {
                  case Greeting.Hello h -> welcome(EU);
                  case Request.Ping p -> new Reply.Pong();
                  default -> new Reply.Failure(ErrorCode.OVERLOADED, "full");
                });
    try (FakeServer eu = full;
        FakeServer us = other();
        OsierClient client = client(eu, us)) {
      Throwable refused =
          catchThrowable(() -> client.session().keyspace("bank").updateTogether(CHANGES));
      assertThat(refused).isExactlyInstanceOf(TransientException.class);
      assertThat(((OsierException) refused).code()).isEqualTo(ErrorCode.OVERLOADED);
      assertThat(eu.requests).hasSize(1);
    }
  }

  @Test
  void repeatThatEndsTheTransaction_isACertainFailure_andOneThatIsForgottenIsUnknown()
      throws IOException {
    AtomicReference<ErrorCode> code = new AtomicReference<>(ErrorCode.TRANSACTION_ENDED);
    try (FakeServer eu =
            losesFirst(new AtomicInteger(), n -> new Reply.Failure(code.get(), "so it is"));
        FakeServer us = other();
        OsierClient client = client(eu, us)) {
      Keyspace bank = client.session().keyspace("bank");
      assertThatThrownBy(() -> bank.updateTogether(CHANGES))
          .isExactlyInstanceOf(PermanentException.class);
      code.set(ErrorCode.TRANSACTION_FORGOTTEN);
      assertThatThrownBy(() -> bank.updateTogether(CHANGES))
          .isInstanceOf(OutcomeUnknownException.class);
      assertThat(us.requests).isEmpty();
    }
  }

  /** A connection on which a test decides what becomes of each sending, in turn. */
  private static Connection connection(List<Request> sent, IntFunction<Object> fates) {
    return Faked.of(
        Connection.class,
        (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "isUp" -> {
              return true;
            }
            case "replica" -> {
              return EU;
            }
            case "send" -> {
              sent.add((Request) arguments[0]);
              Connection.Answered answered = (Connection.Answered) arguments[arguments.length - 1];
              Object fate = fates.apply(sent.size());
              if (fate instanceof LostException lost) {
                answered.lost(lost);
              } else {
                answered.answered((Reply) fate);
              }
              return null;
            }
            default -> throw new AssertionError("unexpected " + method);
          }
        });
  }

  private static final Request.Transact STEP =
      new Request.Transact(
          "bank",
          new TransactionId(1, 2),
          3,
          Optional.empty(),
          List.of(),
          List.of(),
          Request.End.COMMIT);
  private static final Request.Repeat AGAIN = new Request.Repeat(EU, 5, STEP);

  @Test
  void limitOfThisClient_isNoAnswerToWhatMayHaveArrived() throws IOException {
    try (FakeServer eu = other();
        FakeServer us = other();
        OsierClient client = client(eu, us)) {
      long deadline = System.nanoTime() + Patience.LIMIT.toNanos();
      LostException full = new LostException(ErrorCode.OVERLOADED, false, "too many are open");
      LostException cut = new LostException(ErrorCode.UNAVAILABLE, true, "cut");
      List<Request> sent = new CopyOnWriteArrayList<>();
      Connection first = connection(sent, n -> full);
      CompletableFuture<Reply> never =
          new StepSender(client.core(), new Coordinator(first, EU), AGAIN, deadline).start();
      assertThatThrownBy(never::join).hasCauseExactlyInstanceOf(TransientException.class);
      assertThat(sent).as("it was not sent").hasSize(1);
      sent.clear();
      Connection later = connection(sent, n -> n == 1 ? cut : n < 4 ? full : transacted(EU, 9));
      CompletableFuture<Reply> once =
          new StepSender(client.core(), new Coordinator(later, EU), AGAIN, deadline).start();
      assertThat(once.join()).isEqualTo(transacted(EU, 9));
      assertThat(sent.getLast()).isEqualTo(AGAIN);
    }
  }

  /** A datacenter that breaks the connection instead of answering the first commit. */
  private static FakeServer losesFirstCommit(
      AtomicReference<ReplicaId> who, AtomicInteger commits, ReplicaId holder) throws IOException {
    AtomicReference<FakeServer> server = new AtomicReference<>();
    Function<Request, Reply> answers =
        request ->
            switch (request) {
              case Greeting.Hello h -> welcome(who.get());
              case Request.Ping p -> new Reply.Pong();
              case Request.Transact t -> {
                if (t.end() == Request.End.COMMIT && commits.incrementAndGet() == 1) {
                  drop(server.get());
                  yield null;
                }
                yield transacted(holder, 7);
              }
              case Request.Repeat r -> {
                commits.incrementAndGet();
                yield transacted(holder, 7);
              }
              default -> null;
            };
    server.set(new FakeServer(answers));
    return server.get();
  }

  @Test
  void commitWhoseAnswerIsLost_isSentAgain_toTheSameProcessOnly() throws IOException {
    AtomicReference<ReplicaId> who = new AtomicReference<>(EU);
    AtomicInteger commits = new AtomicInteger();
    try (FakeServer eu = losesFirstCommit(who, commits, EU);
        OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
      Keyspace bank = client.session().keyspace("bank");
      Transaction tx = bank.begin();
      tx.counter("c").increment(1);
      assertThat(tx.commit()).isEqualTo(VersionVector.of(EU, 7));
      assertThat(commits).hasValue(2);
      Request.Transact first = (Request.Transact) eu.requests.get(1);
      assertThat(eu.requests.get(2)).as("marked").isEqualTo(new Request.Repeat(EU, 7, first));
      assertThat(bank.clock()).isEqualTo(VersionVector.of(EU, 7));

      commits.set(0);
      bank.updateTogether(CHANGES);
      assertThat(commits).as("the same, in one request").hasValue(2);

      commits.set(0);
      Transaction lost = bank.begin();
      lost.counter("c").increment(1);
      who.set(new ReplicaId("eu", EU.incarnation() + 1)); // it comes back without its memory
      assertThatThrownBy(lost::commit).isInstanceOf(OutcomeUnknownException.class);
      assertThat(commits).hasValue(1);
    }
  }

  /** Another term of it may not remember what this one has done, nor its numbers. */
  @Test
  void commitOfAHolderThatWasAddedAgain_isAskedForAgain_ofThatTerm() throws IOException {
    ReplicaId holder = HolderTerms.in(EU, Map.of("eu", 1));
    AtomicInteger commits = new AtomicInteger();
    try (FakeServer eu = losesFirstCommit(new AtomicReference<>(EU), commits, holder);
        OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
      Keyspace bank = client.session().keyspace("bank");
      Transaction tx = bank.begin();
      tx.counter("c").increment(1);
      tx.commit();
      commits.set(0);
      bank.updateTogether(CHANGES);
      List<Request> repeats =
          eu.requests.stream().filter(Request.Repeat.class::isInstance).toList();
      assertThat(repeats)
          .hasSize(2)
          .allSatisfy(
              r -> {
                Request.Repeat again = (Request.Repeat) r;
                assertThat(again).isEqualTo(new Request.Repeat(holder, 7, again.step()));
              });
    }
  }
}
