package io.osier.proxy;

import static io.osier.proxy.Steps.codeOf;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.call.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of a client without a network, a thread or a clock: every step is made by the test. */
final class SteppedCallTest {
  private final Steps steps = new Steps();
  private final Far eu = new Far("eu", 1);
  private final Far us = new Far("us", 80);
  private final OsierClient client = steps.client(OsierClient.builder(), eu, us);
  private final Keyspace k = client.session().keyspace("k");

  @Test
  void refusedAtTheNearest_goesToTheNextAtOnce() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    eu.fails(ErrorCode.SHUTTING_DOWN);
    steps.pass(0);
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(eu.open).isEmpty();
  }

  /** That nobody said so does not mean that there is none. */
  @Test
  void keyspacesThatAreNotTold_endTheCallWithTheReason_orItGoesElsewhere() {
    eu.untold = new LostException(ErrorCode.TIMEOUT, true, "eu did not answer within 7 ms");
    CompletableFuture<Void> late = client.session().keyspace("new").counter("c").incrementAsync(1);
    Throwable thrown = requireNonNull(catchThrowable(late::join)).getCause();
    assertThat(thrown)
        .isNotInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("eu did not answer within 7 ms");
    assertThat(codeOf(late)).isEqualTo(ErrorCode.TIMEOUT);
    eu.untold = new OsierException(ErrorCode.SHUTTING_DOWN, "eu ends");
    CompletableFuture<Void> moved = client.session().keyspace("new").counter("c").incrementAsync(1);
    steps.pass(0);
    assertThat(us.asked).isEqualTo(1);
    assertThat(codeOf(moved)).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(catchThrowable(moved::join)).hasMessageContaining("us");
  }

  /** It was removed, say: the others are a cluster without it. */
  @Test
  void refusedSinceItsPeersRefuseIt_goesToTheNext_andEndsWhereAllAreSo() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    eu.fails(ErrorCode.REFUSED_BY_PEERS);
    steps.pass(0);
    us.isDone();
    assertThat(call).isCompleted();
    CompletableFuture<Void> inVain = k.counter("c").incrementAsync(1);
    for (int i = 0; i < 2; i++) {
      (eu.open.isEmpty() ? us : eu).fails(ErrorCode.REFUSED_BY_PEERS);
      steps.pass(0);
    }
    assertThat(codeOf(inVain)).as("at once").isEqualTo(ErrorCode.REFUSED_BY_PEERS);
  }

  @Test
  void refusedEverywhere_beginsAgainAfterPausesThatGrow_untilTheTimeIsOver() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    List<Long> tries = new ArrayList<>();
    while (!call.isDone()) {
      if (!eu.open.isEmpty()) {
        tries.add(steps.now / Steps.MILLI);
        eu.fails(ErrorCode.UNAVAILABLE);
        steps.pass(0);
        if (!us.open.isEmpty()) {
          us.fails(ErrorCode.UNAVAILABLE);
        }
      }
      steps.pass(1);
    }
    assertThat(codeOf(call)).isEqualTo(ErrorCode.UNAVAILABLE);
    // Then the answer of the other one, 80 ms away, would come too late.
    assertThat(tries).containsExactly(0L, 20L, 60L, 140L, 300L, 620L, 810L, 905L, 952L);
  }

  /** Sent then, it would fail as it is written, or be in doubt. */
  @Test
  void whatGoesOnWithoutItsPast_isNotSent_whenTheTimeIsOver() {
    VersionVector seen = VersionVector.of(us.replica, 5);
    SessionToken token = new SessionToken(Map.of("k", List.of(seen)));
    Session session =
        client.session(SessionOptions.DEFAULT.after(token).goOnAfter(Duration.ofMillis(100)));
    CompletableFuture<Void> call = session.keyspace("k").counter("c").incrementAsync(1);
    eu.fails(ErrorCode.SESSION_LOST);
    steps.pass(1_001);
    eu.through.complete(new Reply.Through(VersionVector.of(us.replica, 2)));
    assertThat(eu.open).isEmpty();
    assertThat(codeOf(call)).isEqualTo(ErrorCode.SESSION_LOST);
    assertThat(session.losses()).isEmpty();
  }

  @Test
  void updateThatMayHaveArrived_isNotSentAgain() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    eu.isLost(true);
    steps.pass(500);
    assertThat(us.open).isEmpty();
    assertThat(call).isDone();
    assertThat(catchThrowable(call::join)).hasCauseInstanceOf(OutcomeUnknownException.class);
    CompletableFuture<Void> other = k.counter("c").incrementAsync(1);
    eu.isLost(false);
    steps.pass(0);
    us.isDone();
    assertThat(other).isCompleted();
  }

  @Test
  void updateWhoseAnswerWouldComeTooLate_isNotSent() {
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    steps.pass(950);
    eu.fails(ErrorCode.UNAVAILABLE);
    steps.pass(0);
    assertThat(us.open).as("80 ms away, 50 ms before the limit").isEmpty();
    assertThat(codeOf(call)).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void waitingForADatacenter_endsWithTheFirstThatIsUp_orWithTheClient() {
    eu.up = false;
    us.up = false;
    CompletableFuture<Boolean> up = client.core().datacenters().whenUp();
    us.up = true;
    client.core().datacenters().changed();
    assertThat(up).isCompletedWithValue(true);
    assertThat(client.core().datacenters().whenUp()).isCompletedWithValue(true);
    us.up = false;
    client.core().datacenters().changed();
    CompletableFuture<Boolean> waits = client.core().datacenters().whenUp();
    client.close();
    assertThat(waits).isCompletedWithValue(false);
  }

  @Test
  void transactionsHaveTheirIdsFromOutside() {
    var unused = k.updateTogetherAsync(List.of());
    Request.Transact first = (Request.Transact) eu.open.remove().request();
    assertThat(first.transaction()).isEqualTo(new TransactionId(0, 1));
  }

  private Transaction begun() {
    CompletableFuture<Transaction> begun = k.beginAsync(TransactionOptions.DEFAULT);
    eu.isStepDone();
    return begun.join();
  }

  private static List<Key> keys(Request.Transact step) {
    return step.updates().stream().map(Request.Update::key).toList();
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"OVERLOADED", "STORE_FULL", "UNAVAILABLE", "SHUTTING_DOWN", "REFUSED_BY_PEERS"})
  void commitThatTheDatacenterCouldNotDo_bringsItsUpdatesAgain(ErrorCode why) {
    Transaction tx = begun();
    var first = tx.counter("a").incrementAsync(1);
    CompletableFuture<?> read = tx.readAsync(Key.of("a"), Optional.empty(), new Query.Whole());
    var second = tx.counter("b").incrementAsync(1);
    CompletableFuture<VersionVector> commit = tx.commitAsync();
    eu.fails(why);
    assertThat(read).isCompletedExceptionally();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    eu.fails(ErrorCode.OVERLOADED);
    assertThat(codeOf(commit)).isEqualTo(ErrorCode.OVERLOADED);
    CompletableFuture<VersionVector> again = tx.commitAsync();
    assertThat(keys(eu.isStepDone())).containsExactly(Key.of("a"), Key.of("b"));
    assertThat(again).isCompleted();
  }

  @Test
  void stepWithSomethingWrong_isForgottenWithItsUpdates() {
    Transaction tx = begun();
    var wrong = tx.counter("a").incrementAsync(1);
    CompletableFuture<VersionVector> commit = tx.commitAsync();
    eu.fails(ErrorCode.WRONG_TYPE);
    assertThat(wrong).isCompleted();
    assertThat(codeOf(commit)).isEqualTo(ErrorCode.WRONG_TYPE);
    var mended = tx.counter("b").incrementAsync(1);
    var again = tx.commitAsync();
    assertThat(keys(eu.isStepDone())).containsExactly(Key.of("b"));
    assertThat(again).isCompleted();
    assertThat(mended).isCompleted();
  }

  @Test
  void closing_endsCallsThatWaitForTheirNextTry() {
    eu.up = false;
    us.up = false;
    CompletableFuture<Void> call = k.counter("c").incrementAsync(1);
    assertThat(call).isNotDone();
    client.close();
    assertThat(codeOf(call)).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void readThatWasRefused_endsWithThat_whenTheLastTryIsLate() {
    CompletableFuture<Long> call = k.counter("c").getAsync();
    eu.fails(ErrorCode.SESSION_BEHIND);
    steps.pass(0);
    us.isLate();
    assertThat(codeOf(call)).isEqualTo(ErrorCode.SESSION_BEHIND);
    CompletableFuture<Long> late = k.counter("c").getAsync();
    eu.isLate();
    assertThat(codeOf(late)).isEqualTo(ErrorCode.TIMEOUT);
  }

  /** The former process needed not be told what the session has seen, but the new one must. */
  @Test
  void restartWhileARequestIsMade_letsNothingBeSentThatWasMadeForTheFormerProcess() {
    us.up = false;
    CompletableFuture<Long> first = k.counter("c").getAsync();
    VersionVector seen = VersionVector.of(eu.replica, 1);
    eu.answers(1, seen);
    eu.restarts = true;
    CompletableFuture<Long> second = k.counter("c").getAsync();
    assertThat(eu.open).isEmpty();
    steps.pass(RetryPolicy.PAUSE_MILLIS);
    assertThat(eu.answers(1, seen).after()).isEqualTo(seen);
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
  }
}
