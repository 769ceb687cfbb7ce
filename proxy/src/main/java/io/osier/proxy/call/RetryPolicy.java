package io.osier.proxy.call;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.future.Calls;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of one call: where it need not go again, when it is tried again, with which error it
 * ends. Pure: it is told what happened, and when. One try is under way at a time.
 */
public final class RetryPolicy {
  /** Longest pause before a call that has been everywhere begins again, the first time. */
  public static final long PAUSE_MILLIS = 20;

  /** The longest one later: it doubles each time that all have refused it. */
  static final long PAUSE_MILLIS_MAX = 400;

  /** How often a call goes on without what its datacenter lacks before it fails. */
  private static final int GO_ON_MAX = 3;

  sealed interface Next {
    /** Another try, at once where the longest pause is 0. */
    record Again(long pauseMillisMax) implements Next {}

    /** The same datacenter, without what it lacks. */
    record GoOn() implements Next {}

    record End(OsierException error) implements Next {}
  }

  private final boolean update;
  private final long startNanos;
  private final long limitNanos;
  private final long patienceNanos;

  /** Datacenters that were tried in vain. */
  private Set<String> tried = Set.of();

  /** Why the last one that was tried did not do it; null before. */
  private @Nullable OsierException refusal;

  private long pauseMillis = PAUSE_MILLIS;

  /** How often it went on without what was missing. */
  private int goneOn;

  /**
   * @param update whether it may change something
   * @param limitNanos how long it may take
   * @param patienceNanos how long it waits for what the session has seen
   */
  RetryPolicy(boolean update, long startNanos, long limitNanos, long patienceNanos) {
    this.update = update;
    this.startNanos = startNanos;
    this.limitNanos = limitNanos;
    this.patienceNanos = patienceNanos;
  }

  Set<String> tried() {
    return tried;
  }

  long deadlineNanos() {
    return startNanos + limitNanos;
  }

  private long limitMillis() {
    return limitNanos / 1_000_000;
  }

  private long leftNanos(long now) {
    return deadlineNanos() - now;
  }

  /** The time that is left, at least a millisecond. */
  long leftMillis(long now) {
    return Math.max(1, leftNanos(now) / 1_000_000);
  }

  /** How long a datacenter may take to catch up: not all of the time, another may be ahead. */
  int waitMillis(long now) {
    long most = Math.min(leftNanos(now) / 2, patienceNanos);
    return Math.clamp(most / 1_000_000, 0, Integer.MAX_VALUE);
  }

  /**
   * Whether it is too late to send it.
   *
   * @param roundTripNanos the measured way there and back; NaN if not measured
   * @return with which error the call then ends; null if it is not
   */
  @Nullable OsierException tooLate(long now, double roundTripNanos) {
    long left = leftNanos(now);
    boolean isLate = now != startNanos;
    // An update whose answer cannot come in time would only have an unknown outcome.
    if (left > 0 && !(isLate && update && roundTripNanos > left)) {
      return null;
    }
    return refusal != null
        ? refusal
        : OsierException.of(
            ErrorCode.TIMEOUT,
            "nothing was sent: the time limit of " + limitMillis() + " ms was over before");
  }

  /**
   * There is no datacenter left to go to.
   *
   * @param unreachable why, if none was tried
   */
  Next nowhere(long now, OsierException unreachable) {
    OsierException why = tried.isEmpty() || refusal == null ? unreachable : refusal;
    if (why.code() == ErrorCode.NOT_AUTHENTICATED || why.code() == ErrorCode.REFUSED_BY_PEERS) {
      return new Next.End(why); // asking once more does not help
    }
    if (tried.isEmpty()) {
      return again(now, why, PAUSE_MILLIS); // nobody was asked, so nobody has to be spared
    }
    tried = Set.of(); // all were tried: begin again after a pause
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
    // Not so long that there is no time for another one.
    return again(now, why, Math.min(pause, Math.max(PAUSE_MILLIS, leftNanos(now) / 2_000_000)));
  }

  /**
   * A datacenter refused it.
   *
   * @param asked whether it was asked for something that the session has seen
   */
  Next refused(long now, String dc, Reply.Failure failure, boolean asked) {
    OsierException error = Calls.failed(failure, update);
    if (asked && goneOn < GO_ON_MAX && lacksThePast(now, failure.code())) {
      goneOn++;
      return new Next.GoOn();
    }
    return switch (failure.code()) {
      case UNAVAILABLE, SHUTTING_DOWN, SESSION_BEHIND, REFUSED_BY_PEERS ->
          elsewhere(now, dc, error);
      default -> new Next.End(error);
    };
  }

  /** Whether the datacenter lacks what the session has seen, and that is not waited for. */
  private boolean lacksThePast(long now, ErrorCode code) {
    return patienceNanos < Long.MAX_VALUE
        && (code == ErrorCode.SESSION_LOST
            || (code == ErrorCode.SESSION_BEHIND && now - startNanos >= patienceNanos));
  }

  /** What the caller would be told of a try without an answer. */
  OsierException outcome(String name, Throwable error) {
    // The connection knows of this try alone: what counts for the caller is the limit of the call.
    if (error instanceof LostException l && l.code() == ErrorCode.TIMEOUT && l.isSent()) {
      String message = name + " did not answer within " + limitMillis() + " ms";
      String more = refusal == null ? "" : "; before that: " + refusal.reason();
      return Calls.asOsier(new LostException(l.code(), true, message + more), update);
    }
    return Calls.asOsier(error, update);
  }

  /**
   * A try got no answer.
   *
   * @param outcome see {@link #outcome}
   */
  Next lost(long now, String dc, OsierException outcome) {
    if (!update
        && outcome.code() == ErrorCode.TIMEOUT
        && refusal != null
        && refusal.code() == ErrorCode.SESSION_BEHIND) {
      // What is lacking says more than that the last of many tries had too little time.
      return new Next.End(refusal);
    }
    boolean mayTryAgain =
        !(outcome instanceof OutcomeUnknownException) && outcome.code() == ErrorCode.UNAVAILABLE;
    return mayTryAgain ? elsewhere(now, dc, outcome) : new Next.End(outcome);
  }

  /** A datacenter did not tell what had to be known before anything could be sent. */
  Next untold(long now, String dc, OsierException why) {
    return switch (why.code()) {
      case UNAVAILABLE, SHUTTING_DOWN -> elsewhere(now, dc, why);
      default -> new Next.End(why);
    };
  }

  private Next elsewhere(long now, String dc, OsierException why) {
    refusal = why;
    Set<String> all = new HashSet<>(tried);
    all.add(dc);
    tried = all;
    return again(now, why, 0);
  }

  /** While there is time: at once elsewhere, or everywhere again after a pause. */
  private Next again(long now, OsierException last, long pauseMillisMax) {
    return leftNanos(now) / 1_000_000 <= PAUSE_MILLIS
        ? new Next.End(last)
        : new Next.Again(pauseMillisMax);
  }
}
