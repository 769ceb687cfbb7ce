package io.osier.proxy.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.call.StepRetryPolicy.Next;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A step that must be answered within ten seconds. */
final class StepRetryPolicyTest {
  private static final long MILLI = 1_000_000;
  private static final long DEADLINE = 10_000 * MILLI;
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final Request.Transact STEP =
      new Request.Transact(
          "bank",
          new TransactionId(1, 2),
          3,
          Optional.empty(),
          List.of(),
          List.of(),
          Request.End.COMMIT);
  private static final Request.Repeat AGAIN =
      new Request.Repeat(HolderTerms.in(EU, Map.of("eu", 1)), 5, STEP);
  private static final Reply DONE =
      new Reply.Transacted(VersionVector.of(EU, 7), Optional.empty(), List.of());
  private final LostException cut =
      new LostException(ErrorCode.UNAVAILABLE, true, "the connection was lost");
  private final LostException notSent =
      new LostException(ErrorCode.UNAVAILABLE, false, "the connection was lost");

  private final StepRetryPolicy tries = new StepRetryPolicy(EU, AGAIN, DEADLINE);

  private static Reply.Failure failure(ErrorCode code) {
    return new Reply.Failure(code, "so it is");
  }

  private static void isGivenUp(
      Next next, ErrorCode code, Class<? extends OsierException> exactly) {
    assertThat(next)
        .isInstanceOfSatisfying(
            Next.GivenUp.class,
            g -> {
              boolean isCertain = exactly == OsierException.class;
              assertThat(g.error())
                  .isExactlyInstanceOf(
                      isCertain ? OsierException.of(code, "").getClass() : exactly);
              assertThat(g.error().code()).isEqualTo(code);
            });
  }

  @Test
  void firstAnswer_isBelieved_whateverItIs() {
    assertThat(tries.now(0, EU, true)).isEqualTo(new Next.Send(STEP));
    assertThat(tries.answered(1, failure(ErrorCode.OVERLOADED)))
        .isEqualTo(new Next.Answered(failure(ErrorCode.OVERLOADED)));
    assertThat(new StepRetryPolicy(EU, AGAIN, DEADLINE).answered(1, DONE))
        .isEqualTo(new Next.Answered(DONE));
  }

  @Test
  void whatMayHaveArrived_isAskedForAsARepeat_andRefusalsSayNothing() {
    assertThat(tries.lost(0, cut)).isEqualTo(new Next.Later(RetryPolicy.PAUSE_MILLIS));
    assertThat(tries.now(1, EU, true)).isEqualTo(new Next.Send(AGAIN));
    assertThat(tries.answered(2, failure(ErrorCode.OVERLOADED))).isInstanceOf(Next.Later.class);
    assertThat(tries.lost(3, new LostException(ErrorCode.OVERLOADED, false, "too many are open")))
        .as("a limit of this client")
        .isInstanceOf(Next.Later.class);
    assertThat(tries.answered(4, DONE)).isEqualTo(new Next.Answered(DONE));
  }

  @Test
  void repeat_isAnsweredByWhatIsKnownOfTheTransaction() {
    tries.mayHaveArrived();
    assertThat(tries.now(0, EU, true)).isEqualTo(new Next.Send(AGAIN));
    assertThat(tries.answered(1, failure(ErrorCode.TRANSACTION_ENDED)))
        .isEqualTo(new Next.Answered(failure(ErrorCode.TRANSACTION_ENDED)));
    isGivenUp(
        tries.answered(1, failure(ErrorCode.TRANSACTION_FORGOTTEN)),
        ErrorCode.TRANSACTION_FORGOTTEN,
        OutcomeUnknownException.class);
  }

  @Test
  void whatWasNotSent_isSentAsItIs_andFailsForSure() {
    assertThat(tries.lost(0, notSent)).isInstanceOf(Next.Later.class);
    assertThat(tries.now(1, EU, false)).as("not up").isInstanceOf(Next.Later.class);
    assertThat(tries.now(2, EU, true)).isEqualTo(new Next.Send(STEP));
    isGivenUp(
        tries.lost(3, new LostException(ErrorCode.OVERLOADED, false, "too many are open")),
        ErrorCode.OVERLOADED,
        OsierException.class);
  }

  @Test
  void end_isUncertainOnlyWhereSomethingMayHaveArrived() {
    for (boolean sent : new boolean[] {false, true}) {
      StepRetryPolicy some = new StepRetryPolicy(EU, AGAIN, DEADLINE);
      some.lost(0, sent ? cut : notSent);
      Class<? extends OsierException> error =
          sent ? OutcomeUnknownException.class : OsierException.class;
      assertThat(some.now(DEADLINE - 1, EU, true)).isInstanceOf(Next.Send.class);
      isGivenUp(some.now(DEADLINE, EU, true), ErrorCode.TIMEOUT, error);
      isGivenUp(some.ended(false), ErrorCode.UNAVAILABLE, error);
      isGivenUp(some.now(1, new ReplicaId("eu", 2), true), ErrorCode.UNAVAILABLE, error);
    }
    isGivenUp(
        tries.lost(1, new LostException(ErrorCode.TIMEOUT, true, "no answer")),
        ErrorCode.TIMEOUT,
        OutcomeUnknownException.class);
  }

  /** What refuses it all the time is what to look at. */
  @Test
  void endOfTheTime_namesTheLastRefusal() {
    tries.mayHaveArrived();
    Reply.Failure full = new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full");
    assertThat(tries.answered(1, full)).isInstanceOf(Next.Later.class);
    assertThat(((Next.GivenUp) tries.now(DEADLINE, EU, true)).error())
        .hasMessageContaining("; before that: the disk is full");
  }

  @Test
  void pauses_doubleUpToTheLongest_andEndWithTheTime() {
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      pauses.add(((Next.Later) tries.lost(0, cut)).millis());
    }
    assertThat(pauses).containsExactly(20L, 40L, 80L, 160L, 320L, 400L, 400L);
    assertThat(tries.lost(DEADLINE - 5 * MILLI, cut)).isEqualTo(new Next.Later(5));
    assertThat(tries.lost(DEADLINE + 5 * MILLI, cut)).isEqualTo(new Next.Later(1));
  }
}
