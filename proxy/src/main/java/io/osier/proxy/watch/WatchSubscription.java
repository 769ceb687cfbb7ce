package io.osier.proxy.watch;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Timers;
import io.osier.proxy.call.Call;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.SerialSubscription;
import io.osier.proxy.session.SessionCore;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subscriber's watcher. While the subscriber wants signals it polls a datacenter for changes
 * after its position; without an answer it tries again, at whatever datacenter the session uses. It
 * holds one answer at a time. Signals are sent one after another by the subscriber's executor.
 *
 * @param <T> the type of the signals
 */
public final class WatchSubscription<T> extends SerialSubscription<T, WatchSubscription.Told> {
  private static final Logger LOG = LoggerFactory.getLogger(WatchSubscription.class);

  /**
   * How long a datacenter waits for a change before it answers; at most half of a call's time
   * limit.
   */
  private static final int WAIT_MILLIS = 20_000;

  /** Longest first pause after a poll without an answer; it doubles each time up to the maximum. */
  private static final long PAUSE_MILLIS_MIN = 200;

  private static final long PAUSE_MILLIS_MAX = 5_000;

  /** After so many polls without an answer a line is logged: a short outage is no trouble. */
  private static final int SAID_AFTER = 3;

  /** A datacenter's answer, and the values of the changed keys that were read. */
  public record Told(Reply.Changes changes, Map<Key, Keyspace.Found> found) {}

  private final SessionCore session;
  private final Executor executor;
  private final long valueBytesMax;
  private final Function<Told, T> form;

  // Used by the working thread alone.
  private WatchRequest next;
  private @Nullable T held;
  private boolean asking;
  private long pauseMillis = PAUSE_MILLIS_MIN;

  /** The polls of all homes; null if the keyspace has none, or that is not known yet. */
  private volatile @Nullable HomeChanges homes;

  /** How many polls in a row had no answer. */
  private int inVain;

  /**
   * Makes a watcher.
   *
   * @param first the first poll
   * @param valueBytesMax the bytes of values after which no more are read for one signal; 0 for no
   *     values
   * @param form converts a datacenter's answer into a signal
   */
  public WatchSubscription(
      SessionCore session,
      WatchRequest first,
      Executor executor,
      long valueBytesMax,
      Function<Told, T> form,
      Flow.Subscriber<? super T> subscriber) {
    super(Objects.requireNonNull(subscriber, "subscriber"), "one at a time");
    this.session = session;
    this.next = first;
    this.executor = executor;
    this.valueBytesMax = valueBytesMax;
    this.form = form;
  }

  @Override
  protected void start() {
    try {
      executor.execute(this::go);
    } catch (RuntimeException e) {
      refused(e); // the executor was shut down, or is full
    }
  }

  @Override
  protected void drop() {
    held = null;
    if (homes != null) {
      homes.giveUp();
    }
  }

  @Override
  protected void step(@Nullable Arrival<Told> arrived) {
    if (arrived != null) {
      asking = false;
      if (arrived.error() != null) {
        OsierException error = Calls.asOsier(arrived.error(), false);
        if (session.client().isClosing() || !isPassing(error.code())) {
          fail(error);
          return;
        }
        asking = true;
        askedInVain(error);
        pause();
      } else if (arrived.answer() != null) {
        answered();
        take(arrived.answer());
      }
    }
    deliver();
    askOn();
  }

  /** Polls for more if the subscriber wants more, or for the watcher's first position. */
  private void askOn() {
    boolean isFirst = next.waitMillis() == 0;
    if (!isOver() && held == null && !asking && (isFirst || isWanted())) {
      asking = true;
      ask();
    }
  }

  /** Returns whether the error may pass with time, or at another datacenter. */
  private static boolean isPassing(ErrorCode code) {
    return switch (code) {
      case UNAVAILABLE, TIMEOUT, OVERLOADED, SHUTTING_DOWN, REFUSED_BY_PEERS, SESSION_BEHIND ->
          true;
      default -> false;
    };
  }

  /** Returns whether the poll begins at a given position, which may be from another session. */
  private static boolean goesOn(WatchRequest asked) {
    return asked.resumes() && !asked.places().isEmpty();
  }

  private void take(Told answer) {
    Reply.Changes told = answer.changes;
    if (goesOn(next)) {
      session.cache().clear();
    }
    boolean first = next.places().isEmpty() || next.waitMillis() == 0;
    // A watcher that begins anew, or is going through the existing objects, signals its position.
    boolean walks = told.places().stream().anyMatch(p -> p.next().isPresent());
    next =
        new WatchRequest(
            next.keyspace(), next.key(), next.prefix(), told.places(), false, WAIT_MILLIS);
    // The session has now seen these changes, and its kept answers may be older.
    told.changes().forEach(c -> session.cache().invalidate(next.keyspace(), c.key()));
    if (first || walks || !told.changes().isEmpty()) {
      held = form.apply(answer);
    }
  }

  private void deliver() {
    T told = held;
    if (told != null && isWanted()) {
      held = null;
      took();
      askOn(); // polls while the subscriber is busy
      subscriber.onNext(told);
    }
  }

  private void askedInVain(OsierException error) {
    inVain++;
    if (inVain == SAID_AFTER) {
      LOG.warn(
          "the watch of keyspace '{}' is interrupted and is tried again: {}: {}",
          next.keyspace(),
          error.code(),
          error.reason());
    }
  }

  private void answered() {
    if (inVain >= SAID_AFTER) {
      LOG.info("the watch of keyspace '{}' goes on", next.keyspace());
    }
    inVain = 0;
    pauseMillis = PAUSE_MILLIS_MIN;
  }

  private void pause() {
    Timers timers = session.client().timers();
    timers.later(() -> arrived(null, null), timers.pauseMillis(pauseMillis));
    pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
  }

  private void ask() {
    boolean isOfAll = next.prefix() && !Homes.isHome(next.keyspace());
    Partitioning known = isOfAll ? session.partitioning(next.keyspace()) : null;
    if (known != null && !known.homes().isEmpty()) {
      takeHomes(known);
    }
    WatchRequest asked = next;
    CompletableFuture<Reply.Changes> told =
        homes == null ? ask(asked.keyspace(), asked) : homes.ask(asked);
    await(
        valueBytesMax == 0
            ? told.thenApply(changes -> new Told(changes, Map.of()))
            : told.thenCompose(
                changes ->
                    ChangedValues.of(session, asked.keyspace(), changes, valueBytesMax)
                        .thenApply(found -> new Told(changes, found))));
  }

  private void takeHomes(Partitioning known) {
    List<String> all = known.homes().keyspaces(next.keyspace());
    HomeChanges of = homes == null ? new HomeChanges(all, this::ask) : homes;
    homes = of;
    List<WatchRequest.Place> places = of.grow(all, known.count(), next.places());
    next =
        new WatchRequest(
            next.keyspace(), next.key(), next.prefix(), places, next.resumes(), next.waitMillis());
  }

  private CompletableFuture<Reply.Changes> ask(String home, WatchRequest asked) {
    Call<Reply.Changes> call =
        new Call<>(session, home, asked.prefix() ? null : asked.key().get(), false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new WatchRequest(
                keyspace,
                asked.key(),
                asked.prefix(),
                asked.places(),
                asked.resumes(),
                Math.min(asked.waitMillis(), waitMillis));
          }

          @Override
          protected String home(Homes told) {
            if (asked.prefix() && session.past().isWithoutHomes(keyspace)) {
              return keyspace; // refused, as it does not fit the session
            }
            if (asked.prefix() && homes == null) {
              throw OsierException.of(
                  ErrorCode.UNAVAILABLE,
                  "'"
                      + keyspace
                      + "' has homes, which this client has just learnt; the watch starts anew");
            }
            return super.home(told);
          }

          @Override
          protected boolean waitsForPast() {
            return false; // the position is its vector
          }

          @Override
          protected boolean showsOthersPast() {
            return goesOn(asked);
          }

          @Override
          protected boolean isInBackground() {
            return true;
          }

          @Override
          protected Reply.Changes result(Reply reply) {
            return (Reply.Changes) reply;
          }
        };
    return call.start();
  }
}
