package io.osier.proxy.call;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.Connection;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Timers;
import io.osier.proxy.client.CallLimiter;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.CallFuture.GivenUp;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call of a session: decides to which datacenters its tries ({@link CallAttempt}) go, and tells
 * its caller the outcome.
 *
 * @param <T> the type of the call's result
 */
public abstract class Call<T> implements CallFuture.Work {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<Call> OVER =
      AtomicIntegerFieldUpdater.newUpdater(Call.class, "over");

  final SessionCore session;
  final ClientCore client;

  /** From the first try on, the keyspace of the key's home, as a datacenter told it last. */
  protected String keyspace;

  /** The keyspace that the caller named. */
  private final String named;

  final boolean update;
  final Timers timers;
  final RetryPolicy tries;
  final long startNanos;
  private final @Nullable Key key;

  /** The datacenters that were asked for their keyspaces because they had not told this one. */
  private Set<String> asked = Set.of();

  /** Why those of them that did not tell them did not, by datacenter. */
  private Map<String, String> silent = Map.of();

  private final CallFuture<T> result = new CallFuture<>(this);

  /** 1 once the call has ended or was given up; the thread that sets it tells the caller. */
  private volatile int over;

  /** The latest try; null before the first one. */
  private volatile @Nullable CallAttempt latest;

  /** Whether the keyspace is a causal one, as the datacenter said. */
  private volatile boolean causal;

  private ClientObserver.Observed observed = ClientObserver.IGNORED;

  /** The datacenter that answered last. */
  private volatile @Nullable String answerer;

  public Call(SessionCore session, String keyspace, @Nullable Key key, boolean update) {
    this.session = session;
    this.client = session.client();
    this.timers = client.timers();
    this.startNanos = timers.nanoTime();
    this.tries =
        new RetryPolicy(
            update, startNanos, client.settings().timeout().toNanos(), session.patienceNanos());
    this.keyspace = keyspace;
    this.named = keyspace;
    this.key = key;
    this.update = update;
  }

  protected abstract Request request(VersionVector after, boolean ordered, int waitMillis);

  /** Converts a reply that is no error into the caller's result. */
  protected abstract T result(Reply reply);

  /** Returns the partition that the request is for; -1 if it is for no single partition. */
  protected int partition(Reply.KeyspaceInfo info) {
    return key == null ? -1 : info.partitioning().of(key);
  }

  /**
   * Returns the keyspace of the home that serves the call, for a keyspace with homes.
   *
   * @throws OsierException INVALID_ARGUMENT if the call concerns several homes
   */
  protected String home(Homes homes) {
    return key == null ? keyspace : homes.keyspace(keyspace, key);
  }

  /** Is told which process answered. */
  protected void answeredBy(Connection from, ReplicaId by) {}

  /** Returns whether the keyspace is causal, as the datacenter that answered said. */
  final boolean isCausal() {
    return causal;
  }

  /** Returns whether the datacenter waits, before it answers, for all that the session has seen. */
  protected boolean waitsForPast() {
    return true;
  }

  /** Returns whether the answer may show updates that the answering datacenter itself lacks. */
  protected boolean showsOthersPast() {
    return false;
  }

  /** Returns whether it may be sent again to a process that may have done it already. */
  protected boolean isRepeatable() {
    return false;
  }

  /** Returns whether a datacenter that does not hold the keyspace may forward it to a holder. */
  protected boolean mayBeForwarded() {
    return true;
  }

  /**
   * Returns whether no caller waits for the call, as for a watcher's poll: it does not count
   * against inFlightMax, is not observed, and does not keep a client from closing.
   */
  protected boolean isInBackground() {
    return false;
  }

  /** Returns whether to wait for the answer after the call was given up; see {@link #late}. */
  protected boolean hearsLate() {
    return false;
  }

  /** Takes the result of a call that had been given up. */
  protected void late(T made) {}

  /** Sends the call; first blocks the calling thread while the client is at its limit of calls. */
  public CallFuture<T> start() {
    if (client.isClosing()) {
      result.fail(client.unavailable());
      return result;
    }
    if (isInBackground()) {
      attempt(startNanos);
      return result;
    }
    observed = client.settings().listeners().observer().begins(keyspace, update);
    CallLimiter limiter = client.limiter();
    long now = startNanos;
    if (!limiter.enterAtOnce()) {
      OsierException full = limiter.enter(tries.deadlineNanos() - now);
      if (full != null) {
        observed.ended(Optional.empty(), Optional.of(full));
        result.fail(full);
        return result;
      }
      now = timers.nanoTime();
    }
    attempt(now);
    return result;
  }

  // ---------------------------------------------------------------- its end

  final boolean isOver() {
    return over != 0;
  }

  /** Marks the call as ended; returns false if it had ended before. */
  private boolean ends() {
    return OVER.getAndSet(this, 1) == 0;
  }

  private void succeed(T made) {
    if (!ends()) {
      late(made);
      return;
    }
    observed.ended(Optional.ofNullable(answerer), Optional.empty());
    leave(() -> result.succeed(made));
  }

  final void fail(OsierException error) {
    if (ends()) {
      failed(error);
    }
  }

  private void failed(OsierException error) {
    observed.ended(Optional.ofNullable(answerer), Optional.of(error));
    leave(() -> result.fail(error));
  }

  @Override
  public final void giveUp(GivenUp why) {
    if (!ends()) {
      return;
    }
    CallAttempt last = latest;
    boolean isUndone = last == null || last.withdraw();
    failed(
        isUndone || !update
            ? Calls.error(why)
            : new OutcomeUnknownException(why.code(), why.why()));
    if (last != null && !hearsLate()) {
      last.forget();
    }
  }

  /**
   * Leaves the limiter and tells the caller. Leaving comes first, since callbacks may make further
   * calls; but a client that is closing waits until callers have been told.
   */
  private void leave(Runnable told) {
    boolean isLast = client.isClosing();
    if (isLast) {
      told.run();
    }
    if (!isInBackground()) {
      client.limiter().leave();
    }
    if (!isLast) {
      told.run();
    }
  }

  // ---------------------------------------------------------------- its tries

  private void attempt() {
    attempt(timers.nanoTime());
  }

  private void attempt(long now) {
    if (isOver()) {
      return; // given up meanwhile
    }
    if (client.isClosed()) {
      fail(client.unavailable());
      return;
    }
    keyspace = named; // a new keyspace may have this name since the last try
    Connection connection = session.route(keyspace, tries.tried());
    Reply.KeyspaceInfo info = connection == null ? null : connection.keyspace(keyspace);
    Homes homes = info == null ? session.homes(keyspace) : info.partitioning().homes();
    if (!homes.isEmpty() && !Homes.isHome(keyspace)) {
      try {
        keyspace = home(homes);
      } catch (OsierException e) {
        fail(e.classified());
        return;
      }
      connection = session.route(keyspace, tries.tried());
      info = connection == null ? null : connection.keyspace(keyspace);
    }
    Connection forwarder =
        connection == null && mayBeForwarded() ? session.forwarder(keyspace, tries.tried()) : null;
    boolean looks =
        connection != null
            || (tries.tried().isEmpty()
                && (forwarder == null || client.datacenters().holders().looksAgain(keyspace, now)));
    if (info == null && looks) {
      Connection teller = session.teller(connection, asked);
      if (teller != null) {
        askForKeyspaces(teller, now); // it may have been created since the connection was made
        return;
      }
    }
    if (forwarder != null) {
      connection = forwarder;
      info = forwarder.told(keyspace);
    }
    if (connection == null) {
      act(tries.nowhere(now, session.unreachable(keyspace)));
      return;
    }
    if (info == null) {
      OsierException without =
          silent.containsKey(connection.dc())
              ? OsierException.of(
                  ErrorCode.UNAVAILABLE, connection.dc() + ": " + silent.get(connection.dc()))
              : session.without(connection, keyspace);
      asked = Set.of(); // a later try asks them again
      silent = Map.of();
      act(tries.untold(now, connection.dc(), without));
      return;
    }
    OsierException late = tries.tooLate(now, connection.roundTripNanos());
    if (late != null) {
      fail(late);
      return;
    }
    CallAttempt.send(this, connection, info, now);
  }

  /**
   * A datacenter has answered that it does not hold the keyspace, although it had told that it
   * does: asks it once for its keyspaces, and tries the call again.
   *
   * @return false if it was asked before
   */
  final boolean asksWhoHolds(Connection by) {
    if (asked.contains(by.dc())) {
      return false;
    }
    askForKeyspaces(by, timers.nanoTime());
    return true;
  }

  private void askForKeyspaces(Connection teller, long now) {
    Set<String> all = new HashSet<>(asked);
    all.add(teller.dc());
    asked = all;
    teller
        .refreshKeyspaces(tries.leftMillis(now))
        .whenComplete(
            (done, error) -> {
              if (error == null) {
                attempt(timers.nanoTime());
              } else {
                untold(teller, error);
              }
            });
  }

  /** Notes a try that is about to be sent to a datacenter that knows the keyspace. */
  final void begins(CallAttempt next) {
    latest = next;
  }

  final void toldWhether(boolean isCausal) {
    causal = isCausal;
  }

  /** Handles a datacenter that did not tell its keyspaces: the call was not sent to it. */
  private void untold(Connection by, Throwable error) {
    OsierException why = Calls.asOsier(error, false);
    client.settings().metrics().failed(by.dc(), why.code());
    Map<String, String> all = new HashMap<>(silent);
    all.put(by.dc(), why.reason());
    silent = all;
    act(tries.untold(timers.nanoTime(), by.dc(), why));
  }

  /** Notes which datacenter has answered; the answer may be an error. */
  final void answeredAt(Connection from, ReplicaId by) {
    answerer = from.dc();
    answeredBy(from, by);
  }

  /** Tells the caller an answer that is no error. */
  final void answer(Reply reply) {
    T made;
    try {
      made = result(reply);
    } catch (ClassCastException e) {
      fail(Calls.unexpected(reply));
      return;
    } catch (RuntimeException e) {
      fail(Calls.asOsier(e, false));
      return;
    }
    succeed(made);
  }

  final void act(RetryPolicy.Next next) {
    switch (next) {
      case RetryPolicy.Next.Again a ->
          timers.later(
              this::attempt, a.pauseMillisMax() == 0 ? 0 : timers.pauseMillis(a.pauseMillisMax()));
      case RetryPolicy.Next.GoOn g ->
          throw new IllegalStateException("only who refused can be asked on");
      case RetryPolicy.Next.End e -> fail(e.error());
    }
  }
}
