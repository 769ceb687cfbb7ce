package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.concurrent.CompletableFuture;

/**
 * Brings one step of a transaction to the one process where the transaction lives, and asks there
 * again while the answer is lost.
 *
 * <p>The first answer to the first sending is believed, whatever it is. Once a sending may have
 * arrived whose answer was lost, a refusal (a full queue, a full disk, a stop, a limit of this
 * client) says nothing of it: only what the datacenter knows of the transaction counts. So it is
 * asked on, at the same process alone, until the time is over; then the outcome is unknown.
 */
final class StepDelivery implements Connection.Answered {
  private static final long PAUSE_MILLIS_MAX = 400;

  private final OsierClient client;
  private final Home home;
  private final Request.Transact step;
  private final long known;
  private final long deadlineNanos;
  private final CompletableFuture<Reply> result = new CompletableFuture<>();
  private long pauseMillis = Tries.PAUSE_MILLIS;

  /**
   * Whether a sending may have arrived whose answer is lost. One sending is under way at a time.
   */
  private volatile boolean unsure;

  /**
   * A delivery.
   *
   * @param known a commit number that the datacenter had given before the first sending; 0 if none
   *     is known
   */
  StepDelivery(
      OsierClient client, Home home, Request.Transact step, long known, long deadlineNanos) {
    this.client = client;
    this.home = home;
    this.step = step;
    this.known = known;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * Sends it. The result fails with {@link OutcomeUnknownException} if it may have been done, and
   * otherwise with the error for which it was not.
   */
  CompletableFuture<Reply> start() {
    send();
    return result;
  }

  /** As {@link #start}, after a sending that may have arrived. */
  CompletableFuture<Reply> again() {
    unsure = true;
    return start();
  }

  private void send() {
    Connection to = home.connection();
    long now = client.timers().nanoTime();
    ReplicaId there = to.replica();
    if (client.isClosed()) {
      giveUp(ErrorCode.UNAVAILABLE, "the client was closed");
    } else if (now - deadlineNanos >= 0) {
      giveUp(ErrorCode.TIMEOUT, home.dc() + " did not answer the transaction in time");
    } else if (to.isUp() && !home.replica().equals(there)) {
      giveUp(
          ErrorCode.UNAVAILABLE,
          home.dc() + " was restarted without the transaction: it is now " + there);
    } else if (!to.isUp()) {
      later();
    } else {
      Request request = unsure ? new Request.Repeat(home.replica(), known, step) : step;
      to.send(request, now, deadlineNanos, this);
    }
  }

  @Override
  public void answered(Reply reply) {
    if (!unsure) {
      result.complete(reply);
      return;
    }
    switch (reply) {
      case Reply.Failure f -> {
        switch (f.code()) {
          case TRANSACTION_ENDED -> result.complete(f);
          case TRANSACTION_FORGOTTEN -> giveUp(f.code(), f.message());
          default -> later();
        }
      }
      default -> result.complete(reply);
    }
  }

  @Override
  public void lost(LostException cause) {
    unsure |= cause.sent;
    if (cause.code == ErrorCode.UNAVAILABLE || (unsure && cause.code != ErrorCode.TIMEOUT)) {
      later();
    } else {
      giveUp(cause.code, cause.getMessage());
    }
  }

  private void later() {
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
    long left = (deadlineNanos - client.timers().nanoTime()) / 1_000_000;
    client.timers().later(this::send, Math.clamp(left, 1, pause));
  }

  private void giveUp(ErrorCode code, String message) {
    result.completeExceptionally(
        unsure ? new OutcomeUnknownException(code, message) : new OsierException(code, message));
  }
}
