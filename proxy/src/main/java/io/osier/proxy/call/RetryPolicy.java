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
 * Decides about one call: which datacenters not to try again, when to try again, and with which
 * error it ends. Pure: its methods are told what happened, and when. One try is under way at a
 * time.
 */
public final class RetryPolicy {
  /**
   * Longest pause before a call that all datacenters have refused tries them again, the first time.
   */
  public static final long PAUSE_MILLIS = 20;

  /** Longest such pause of all: the pause doubles each time that all have refused the call. */
  static final long PAUSE_MILLIS_MAX = 400;

  /** How often a call gives up updates that its datacenter lacks before it fails. */
  private static final int GO_ON_MAX = 3;

  sealed interface Next {
    /** Try again, after a random pause of at most this long; at once if it is 0. */
    record Again(long pauseMillisMax) implements Next {}

    /** Try the same datacenter again, giving up the updates that it lacks. */
    record GoOn() implements Next {}

    record End(OsierException error) implements Next {}
  }

  private final boolean update;
  private final long startNanos;
  private final long limitNanos;
  private final long patienceNanos;

  /** The datacenters that were tried in vain since the last pause. */
  private Set<String> tried = Set.of();

  /** The error of the last datacenter that was tried in vain; null before the first. */
  private @Nullable OsierException refusal;

  private long pauseMillis = PAUSE_MILLIS;

  /** How often the call has given up missing updates. */
  private int goneOn;

  /**
   * @param update whether the call may change something
   * @param startNanos when the call began
   * @param limitNanos how long the call may take
   * @param patienceNanos how long the call waits for updates that the session has seen, before it
   *     gives them up
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

  /** Returns the time that is left, in milliseconds; at least 1. */
  long leftMillis(long now) {
    return Math.max(1, leftNanos(now) / 1_000_000);
  }

  /**
   * Returns how long a datacenter may take to catch up: at most half of the time, so that another
   * one, which may be further ahead, can be tried.
   */
  int waitMillis(long now) {
    long most = Math.min(leftNanos(now) / 2, patienceNanos);
    return Math.clamp(most / 1_000_000, 0, Integer.MAX_VALUE);
  }

  /**
   * Decides whether it is too late to send the call.
   *
   * @param roundTripNanos the measured round trip; NaN if not measured
   * @return the error with which the call then ends; null if it is not too late
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
            "nothing was sent: the time limit of "
                + limitMillis()
                + " ms ended before a connection was free");
  }

  /**
   * Decides what happens when no datacenter is left to try.
   *
   * @param unreachable the error if none was tried
   */
  Next nowhere(long now, OsierException unreachable) {
    OsierException why = tried.isEmpty() || refusal == null ? unreachable : refusal;
    if (why.code() == ErrorCode.NOT_AUTHENTICATED || why.code() == ErrorCode.REFUSED_BY_PEERS) {
      return new Next.End(why); // another try does not help
    }
    if (tried.isEmpty()) {
      return again(now, why, PAUSE_MILLIS); // no datacenter was asked: none is overloaded
    }
    tried = Set.of(); // all were tried: begin again after a pause
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
    // The pause must leave time for another try.
    return again(now, why, Math.min(pause, Math.max(PAUSE_MILLIS, leftNanos(now) / 2_000_000)));
  }

  /**
   * Decides what happens after a datacenter's error reply.
   *
   * @param asked whether the request carried a vector of what the session has seen
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

  /**
   * Returns whether the datacenter lacks updates that the session has seen, and the session no
   * longer waits for them.
   */
  private boolean lacksThePast(long now, ErrorCode code) {
    return patienceNanos < Long.MAX_VALUE
        && (code == ErrorCode.SESSION_LOST
            || (code == ErrorCode.SESSION_BEHIND && now - startNanos >= patienceNanos));
  }

  /** Returns the error with which a call ends after a try without an answer. */
  OsierException outcome(String name, Throwable error) {
    // The connection knows only this try's time; the caller knows the call's time limit.
    if (error instanceof LostException l && l.code() == ErrorCode.TIMEOUT && l.isSent()) {
      String message = name + " did not answer within " + limitMillis() + " ms";
      String more = refusal == null ? "" : "; before that: " + refusal.reason();
      return Calls.asOsier(new LostException(l.code(), true, message + more), update);
    }
    return Calls.asOsier(error, update);
  }

  /**
   * Decides what happens after a try without an answer.
   *
   * @param outcome the result of {@link #outcome}
   */
  Next lost(long now, String dc, OsierException outcome) {
    if (!update
        && outcome.code() == ErrorCode.TIMEOUT
        && refusal != null
        && refusal.code() == ErrorCode.SESSION_BEHIND) {
      // That updates are missing says more than that the last of many tries had too little time.
      return new Next.End(refusal);
    }
    boolean mayTryAgain =
        !(outcome instanceof OutcomeUnknownException) && outcome.code() == ErrorCode.UNAVAILABLE;
    return mayTryAgain ? elsewhere(now, dc, outcome) : new Next.End(outcome);
  }

  /**
   * Decides what happens after a datacenter did not tell its keyspaces, so that nothing was sent.
   */
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

  /** Tries again if there is time for that; otherwise ends the call with the last error. */
  private Next again(long now, OsierException last, long pauseMillisMax) {
    return leftNanos(now) / 1_000_000 <= PAUSE_MILLIS
        ? new Next.End(last)
        : new Next.Again(pauseMillisMax);
  }
}
