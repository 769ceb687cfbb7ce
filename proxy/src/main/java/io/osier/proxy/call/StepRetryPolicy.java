package io.osier.proxy.call;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import org.jspecify.annotations.Nullable;

/**
 * Decides about one step of a transaction: whether and in which form it is sent, when it is sent to
 * its process again, and how it ends.
 *
 * <p>The answer to the first try is final, whatever it is. Once a try may have arrived whose answer
 * was lost, a refusal (a full queue, a full disk, a shutdown, a limit of this client) does not tell
 * whether the step was done; only an answer from the transaction's own state does. So the step is
 * repeated, to the same process only, until the time limit; then the outcome is unknown.
 *
 * <p>Pure: its methods are told what happened, and when. One try is under way at a time.
 */
public final class StepRetryPolicy {
  /** Longest pause between two tries. */
  static final long PAUSE_MILLIS_MAX = 400;

  sealed interface Next {
    record Send(Request request) implements Next {}

    /** Try again after this pause. */
    record Later(long millis) implements Next {}

    /** The step ends with this answer. */
    record Answered(Reply reply) implements Next {}

    /** The step ends without an answer. */
    record GivenUp(OsierException error) implements Next {}
  }

  private final ReplicaId home;
  private final Request.Repeat again;
  private final long deadlineNanos;
  private long pauseMillis = RetryPolicy.PAUSE_MILLIS;

  /** Whether a try may have arrived whose answer is lost. */
  private boolean unsure;

  /** The last refusal, which does not tell whether the step was done; null if there was none. */
  private @Nullable String refusal;

  /**
   * @param home the process that coordinates the transaction
   * @param again the request that repeats the step, for when an earlier try may have arrived
   */
  StepRetryPolicy(ReplicaId home, Request.Repeat again, long deadlineNanos) {
    this.home = home;
    this.again = again;
    this.deadlineNanos = deadlineNanos;
  }

  /** Notes that a try may have arrived whose answer is lost. */
  void mayHaveArrived() {
    unsure = true;
  }

  /** Returns whether a try may have arrived whose answer is lost. */
  boolean mayBeDone() {
    return unsure;
  }

  /**
   * Decides what to do when it is time for a try.
   *
   * @param there the process at the other end of the connection; null if unknown
   * @param up whether the connection is up
   */
  Next now(long now, @Nullable ReplicaId there, boolean up) {
    if (now - deadlineNanos >= 0) {
      return giveUp(
          ErrorCode.TIMEOUT,
          home.dc()
              + " did not answer the transaction in time"
              + (refusal == null ? "" : "; before that: " + refusal));
    }
    if (!up) {
      return later(now);
    }
    if (!home.equals(there)) {
      return giveUp(
          ErrorCode.UNAVAILABLE,
          home.dc() + " was restarted, which ended the transaction: it is now " + there);
    }
    return new Next.Send(unsure ? again : again.step());
  }

  /** Decides how the step ends because the client was closed, or the caller gave the step up. */
  Next ended(boolean byCaller) {
    return byCaller
        ? giveUp(ErrorCode.CANCELLED, "its caller cancelled it")
        : giveUp(ErrorCode.UNAVAILABLE, "the client was closed");
  }

  Next answered(long now, Reply reply) {
    if (unsure && reply instanceof Reply.Failure f) {
      return switch (f.code()) {
        case TRANSACTION_ENDED -> new Next.Answered(f);
        case TRANSACTION_FORGOTTEN -> giveUp(f.code(), f.message());
        default -> {
          refusal = f.message();
          yield later(now);
        }
      };
    }
    return new Next.Answered(reply);
  }

  /** Decides what happens after a try without an answer. */
  Next lost(long now, LostException cause) {
    unsure |= cause.isSent();
    return cause.code() == ErrorCode.UNAVAILABLE || (unsure && cause.code() != ErrorCode.TIMEOUT)
        ? later(now)
        : giveUp(cause.code(), cause.getMessage());
  }

  private Next later(long now) {
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
    return new Next.Later(Math.clamp((deadlineNanos - now) / 1_000_000, 1, pause));
  }

  private Next giveUp(ErrorCode code, String message) {
    return new Next.GivenUp(
        unsure ? new OutcomeUnknownException(code, message) : OsierException.of(code, message));
  }
}
