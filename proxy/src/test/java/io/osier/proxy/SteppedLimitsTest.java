package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Refused;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of calls whose time is over, step by step: no clock runs. */
final class SteppedLimitsTest {
  private static final List<Keyspace.Change> CHANGES =
      List.of(new Keyspace.Change("c", CrdtType.PN_COUNTER, new Operation.Increment(1)));

  private final Steps steps = new Steps();
  private final Far eu = new Far("eu", 1);
  private final Far us = new Far("us", 80);
  private final OsierClient client = steps.client(OsierClient.builder(), eu, us);
  private final Keyspace k = client.session().keyspace("k");

  private static Throwable whyOf(CompletableFuture<?> call) {
    assertThat(call).isDone();
    return requireNonNull(requireNonNull(catchThrowable(call::join)).getCause());
  }

  private static void assertEndedWith(CompletableFuture<?> call, ErrorCode code) {
    assertThat(whyOf(call))
        .isExactlyInstanceOf(OsierException.of(code, "").getClass())
        .is(Refused.with(code));
  }

  private Transaction begun() {
    CompletableFuture<Transaction> begun = k.beginAsync(TransactionOptions.DEFAULT);
    eu.isStepDone();
    return begun.join();
  }

  /** The answer is lost, and whenever it is asked for again that is refused. */
  private void isLostAndRefused(CompletableFuture<?> call, ErrorCode code) {
    eu.isLost(true);
    int repeats = 0;
    while (!call.isDone()) {
      steps.pass(1);
      if (!call.isDone() && !eu.open.isEmpty()) {
        assertThat(eu.open.element().request()).isInstanceOf(Request.Repeat.class);
        repeats++;
        eu.fails(code);
      }
    }
    assertThat(repeats).as("it is asked again").isGreaterThan(1);
    assertThat(us.open).as("never elsewhere").isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"SHUTTING_DOWN", "OVERLOADED", "STORE_FULL", "UNAVAILABLE", "SESSION_BEHIND"})
  void refusalOfARepeat_isNoAnswer(ErrorCode code) {
    CompletableFuture<?> together = k.updateTogetherAsync(CHANGES);
    isLostAndRefused(together, code);
    assertThat(whyOf(together)).as("in one request").isInstanceOf(OutcomeUnknownException.class);
    Transaction tx = begun();
    assertThat(tx.counter("c").incrementAsync(1)).isCompleted();
    CompletableFuture<VersionVector> commit = tx.commitAsync();
    isLostAndRefused(commit, code);
    assertThat(whyOf(commit)).isInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void openStepWhoseAnswerIsLost_endsTheTransaction() {
    Transaction tx = begun();
    assertThat(tx.counter("c").incrementAsync(1)).isCompleted();
    CompletableFuture<Long> read = tx.counter("c").getAsync();
    isLostAndRefused(read, ErrorCode.OVERLOADED);
    assertThat(whyOf(read)).hasMessageContaining("abandoned");
    Request.Transact abort = eu.isStepDone();
    assertThat(abort.end()).isEqualTo(Request.End.ABORT);
    assertThat(abort.step()).isEqualTo(3);
    // Its number may be taken: the reads' answer would be taken for the commit's.
    assertThat(whyOf(tx.commitAsync())).hasMessageContaining("abandoned");
    assertThat(eu.open).isEmpty();
  }

  @Test
  void timeout_namesTheCallersLimit_notThatOfTheLastTry() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    steps.pass(400);
    eu.fails(ErrorCode.UNAVAILABLE);
    steps.pass(0);
    us.isLate();
    assertThat(whyOf(call))
        .hasMessageContaining("us did not answer within 1000 ms; before that: as the test wants");
  }

  @Test
  void update_isNotSent_whenItsAnswerCannotBeHeardAnyMore() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    steps.pass(921);
    eu.fails(ErrorCode.SHUTTING_DOWN);
    steps.pass(0);
    assertThat(us.open).as("80 ms away, 79 ms before the limit").isEmpty();
    assertEndedWith(call, ErrorCode.SHUTTING_DOWN);
  }

  @Test
  void update_isSent_whileItsAnswerMayBeHeard() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    steps.pass(919);
    eu.fails(ErrorCode.SHUTTING_DOWN);
    steps.pass(0);
    us.isDone();
    assertThat(call).as("80 ms away, 81 ms before the limit").isCompleted();
  }

  @Test
  void updateWithoutAnswer_hasAnUnknownOutcome_andIsNotRepeated() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    steps.pass(900);
    eu.isLate();
    assertThat(whyOf(call))
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("may or may not have been done")
        .is(Refused.with(ErrorCode.TIMEOUT));
    steps.pass(2_000);
    assertThat(eu.open).isEmpty();
    assertThat(us.open).isEmpty();
  }

  /** Another datacenter's updates 3 to 5 were seen there before it was gone. */
  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"SESSION_BEHIND", "SESSION_LOST"})
  void session_failsUnlessItMayGoOn_andForgettingHelps(ErrorCode code) {
    us.up = false;
    VersionVector seen = VersionVector.of(eu.replica, 3).with(us.replica, 5);
    Session session =
        client.session(SessionOptions.DEFAULT.after(new SessionToken(Map.of("k", List.of(seen)))));
    CompletableFuture<Long> call = session.keyspace("k").counter("c").getAsync();
    while (!call.isDone()) {
      if (!eu.open.isEmpty()) {
        assertThat(((Request.Read) eu.open.element().request()).after()).isEqualTo(seen);
        eu.fails(code);
      }
      steps.pass(1);
    }
    assertEndedWith(call, code);
    assertThat(session.losses()).isEmpty();
    session.forget();
    CompletableFuture<Long> again = session.keyspace("k").counter("c").getAsync();
    Far.Sent sent = eu.open.remove();
    assertThat(((Request.Read) sent.request()).after()).isEqualTo(VersionVector.EMPTY);
    sent.answered()
        .answered(
            new Reply.Answer(
                CrdtType.PN_COUNTER, new Reading.Count(1), VersionVector.of(eu.replica, 4)));
    assertThat(again).isCompletedWithValue(1L);
  }
}
