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
 * What becomes of one step of a transaction: whether it is sent, and as what, when its process is
 * asked again, how it ends.
 *
 * <p>The first answer to the first sending is believed, whatever it is. Once a sending may have
 * arrived whose answer was lost, a refusal (a full queue, a full disk, a stop, a limit of this
 * client) says nothing of it: only what the datacenter knows of the transaction counts. So it is
 * asked on, at the same process alone, until the time is over; then the outcome is unknown.
 *
 * <p>Pure: it is told what happened, and when. One sending is under way at a time.
 */
public final class StepRetryPolicy {
  /** Longest pause before it is asked again. */
  static final long PAUSE_MILLIS_MAX = 400;

  sealed interface Next {
    record Send(Request request) implements Next {}

    /** Another try, after a pause. */
    record Later(long millis) implements Next {}

    /** The end: this is the answer. */
    record Answered(Reply reply) implements Next {}

    /** The end without an answer. */
    record GivenUp(OsierException error) implements Next {}
  }

  private final ReplicaId home;
  private final Request.Repeat again;
  private final long deadlineNanos;
  private long pauseMillis = RetryPolicy.PAUSE_MILLIS;

  /** Whether a sending may have arrived whose answer is lost. */
  private boolean unsure;

  /** The last refusal, which does not tell whether the step was done; null if there was none. */
  private @Nullable String refusal;

  /**
   * @param home the process where the transaction lives
   * @param again the step, as it is asked for once it may have arrived
   */
  StepRetryPolicy(ReplicaId home, Request.Repeat again, long deadlineNanos) {
    this.home = home;
    this.again = again;
    this.deadlineNanos = deadlineNanos;
  }

  /** A sending may have arrived whose answer is lost. */
  void mayHaveArrived() {
    unsure = true;
  }

  /** Whether one may have arrived whose answer is lost. */
  boolean mayBeDone() {
    return unsure;
  }

  /**
   * It is time for a try.
   *
   * @param there the process at the other end of the connection, as far as is known
   * @param up whether something can be sent to it
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
          home.dc() + " was restarted without the transaction: it is now " + there);
    }
    return new Next.Send(unsure ? again : again.step());
  }

  /** The client was closed, or its caller has given it up. */
  Next ended(boolean byCaller) {
    return byCaller
        ? giveUp(ErrorCode.CANCELLED, "its caller has given it up")
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

  /** No answer will come. */
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
