package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Transactions at holders: where their steps go, and what is lost of them. */
final class ForwardedTransactionsTest extends ForwarderFixture {
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
    return sent.dc();
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
    assertThat(next().dc()).as("what else the connection asks stays behind it").isEqualTo("eu");
    forwarder.forward(step(3, Request.End.COMMIT), new Object(), "ann", replies::add);
    assertThat(done(EU, Optional.of(new Dot(EU, 4)))).as("of another connection").isEqualTo("eu");
    forwarder.forward(read(VersionVector.EMPTY), new Object(), "ann", replies::add);
    assertThat(next().dc()).isEqualTo("us");
  }

  @Test
  void stepsOfATransaction_areInTheConnectionsOrder_andWhatItShowedIsAskedOfTheNext() {
    up(EU);
    forward(begin(Request.End.COMMIT, CHANGE));
    done(EU, Optional.of(new Dot(EU, 4)));
    up(US);
    down(EU);
    forward(begin(new TransactionId(3, 4), Request.End.OPEN));
    Request begun = next().request();
    assertThat(begun.after()).isEqualTo(VersionVector.of(EU, 4));
    assertThat(begun.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
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
    assertThat(sent.dc()).isEqualTo("us");
    assertThat(sent.request())
        .as("in the holder's name, and its numbers")
        .isEqualTo(new Request.Repeat(US, 0, step(2, Request.End.COMMIT)));
    String keyspace = step(2, Request.End.COMMIT).keyspace();
    assertThat(forwarder.here(again, keyspace, Partitioning.byKey(1), new Object()))
        .as("it goes there also once this datacenter holds the keyspace, on any connection")
        .isNull();
  }

  /** The holder's numbers are those of the term in which it holds the keyspace. */
  @Test
  void commitThatIsAskedForAgain_ofAHolderThatWasAddedAgain_namesTheTerm_andWhatWasKnownOfIt() {
    up(EU);
    up(US);
    ReplicaId holder = HolderTerms.in(EU, Map.of("eu", 1));
    forward(read(VersionVector.EMPTY));
    VersionVector seen = VersionVector.of(EU, 7).with(holder, 5);
    answer(EU, next(), new Reply.Answer(Optional.empty(), Optional.empty(), false, seen));
    replies.clear();
    forward(begin(Request.End.COMMIT, CHANGE));
    next();
    down(EU);
    replies.clear();
    up(EU);
    forward(new Request.Repeat(new ReplicaId("ap", 1), 9, begin(Request.End.COMMIT, CHANGE)));
    assertThat(next().request())
        .isEqualTo(new Request.Repeat(holder, 5, begin(Request.End.COMMIT, CHANGE)));
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
    assertThat(next().dc()).isEqualTo("us");
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
    assertThat(next().request()).isEqualTo(begin(Request.End.OPEN));
  }
}
