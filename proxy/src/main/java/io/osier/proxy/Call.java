package io.osier.proxy;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.CallFuture.GivenUp;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call of a session, with its tries.
 *
 * @param <T> what its caller gets
 */
abstract class Call<T> implements CallFuture.Work {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<Call> OVER =
      AtomicIntegerFieldUpdater.newUpdater(Call.class, "over");

  private final Session session;
  private final OsierClient client;
  private final Past past;
  private final String keyspace;
  private final @Nullable Key key;
  private final boolean update;
  private final Timers timers;
  private final Tries tries;
  private final long startNanos;

  /** Whether the keyspaces were asked for again because this one's was not among them. */
  private boolean asksForKeyspaces;

  private final CallFuture<T> result = new CallFuture<>(this);

  /** 1 once it has ended, or was given up: whoever comes first tells how. */
  private volatile int over;

  /** The latest try; null before the first. */
  private volatile @Nullable Try latest;

  /** Whether the keyspace is a causal one, as the datacenter said. */
  private volatile boolean causal;

  private ClientObserver.Observed observed = ClientObserver.IGNORED;

  /** The datacenter that answered last. */
  private volatile @Nullable String answerer;

  Call(Session session, String keyspace, @Nullable Key key, boolean update) {
    this.session = session;
    this.client = session.client();
    this.past = session.past();
    this.timers = client.timers();
    this.startNanos = timers.nanoTime();
    this.tries =
        new Tries(
            update, startNanos, client.settings().timeout().toNanos(), session.patienceNanos());
    this.keyspace = keyspace;
    this.key = key;
    this.update = update;
  }

  abstract Request request(VersionVector after, boolean ordered, int waitMillis);

  /** What the caller gets, of a reply that is no failure. */
  abstract T result(Reply reply);

  /** The partition that is asked; -1 if it is none in particular. */
  int partition(Reply.KeyspaceInfo info) {
    return key == null ? -1 : key.partition(info.partitions());
  }

  /** Hears who answered. */
  void answeredBy(Connection from, ReplicaId by) {}

  /** Whether the keyspace is a causal one, as the datacenter that answered said. */
  final boolean isCausal() {
    return causal;
  }

  /** Whether what is answered waits for all that the session has seen. */
  boolean waitsForPast() {
    return true;
  }

  /** Whether its answer counts more as seen than the datacenter that answers may have. */
  boolean showsOthersPast() {
    return false;
  }

  /** Whether it may be sent again to the process that may have done it already. */
  boolean isRepeatable() {
    return false;
  }

  /**
   * Whether nobody waits for it, as for a watcher's poll: such a one takes no room from calls that
   * somebody waits for, nobody observes it, and a client that closes need not wait for it.
   */
  boolean isInBackground() {
    return false;
  }

  /** Whether it waits for its answer also after it was given up, when that is told by this. */
  boolean hearsLate() {
    return false;
  }

  /** What was given up was done nevertheless. */
  void late(T made) {}

  /** Sends it, when there is room for one more call: until then the calling thread waits. */
  CallFuture<T> start() {
    if (client.isClosing()) {
      result.fail(client.unavailable());
      return result;
    }
    if (isInBackground()) {
      attempt(startNanos);
      return result;
    }
    observed = client.settings().observer().begins(keyspace, update);
    Room room = client.room();
    long now = startNanos;
    if (!room.enterAtOnce()) {
      OsierException full = room.enter(tries.deadlineNanos() - now);
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

  private boolean isOver() {
    return over != 0;
  }

  /** Whether it had not ended before. */
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

  private void fail(OsierException error) {
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
    Try last = latest;
    boolean isUndone = last == null || last.withdraw();
    failed(
        isUndone || !update
            ? Calls.error(why)
            : new OutcomeUnknownException(why.code(), why.why()));
    if (last != null && !hearsLate()) {
      last.forget();
    }
  }

  /** Leaves the room first, as callbacks may call again; or last, if who closes waits for all. */
  private void leave(Runnable told) {
    boolean isLast = client.isClosing();
    if (isLast) {
      told.run();
    }
    if (!isInBackground()) {
      client.room().leave();
    }
    if (!isLast) {
      told.run();
    }
  }

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
    Connection connection = session.route(tries.tried());
    if (connection == null) {
      act(tries.nowhere(now, session.unreachable()));
      return;
    }
    Reply.KeyspaceInfo info = connection.keyspace(keyspace);
    if (info == null && !asksForKeyspaces) {
      asksForKeyspaces = true; // it may have been created since the connection was made
      connection
          .refreshKeyspaces(tries.leftMillis(now))
          .whenComplete(
              (done, error) -> {
                if (error == null) {
                  attempt(timers.nanoTime());
                } else {
                  untold(connection, error);
                }
              });
      return;
    }
    if (info == null) {
      fail(
          new OsierException(
              ErrorCode.UNKNOWN_KEYSPACE,
              connection.name()
                  + " has no keyspace '"
                  + keyspace
                  + "'; it has "
                  + connection.keyspaces().keySet().stream().sorted().toList()));
      return;
    }
    OsierException late = tries.tooLate(now, connection.roundTripNanos());
    if (late != null) {
      fail(late);
      return;
    }
    send(connection, info, now);
  }

  /** A datacenter did not tell its keyspaces: nothing of the call itself was sent to it. */
  private void untold(Connection by, Throwable error) {
    asksForKeyspaces = false; // who is tried next may be asked
    OsierException why = Calls.asOsier(error, false);
    client.settings().metrics().failed(by.dc(), why.code());
    act(tries.untold(timers.nanoTime(), by.dc(), why));
  }

  private void answer(Reply reply) {
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

  private void act(Tries.Next next) {
    switch (next) {
      case Tries.Next.Again a ->
          timers.later(
              this::attempt, a.pauseMillisMax() == 0 ? 0 : timers.pauseMillis(a.pauseMillisMax()));
      case Tries.Next.GoOn g -> throw new IllegalStateException("only who refused can be asked on");
      case Tries.Next.End e -> fail(e.error());
    }
  }

  /**
   * Sends it with no lock held: within the process the sender may be the one who answers other
   * calls, and runs their callers' code.
   */
  private void send(Connection connection, Reply.KeyspaceInfo info, long now) {
    ReplicaId replica = requireNonNull(connection.replica()); // it has told its keyspaces
    ReplicaId left;
    Try next;
    synchronized (past) {
      Slices slices = past.slices(keyspace);
      left = past.moveTo(replica);
      if (slices.fits(info.partitions())) {
        next = new Try(connection, replica, partition(info), slices, now);
      } else {
        next = null;
      }
    }
    causal = info.causal();
    session.moved(left, replica);
    if (next == null) {
      fail(past.misfit(keyspace, info.partitions()));
    } else {
      latest = next;
      // What it need not show to this process it must show to the one behind it.
      connection.send(replica, next.sent, now, tries.deadlineNanos(), next);
    }
  }

  /** One sending, and what comes of it. */
  private final class Try extends Sending implements Connection.Answered {
    private final Connection to;
    private final ReplicaId replica;

    /** Of which partition it asks; -1 for none in particular. */
    private final int partition;

    private final Slice slice;
    private final long sentIn;

    /** What the session has seen of the partition, and the datacenter may lack. */
    private final VersionVector asked;

    /** A commit number that the datacenter had given before. */
    private final long known;

    private final Request sent;

    /** Ends the waiting for the answer. */
    private volatile Runnable end = () -> {};

    /** Called with the past's lock held. */
    Try(Connection to, ReplicaId replica, int partition, Slices slices, long now) {
      this.to = to;
      this.replica = replica;
      this.partition = partition;
      this.slice = slices.get(partition);
      this.sentIn = past.epoch();
      this.asked = slice.attachedIn == sentIn ? VersionVector.EMPTY : slice.seen();
      this.known = isRepeatable() ? past.known(slice, replica) : 0;
      boolean ordered = slice.writesUnderWay > 0;
      if (update) {
        slice.writesUnderWay++;
      }
      this.sent = request(asked, ordered, tries.waitMillis(now));
    }

    @Override
    public boolean begins() {
      return isOver() ? !withdraw() : super.begins();
    }

    @Override
    public boolean isWanted() {
      return !isOver() || hearsLate();
    }

    @Override
    public void endsBy(Runnable ending) {
      end = ending;
      if (!isWanted()) {
        ending.run();
      }
    }

    /** Nobody waits for the answer any more. */
    void forget() {
      end.run();
    }

    @Override
    public void answered(Reply reply) {
      concluded(reply);
    }

    @Override
    public void lost(LostException cause) {
      boolean unsure =
          update && isRepeatable() && cause.sent && cause.code == ErrorCode.UNAVAILABLE;
      if (unsure) {
        Home home = new Home(to, replica);
        StepDelivery delivery =
            new StepDelivery(client, home, (Request.Transact) sent, known, tries.deadlineNanos());
        endsBy(delivery::giveUp);
        delivery
            .again()
            .whenComplete(
                (reply, error) -> {
                  if (error == null) {
                    concluded(reply);
                  } else {
                    unanswered(error);
                  }
                });
      } else {
        unanswered(cause);
      }
    }

    private void concluded(Reply reply) {
      synchronized (past) {
        ended();
        if (!(reply instanceof Reply.Failure)) {
          saw(reply);
        }
      }
      answerer = to.dc();
      answeredBy(to, replica);
      TracedAnswers traces = client.settings().traces();
      if (update && traces.isOn()) {
        traces.answered(keyspace, partition, to.dc(), reply, timers.nanoTime() - startNanos);
      }
      if (reply instanceof Reply.Failure f) {
        refused(f);
      } else {
        answer(reply);
      }
    }

    private void ended() {
      if (update) {
        slice.writesUnderWay--;
      }
    }

    /** Called with the lock held. */
    private void saw(Reply reply) {
      switch (reply) {
        case Reply.Done d -> {
          d.answer().ifPresent(a -> slice.saw(a.seen()));
          slice.saw(d.dot());
        }
        case Reply.Answer a -> slice.saw(a.seen());
        case Reply.Transacted t -> slice.saw(t.clock());
        case Reply.All all -> {
          if (!saw(all)) {
            return; // perhaps nothing of it came to the partition
          }
        }
        case Reply.Page p -> saw(p.seen());
        case Reply.Counted c -> saw(c.seen());
        case Reply.Changes c -> saw(c);
        default -> {
          return;
        }
      }
      if (!past.isAt(replica) || showsOthersPast()) {
        past.sawStranger();
      } else if (sentIn == past.epoch() && waitsForPast()) {
        slice.attachedIn = sentIn;
      }
    }

    private void saw(Reply.Changes told) {
      List<VersionVector> seen = told.places().stream().map(Request.Place::seen).toList();
      if (partition >= 0) {
        slice.saw(seen.getFirst());
      } else {
        saw(seen);
      }
    }

    private void saw(List<VersionVector> byPartition) {
      for (int i = 0; i < byPartition.size(); i++) {
        past.slice(keyspace, i).saw(byPartition.get(i));
      }
    }

    /** Returns whether anything was done or read. */
    private boolean saw(Reply.All all) {
      boolean any = false;
      for (Reply part : all.parts()) {
        switch (part) {
          case Reply.Done d -> slice.saw(d.dot());
          case Reply.Answer a -> slice.saw(a.seen());
          default -> {
            continue;
          }
        }
        any = true;
      }
      return any;
    }

    private void refused(Reply.Failure failure) {
      if (isOver()) {
        return;
      }
      if (failure.code() != ErrorCode.TIMEOUT) {
        isUndone();
      }
      client.settings().metrics().failed(to.dc(), failure.code());
      Tries.Next next = tries.refused(timers.nanoTime(), to.dc(), failure, !asked.isEmpty());
      if (next instanceof Tries.Next.GoOn) {
        goOn(failure);
      } else {
        act(next);
      }
    }

    /** Gives up what a datacenter lacks, and asks it again. */
    private void goOn(Reply.Failure failure) {
      client
          .inquiries()
          .through(to, keyspace, partition, tries.leftMillis(timers.nanoTime()))
          .whenComplete(
              (there, error) -> {
                Reply.KeyspaceInfo info = to.keyspace(keyspace);
                long now = timers.nanoTime();
                if (error == null
                    && info != null
                    && tries.tooLate(now, to.roundTripNanos()) == null
                    && session.goOn(keyspace, partition, asked, there)) {
                  send(to, info, now);
                } else {
                  fail(Calls.failed(failure, update));
                }
              });
    }

    private void unanswered(Throwable error) {
      synchronized (past) {
        ended();
      }
      if (isOver()) {
        return;
      }
      OsierException outcome = tries.outcome(to.name(), error);
      if (!(outcome instanceof OutcomeUnknownException)) {
        isUndone();
      }
      client.settings().metrics().failed(to.dc(), outcome.code());
      act(tries.lost(timers.nanoTime(), to.dc(), outcome));
    }
  }
}
