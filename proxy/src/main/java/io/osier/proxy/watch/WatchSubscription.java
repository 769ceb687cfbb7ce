package io.osier.proxy.watch;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Timers;
import io.osier.proxy.call.Call;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.SerialSubscription;
import io.osier.proxy.session.SessionCore;
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
 * One subscriber's watcher. It asks its datacenter for what is behind its position when that is
 * wanted, and again until there is something; where nobody answers it asks on, wherever the session
 * goes. One answer is held at a time. Signals come one after another by the subscriber's executor.
 *
 * @param <T> what the subscriber is told
 */
public final class WatchSubscription<T> extends SerialSubscription<T, WatchSubscription.Told> {
  private static final Logger LOG = LoggerFactory.getLogger(WatchSubscription.class);

  /** A datacenter waits so long for a change, and half of a call's time at most. */
  private static final int WAIT_MILLIS = 20_000;

  /** Longest pauses where nobody answers: it doubles with each time. */
  private static final long PAUSE_MILLIS_MIN = 200;

  private static final long PAUSE_MILLIS_MAX = 5_000;

  /** After so many questions in vain it is logged: a moment without a datacenter is no trouble. */
  private static final int SAID_AFTER = 3;

  /** What a datacenter has told, and what of the keys was read. */
  public record Told(Reply.Changes changes, Map<Key, Keyspace.Found> found) {}

  private final SessionCore session;
  private final Executor executor;
  private final long valueBytesMax;
  private final Function<Told, T> form;

  // Used by the working thread alone.
  private Request.Watch next;
  private @Nullable T held;
  private boolean asking;
  private long pauseMillis = PAUSE_MILLIS_MIN;

  /** Of a keyspace that has homes, all of which are watched; null until that is known. */
  private volatile @Nullable HomeChanges homes;

  /** How often in a row it was asked in vain. */
  private int inVain;

  /**
   * @param first the first question
   * @param valueBytesMax of what comes at once, after so many bytes no more values are read
   * @param form what the subscriber is told of what a datacenter has told
   */
  public WatchSubscription(
      SessionCore session,
      Request.Watch first,
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
      refused(e); // the executor takes no more
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

  /** Asks for more, if that is wanted, or if it is where the watcher begins. */
  private void askOn() {
    boolean isFirst = next.waitMillis() == 0;
    if (!isOver() && held == null && !asking && (isFirst || isWanted())) {
      asking = true;
      ask();
    }
  }

  /** Whether the error may be gone some time later, or at another datacenter. */
  private static boolean isPassing(ErrorCode code) {
    return switch (code) {
      case UNAVAILABLE, TIMEOUT, OVERLOADED, SHUTTING_DOWN, REFUSED_BY_PEERS, SESSION_BEHIND ->
          true;
      default -> false;
    };
  }

  /** Whether it begins at a position, of which another session may have been told elsewhere. */
  private static boolean goesOn(Request.Watch asked) {
    return asked.resumes() && !asked.places().isEmpty();
  }

  private void take(Told answer) {
    Reply.Changes told = answer.changes;
    if (goesOn(next)) {
      session.cache().clear();
    }
    boolean first = next.places().isEmpty() || next.waitMillis() == 0;
    // A watcher that begins anew, or walks through what is there, is told its position.
    boolean walks = told.places().stream().anyMatch(p -> p.next().isPresent());
    next =
        new Request.Watch(
            next.keyspace(), next.key(), next.prefix(), told.places(), false, WAIT_MILLIS);
    // The session has now seen them: what it kept of them may be older.
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
      askOn(); // while the subscriber is at it
      subscriber.onNext(told);
    }
  }

  private void askedInVain(OsierException error) {
    inVain++;
    if (inVain == SAID_AFTER) {
      LOG.warn(
          "changes in keyspace '{}' are not told at present, and are asked for again: {}: {}",
          next.keyspace(),
          error.code(),
          error.reason());
    }
  }

  private void answered() {
    if (inVain >= SAID_AFTER) {
      LOG.info("changes in keyspace '{}' are told again", next.keyspace());
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
    Request.Watch asked = next;
    boolean isOfAll = asked.prefix() && !Homes.isHome(asked.keyspace());
    Partitioning known = isOfAll ? session.partitioning(asked.keyspace()) : null;
    if (homes == null && known != null && !known.homes().isEmpty()) {
      homes = new HomeChanges(known.homes().keyspaces(asked.keyspace()), this::ask);
    }
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

  private CompletableFuture<Reply.Changes> ask(String home, Request.Watch asked) {
    Call<Reply.Changes> call =
        new Call<>(session, home, asked.prefix() ? null : asked.key().get(), false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Watch(
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
              return keyspace; // which does not fit the session's past, and is refused
            }
            if (asked.prefix() && homes == null) {
              throw OsierException.of(
                  ErrorCode.UNAVAILABLE, "only now it is known that '" + keyspace + "' has homes");
            }
            return super.home(told);
          }

          @Override
          protected boolean waitsForPast() {
            return false; // it has a position of its own
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
