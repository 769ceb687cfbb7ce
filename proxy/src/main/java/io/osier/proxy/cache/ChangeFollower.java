package io.osier.proxy.cache;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.Timers;
import io.osier.proxy.connection.Datacenters;
import io.osier.proxy.future.Calls;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the datacenter that the client's requests go to for the changes of {@link FollowedKeys},
 * until the client is closed. One poll is under way at a time; after an error it tries again, with
 * a growing pause. It uses no session, and runs no caller's code.
 */
public final class ChangeFollower {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeFollower.class);

  /** Pauses after a poll without an answer, or one that cannot continue from its position. */
  private static final long PAUSE_MILLIS_MIN = 100;

  private static final long PAUSE_MILLIS_MAX = 5_000;

  /** Pause after a refusal that only an administrator can end. */
  private static final long REFUSED_MILLIS = 30_000;

  private final Datacenters datacenters;
  private final Timers timers;
  private final ClientMetrics metrics;
  private final BooleanSupplier closing;
  private final FollowedKeys keys;
  private final long answerNanos;
  private long pauseMillis = PAUSE_MILLIS_MIN;

  /** The refusal that was logged last; null if the last poll was not refused. */
  private @Nullable ErrorCode refused;

  /**
   * Makes a follower.
   *
   * @param closing returns whether the client takes no further calls; following then ends
   * @param answerNanos how long to wait for an answer
   */
  public ChangeFollower(
      Datacenters datacenters,
      Timers timers,
      ClientMetrics metrics,
      BooleanSupplier closing,
      FollowedKeys keys,
      long answerNanos) {
    this.datacenters = datacenters;
    this.timers = timers;
    this.metrics = metrics;
    this.closing = closing;
    this.keys = keys;
    this.answerNanos = answerNanos;
  }

  public void begin() {
    ask();
  }

  private void ask() {
    if (closing.getAsBoolean()) {
      keys.end();
      return;
    }
    Connection to = datacenters.route(keys.prefix().keyspace(), Set.of());
    ReplicaId of = to == null ? null : to.replica();
    if (to == null || of == null) {
      unanswered();
      return;
    }
    long now = timers.nanoTime();
    to.send(
        keys.ask(of, now),
        now,
        now + answerNanos,
        new Connection.Answered() {
          @Override
          public void answered(Reply reply) {
            if (reply instanceof Reply.Failure f) {
              metrics.failed(to.dc(), f.code());
            }
            heard(reply);
          }

          @Override
          public void lost(LostException cause) {
            metrics.failed(to.dc(), cause.code());
            unanswered();
          }
        });
  }

  private void heard(Reply reply) {
    switch (reply) {
      case Reply.Changes told -> told(told);
      case Reply.Failure f -> failed(f.code(), f.message());
      default -> failed(ErrorCode.INTERNAL, Calls.unexpected(reply).getMessage());
    }
  }

  private void told(Reply.Changes told) {
    switch (keys.answered(told)) {
      case BEGUN -> {
        if (refused != null) {
          refused = null;
          LOG.info("the changes of {} are followed again", keys.prefix());
        }
        ask();
      }
      case GOES_ON -> {
        pauseMillis = PAUSE_MILLIS_MIN;
        ask();
      }
      case ENDED -> later();
    }
  }

  private void failed(ErrorCode code, @Nullable String message) {
    switch (code) {
      case UNAVAILABLE, TIMEOUT, OVERLOADED, SHUTTING_DOWN, REFUSED_BY_PEERS -> unanswered();
      case WATCHER_TOO_SLOW, HISTORY_TOO_SHORT, SESSION_LOST -> {
        keys.end();
        later();
      }
      default -> {
        keys.end();
        if (refused != code) { // logged once, although it is tried again
          refused = code;
          LOG.warn(
              "the changes of {} cannot be followed, so cached answers with this prefix expire like"
                  + " all others: {}: {}",
              keys.prefix(),
              code,
              message);
        }
        timers.later(this::ask, timers.pauseMillis(REFUSED_MILLIS));
      }
    }
  }

  private void unanswered() {
    keys.unanswered();
    later();
  }

  private void later() {
    long pause = timers.pauseMillis(pauseMillis);
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
    timers.later(this::ask, pause);
  }
}
