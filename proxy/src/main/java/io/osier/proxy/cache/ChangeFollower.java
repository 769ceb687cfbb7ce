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
 * Asks for the changes of {@link FollowedKeys}, at the datacenter that the client's requests go to,
 * until the client is closed. One question is under way at a time; where it cannot go on it begins
 * again after a pause that grows. No session and no caller's code takes part.
 */
public final class ChangeFollower {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeFollower.class);

  /** Pauses where nobody answers, or it cannot go on from where it was. */
  private static final long PAUSE_MILLIS_MIN = 100;

  private static final long PAUSE_MILLIS_MAX = 5_000;

  /** Where it is refused, and only what people do helps. */
  private static final long REFUSED_MILLIS = 30_000;

  private final Datacenters datacenters;
  private final Timers timers;
  private final ClientMetrics metrics;
  private final BooleanSupplier closing;
  private final FollowedKeys keys;
  private final long answerNanos;
  private long pauseMillis = PAUSE_MILLIS_MIN;

  /** Why it was refused, of which it was told; null if it is not. */
  private @Nullable ErrorCode refused;

  /**
   * @param closing whether the client takes no further calls: then it ends
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
        if (refused != code) { // it is tried again and again
          refused = code;
          LOG.warn(
              "the changes of {} cannot be followed, so answers are kept only as others are:"
                  + " {}: {}",
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
