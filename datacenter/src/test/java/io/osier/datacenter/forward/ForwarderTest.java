package io.osier.datacenter.forward;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** In virtual time, between holders that do what the test says. */
final class ForwarderTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final Key KEY = Key.of("k");
  private static final long BYTES = 1 << 20;

  /** A connection, which is known by its object. */
  private final Object lane = new Object();

  private final World world = new World();
  private final ByteBudget bytes = new ByteBudget(BYTES);
  private final Forwarder forwarder =
      new Forwarder("ap", world, bytes, () -> world.now, Runnable::run);
  private final List<Reply> replies = new ArrayList<>();

  /** What one was asked. */
  private record Sent(String dc, ForwardedRequest head, Request request) {}

  private static final class World implements Forwarder.Around {
    final Set<String> up = new TreeSet<>();
    final Queue<Sent> sent = new ArrayDeque<>();
    final Queue<Runnable> later = new ArrayDeque<>();
    VersionVector before = VersionVector.EMPTY;
    boolean cut;
    long now = -7;

    @Override
    public Optional<Forwarder.Held> holders(String keyspace) {
      return keyspace.equals("shop")
          ? Optional.of(new Forwarder.Held(List.of("eu", "us"), 1))
          : Optional.empty();
    }

    @Override
    public VersionVector shownBefore(String keyspace, int partition) {
      return before;
    }

    @Override
    public boolean mayAsk(String dc) {
      return up.contains(dc);
    }

    @Override
    public boolean ask(String dc, byte[] content) {
      ForwardedRequest head = ForwardedRequest.decode(content);
      if (!cut) {
        sent.add(new Sent(dc, head, head.decoded()));
      }
      return !cut;
    }

    @Override
    public void later(Runnable task, long millis) {
      later.add(task);
    }
  }

  private void up(ReplicaId dc) {
    world.up.add(dc.dc());
    forwarder.up(dc);
  }

  private void down(ReplicaId dc) {
    world.up.remove(dc.dc());
    forwarder.down(dc.dc());
  }

  private void pass(long nanos) {
    world.now += nanos;
    for (int i = world.later.size(); i > 0; i--) {
      world.later.remove().run();
    }
  }

  private static Request read(VersionVector after) {
    return new Request.Read("shop", KEY, Optional.empty(), new Query.Whole(), after, false, 0);
  }

  private static Request update() {
    return new Request.Write(
        "shop", KEY, CrdtType.PN_COUNTER, new Operation.Increment(1), VersionVector.EMPTY, 0);
  }

  private boolean forward(Request request) {
    return forwarder.forward(request, lane, "ann", replies::add);
  }

  /** What was asked next, which is no measurement. */
  private Sent next() {
    Sent next = world.sent.remove();
    return next.request instanceof Request.Ping ? next() : next;
  }

  private void answer(ReplicaId by, Sent sent, Reply reply) {
    forwarder.answered(by, ProtocolCodec.encode(sent.head.id(), reply));
  }

  private static Reply seen(ReplicaId replica, long number) {
    return new Reply.Answer(
        Optional.empty(), Optional.empty(), false, VersionVector.of(replica, number));
  }

  private ErrorCode failure() {
    assertThat(replies).hasSize(1);
    return ((Reply.Failure) replies.removeFirst()).code();
  }

  private void isIdle() {
    assertThat(bytes.taken()).as("of the budget").isZero();
  }

  @Test
  void formOfARequest_isKept() {
    byte[] bytes = ForwardedRequest.encode(3, "ann", 5, new Request.Ping());
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("0303616e6e010502");
    ForwardedRequest read = ForwardedRequest.decode(bytes);
    assertThat(List.of(read.lane(), read.user(), read.id())).isEqualTo(List.of(3L, "ann", 5L));
    assertThat(read.decoded()).isEqualTo(new Request.Ping());
  }

  @Test
  void request_isAnsweredByAHolder_andCounted() {
    up(EU);
    assertThat(forward(update())).isTrue();
    Sent sent = next();
    assertThat(sent.dc).isEqualTo("eu");
    assertThat(sent.head.user()).isEqualTo("ann");
    assertThat(sent.request).isEqualTo(update());
    world.now += TimeUnit.MILLISECONDS.toNanos(40);
    answer(EU, sent, new Reply.Done(new Dot(EU, 4)));
    answer(EU, sent, new Reply.Done(new Dot(EU, 4)));
    assertThat(replies).as("once").containsExactly(new Reply.Done(new Dot(EU, 4)));
    ForwardCounts.Figures counted = forwarder.counts().values().iterator().next();
    assertThat(forwarder.counts()).containsOnlyKeys(new ForwardCounts.Way("shop", "eu", "update"));
    assertThat(counted.sent()).isEqualTo(1);
    assertThat(counted.answered().sumMicros()).as("the way").isEqualTo(40_000);
    isIdle();
  }

  @Test
  void unknownKeyspace_isNotForwarded() {
    up(EU);
    assertThat(
            forward(
                new Request.Scan(
                    "other", Optional.empty(), Optional.empty(), new Query.Whole(), 1)))
        .isFalse();
    assertThat(forward(new Request.Keyspaces())).isFalse();
    assertThat(world.sent).isEmpty();
  }

  @Test
  void noHolderThatCanBeAsked_isUnavailable_andNothingIsDone() {
    forward(update());
    assertThat(((Reply.Failure) replies.getFirst()).message()).contains("[eu, us]");
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    up(EU);
    world.cut = true; // between the look and the sending
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    isIdle();
  }

  @Test
  void whatDependsOnThisProcess_isRefused_andNamesWhoHoldsIt() {
    up(EU);
    Call script = new Call.Script(List.of(KEY), true, 0, ask -> {});
    forward(new Request.Evaluate("shop", List.of(script), List.of(), VersionVector.EMPTY, 0));
    assertThat(((Reply.Failure) replies.getFirst()).message()).contains("[eu, us]");
    assertThat(failure()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(world.sent).isEmpty();
  }

  /** It was added to the holders while a connection was served by another one. */
  @Test
  void connectionThatWasServedElsewhere_comesHere_withWhatItHasSeen_andNotBeforeItsAnswers() {
    up(EU);
    assertThat(forwarder.here(update(), "shop", 1, lane)).as("new").isEqualTo(update());
    forward(read(VersionVector.EMPTY));
    Sent underWay = next();
    assertThat(forwarder.here(update(), "shop", 1, lane)).as("else it came first").isNull();
    answer(EU, underWay, seen(EU, 7));
    Request.Write write = (Request.Write) requireNonNull(forwarder.here(update(), "shop", 1, lane));
    assertThat(write.after()).isEqualTo(VersionVector.of(EU, 7));
    assertThat(write.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
    Request.Write others =
        (Request.Write) requireNonNull(forwarder.here(update(), "shop", 1, new Object()));
    assertThat(others.after()).isEqualTo(VersionVector.EMPTY);
  }

  // ---------------------------------------------------------------- what is lost

  @Test
  void answersLostWithTheConnection_ofUpdatesAreUnknown_ofReadsMayBeAskedAgain() {
    up(EU);
    up(US);
    forward(update());
    Sent sent = next();
    down(EU);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    answer(EU, sent, new Reply.Done(new Dot(EU, 1)));
    assertThat(replies).as("it was given up").isEmpty();
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc).isEqualTo("us");
    down(US);
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(world.sent.stream().filter(s -> !(s.request instanceof Request.Ping)))
        .as("an update is not sent twice")
        .isEmpty();
    isIdle();
  }

  @Test
  void peerThatNeverAnswers_isGivenUpInTime() {
    up(EU);
    forward(update());
    pass(0);
    pass(Forwarder.ANSWER_NANOS - 1);
    assertThat(replies).isEmpty();
    pass(1);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    isIdle();
    pass(TimeUnit.MINUTES.toNanos(2)); // the last measurement ends, and nothing is wanted
    pass(TimeUnit.MINUTES.toNanos(2));
    assertThat(world.later).as("nothing is looked at while nothing is forwarded").isEmpty();
    forward(update());
    assertThat(world.later).isNotEmpty();
  }

  @Test
  void whatWaitsAtTheHolder_isGivenItsTimeBesides() {
    up(EU);
    forward(
        new Request.Read(
            "shop", KEY, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 60_000));
    pass(0);
    pass(Forwarder.ANSWER_NANOS + TimeUnit.SECONDS.toNanos(59));
    assertThat(replies).isEmpty();
    pass(TimeUnit.SECONDS.toNanos(1));
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void end_failsWhatIsUnderWay() {
    up(EU);
    forward(update());
    forwarder.close();
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    isIdle();
  }

  // ---------------------------------------------------------------- budgets

  @Test
  void spentBudget_isOverloaded_andNothingIsDone() {
    up(EU);
    bytes.take(BYTES);
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    bytes.give(BYTES);
    bytes.setMax(100);
    forward(update());
    assertThat(failure()).as("it never fits").isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    isIdle();
  }

  @Test
  void fullWindow_isOverloaded() {
    up(EU);
    bytes.setMax(Long.MAX_VALUE / 2);
    for (int i = 0; i < Asks.WINDOW; i++) {
      forward(read(VersionVector.EMPTY));
    }
    assertThat(replies).isEmpty();
    forward(read(VersionVector.EMPTY));
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    answer(EU, next(), seen(EU, 1));
    replies.clear();
    forward(read(VersionVector.EMPTY));
    assertThat(replies).isEmpty();
    down(EU);
    isIdle();
  }

  @Test
  void largeAnswer_countsUntilItIsRead_andFailsWhereThereIsNoRoom() {
    up(EU);
    Reply large = new Reply.Report("x".repeat(100_000));
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), large);
    assertThat(replies).containsExactly(large);
    replies.clear();
    isIdle();
    forward(read(VersionVector.EMPTY));
    Sent read = next();
    forward(update());
    Sent update = next();
    long others = BYTES - bytes.taken();
    bytes.take(others);
    answer(EU, read, large);
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    answer(EU, update, large);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    bytes.give(others);
    isIdle();
  }

  // ---------------------------------------------------------------- sessions

  @Test
  void connectionThatWasAnsweredByOne_asksAnotherForWhatIsBehindIt() {
    up(EU);
    forward(read(VersionVector.of(new ReplicaId("as", 1), 3)));
    answer(EU, next(), seen(EU, 5));
    forward(update());
    answer(EU, next(), new Reply.Done(new Dot(EU, 7)));
    forward(read(VersionVector.EMPTY));
    assertThat(Forwardable.after(next().request))
        .as("it has shown all of it")
        .isEqualTo(VersionVector.EMPTY);
    up(US);
    down(EU);
    forward(read(VersionVector.EMPTY));
    Request behind = next().request;
    assertThat(Forwardable.after(behind))
        .isEqualTo(VersionVector.of(Map.of(new ReplicaId("as", 1), 3L, EU, 7L)));
    assertThat(Forwardable.waitMillis(behind)).isEqualTo(HolderChoice.MOVE_MILLIS);
    forwarder.forward(read(VersionVector.EMPTY), new Object(), "ann", replies::add);
    assertThat(Forwardable.after(next().request))
        .as("of a connection that has seen nothing")
        .isEqualTo(VersionVector.EMPTY);
  }

  /** Its connections were answered here, which nobody has noted. */
  @Test
  void keyspaceThatIsGivenUpHere_isAskedFor_withAllThatWasShownHere() {
    up(EU);
    world.before = VersionVector.of(US, 7);
    forward(read(VersionVector.of(EU, 3)));
    Request.Read asked = (Request.Read) next().request;
    assertThat(asked.after()).isEqualTo(VersionVector.of(EU, 3).raised(US, 7));
    assertThat(asked.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
  }

  @Test
  void otherLifeOfAHolder_isAnotherOne() {
    up(EU);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 5));
    down(EU);
    ReplicaId anew = new ReplicaId("eu", 2);
    up(anew);
    forward(read(VersionVector.EMPTY));
    assertThat(Forwardable.after(next().request)).isEqualTo(VersionVector.of(EU, 5));
  }

  @Test
  void requestsOfAConnection_stayWhereOneIsUnderWay() {
    up(US);
    forward(update());
    Sent update = next();
    assertThat(update.dc).isEqualTo("us");
    up(EU);
    measure(1, 100);
    forward(read(VersionVector.EMPTY));
    Sent read = next();
    assertThat(read.dc).as("behind the update").isEqualTo("us");
    assertThat(read.head.lane()).as("a connection of its own").isEqualTo(1);
    answer(US, update, new Reply.Done(new Dot(US, 1)));
    answer(US, read, seen(US, 1));
    forward(watch());
    assertThat(next().dc).isEqualTo("eu");
    measure(10_000, 1);
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc).as("a watcher does not hold it").isEqualTo("us");
  }

  private static Request watch() {
    return new Request.Watch("shop", Optional.of(KEY), false, List.of(), false, 60_000);
  }

  private static Sent ping(Map<String, Sent> pings, ReplicaId of) {
    return requireNonNull(pings.get(of.dc()));
  }

  /** How far they are, in ms. */
  private void measure(long toEu, long toUs) {
    world.sent.clear();
    pass(WayMeter.MEASURE_NANOS);
    Map<String, Sent> pings = new TreeMap<>();
    world.sent.forEach(sent -> pings.put(sent.dc, sent));
    world.sent.clear();
    world.now += Math.min(toEu, toUs) * 1_000_000;
    boolean isEuFirst = toEu < toUs;
    answer(isEuFirst ? EU : US, ping(pings, isEuFirst ? EU : US), new Reply.Pong());
    world.now += Math.abs(toEu - toUs) * 1_000_000;
    answer(isEuFirst ? US : EU, ping(pings, isEuFirst ? US : EU), new Reply.Pong());
  }

  // ---------------------------------------------------------------- which holder

  @Test
  void nearerHolder_isAsked_onceTheWaysAreMeasured() {
    up(EU);
    up(US);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 1));
    measure(100, 20);
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc).isEqualTo("us");
  }

  @Test
  void holderThatGoes_isAvoided_andItsRefusalEndsNoConnection() {
    up(EU);
    up(US);
    forward(update());
    answer(EU, next(), new Reply.Failure(ErrorCode.SHUTTING_DOWN, "it goes"));
    assertThat(failure()).as("nothing was done").isEqualTo(ErrorCode.UNAVAILABLE);
    forward(update());
    assertThat(next().dc).isEqualTo("us");
  }

  // ---------------------------------------------------------------- transactions

  private static final TransactionId TX = new TransactionId(1, 2);

  private static final Request.Update CHANGE =
      new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(1));

  private static Request.Transact begin(Request.End end, Request.Update... updates) {
    return begin(TX, end, updates);
  }

  private static Request.Transact begin(
      TransactionId id, Request.End end, Request.Update... updates) {
    Request.Begin begin = new Request.Begin(VersionVector.EMPTY, false, 0, 10_000);
    return new Request.Transact(
        "shop", id, 1, Optional.of(begin), List.of(updates), List.of(), end);
  }

  private static Request.Transact step(int number, Request.End end) {
    return new Request.Transact("shop", TX, number, Optional.empty(), List.of(), List.of(), end);
  }

  /** Who is asked next, and has done it. */
  private String done(ReplicaId by, Optional<Dot> dot) {
    Sent sent = next();
    answer(by, sent, new Reply.Transacted(VersionVector.of(by, 3), dot, List.of()));
    assertThat(replies.removeFirst()).isInstanceOf(Reply.Transacted.class);
    return sent.dc;
  }

  @Test
  void transaction_staysAtOneHolder_alsoWhenAnotherIsNearer() {
    up(EU);
    up(US);
    forward(begin(Request.End.OPEN));
    assertThat(done(EU, Optional.empty())).isEqualTo("eu");
    measure(100, 1);
    forward(step(2, Request.End.OPEN));
    assertThat(done(EU, Optional.empty())).isEqualTo("eu");
    forward(update());
    assertThat(next().dc).as("what else the connection asks stays behind it").isEqualTo("eu");
    forwarder.forward(step(3, Request.End.COMMIT), new Object(), "ann", replies::add);
    assertThat(done(EU, Optional.of(new Dot(EU, 4)))).as("of another connection").isEqualTo("eu");
    forwarder.forward(read(VersionVector.EMPTY), new Object(), "ann", replies::add);
    assertThat(next().dc).isEqualTo("us");
  }

  @Test
  void stepsOfATransaction_areInTheConnectionsOrder_andWhatItShowedIsAskedOfTheNext() {
    up(EU);
    forward(begin(Request.End.COMMIT, CHANGE));
    done(EU, Optional.of(new Dot(EU, 4)));
    up(US);
    down(EU);
    forward(begin(new TransactionId(3, 4), Request.End.OPEN));
    Request begun = next().request;
    assertThat(Forwardable.after(begun)).isEqualTo(VersionVector.of(EU, 4));
    assertThat(Forwardable.waitMillis(begun)).isEqualTo(HolderChoice.MOVE_MILLIS);
  }

  @Test
  void lostAnswers_ofOpenTransactionsEndThem_ofCommitsAreUnknown_andTheirHolderIsAskedAgain() {
    up(EU);
    up(US);
    forward(begin(Request.End.OPEN));
    done(EU, Optional.empty());
    forward(step(2, Request.End.OPEN));
    next();
    down(EU);
    assertThat(failure()).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    forward(step(3, Request.End.COMMIT));
    assertThat(failure()).as("nobody has it open").isEqualTo(ErrorCode.TRANSACTION_ENDED);
    forward(begin(Request.End.OPEN));
    done(US, Optional.empty());
    forward(step(2, Request.End.COMMIT));
    next();
    up(EU);
    down(US);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    Request again = new Request.Repeat(new ReplicaId("ap", 1), 9, step(2, Request.End.COMMIT));
    forward(again);
    assertThat(failure()).as("eu knows nothing of it").isEqualTo(ErrorCode.UNAVAILABLE);
    up(US);
    forward(again);
    Sent sent = next();
    assertThat(sent.dc).isEqualTo("us");
    assertThat(sent.request)
        .as("in the holder's name, and its numbers")
        .isEqualTo(new Request.Repeat(US, 0, step(2, Request.End.COMMIT)));
    String keyspace = step(2, Request.End.COMMIT).keyspace();
    assertThat(forwarder.here(again, keyspace, 1, new Object()))
        .as("it goes there also once this datacenter holds the keyspace, on any connection")
        .isNull();
  }

  /** Its holder ends it with its time: nobody asks for it any more. */
  @Test
  void openTransaction_endsWithTheConnection_alsoWhileNothingIsUnderWay() {
    up(EU);
    forward(begin(Request.End.OPEN));
    done(EU, Optional.empty());
    down(EU);
    up(EU);
    forward(step(2, Request.End.COMMIT));
    assertThat(failure()).isEqualTo(ErrorCode.TRANSACTION_ENDED);
  }

  @Test
  void repeatOfATransactionThatIsNotKnown_isForgotten_andNothingIsSent() {
    up(EU);
    forward(new Request.Repeat(new ReplicaId("ap", 1), 9, begin(Request.End.COMMIT, CHANGE)));
    assertThat(failure()).isEqualTo(ErrorCode.TRANSACTION_FORGOTTEN);
    assertThat(world.sent).isEmpty();
  }

  @Test
  void transactionThatWasNotBegun_mayBeBegunElsewhere() {
    up(EU);
    up(US);
    forward(begin(Request.End.COMMIT, CHANGE));
    answer(EU, next(), new Reply.Failure(ErrorCode.SHUTTING_DOWN, "it goes"));
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    forward(begin(Request.End.COMMIT, CHANGE));
    assertThat(next().dc).isEqualTo("us");
  }

  @Test
  void openTransactions_areBounded_andForgottenWithTheirTime() {
    up(EU);
    bytes.setMax(Long.MAX_VALUE / 2);
    for (int i = 0; i <= HolderTransactions.OPEN_MAX; i++) {
      forward(begin(new TransactionId(7, i), Request.End.OPEN));
      if (!world.sent.isEmpty()) {
        done(EU, Optional.empty());
      }
    }
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    pass(TimeUnit.SECONDS.toNanos(70));
    forward(begin(Request.End.OPEN));
    assertThat(next().request).isEqualTo(begin(Request.End.OPEN));
  }
}
