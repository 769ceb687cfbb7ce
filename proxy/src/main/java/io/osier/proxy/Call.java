package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.concurrent.CompletableFuture;

/**
 * One call of a session, with its tries.
 *
 * @param <T> what its caller gets
 */
abstract class Call<T> implements Link.Answered {
  private final Session session;
  private final OsierClient client;
  private final Past past;
  private final String keyspace;
  private final Key key;
  private final boolean update;
  private final Timers timers;
  private final Tries tries;
  private final long startNanos;
  private final CompletableFuture<T> result = new CompletableFuture<>();

  // Of the present try.
  private Link to;
  private ReplicaId replica;
  private Slice slice;
  private long sentIn;
  private Request sent;

  /** Whether the keyspace is a causal one, as the datacenter said. */
  private boolean causal;

  /** Of which partition it asks; -1 for none in particular. */
  private int partition;

  /** What the session has seen of it, and the datacenter may lack. */
  private VersionVector asked;

  /** A commit number that the datacenter had given before the call was sent. */
  private long known;

  Call(Session session, String keyspace, Key key, boolean update) {
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
  void answeredBy(Link from, ReplicaId by) {}

  /** Whether the keyspace is a causal one, as the datacenter that answered said. */
  final boolean isCausal() {
    return causal;
  }

  /** Whether what is answered waits for all that the session has seen. */
  boolean waitsForPast() {
    return true;
  }

  /** Whether it may be sent again to the process that may have done it already. */
  boolean isRepeatable() {
    return false;
  }

  /** Sends it, when there is room for one more call: until then the calling thread waits. */
  CompletableFuture<T> start() {
    Room room = client.room();
    long now = startNanos;
    if (!room.enterAtOnce()) {
      OsierException full = room.enter(tries.deadlineNanos());
      if (full != null) {
        result.completeExceptionally(full);
        return result;
      }
      now = timers.nanoTime();
    }
    attempt(now);
    return result;
  }

  private void succeed(T made) {
    client.room().leave(); // first: callbacks may call again
    result.complete(made);
  }

  private void fail(OsierException error) {
    client.room().leave();
    result.completeExceptionally(error);
  }

  private void attempt() {
    attempt(timers.nanoTime());
  }

  private void attempt(long now) {
    if (client.isClosed()) {
      fail(client.unavailable());
      return;
    }
    Link link = session.route(tries.tried());
    if (link == null) {
      act(tries.nowhere(now, session.unreachable()));
      return;
    }
    Reply.KeyspaceInfo info = link.keyspace(keyspace);
    if (info == null) {
      fail(
          new OsierException(
              ErrorCode.UNKNOWN_KEYSPACE,
              link.name()
                  + " has no keyspace '"
                  + keyspace
                  + "'; it has "
                  + link.keyspaces().keySet().stream().sorted().toList()));
      return;
    }
    OsierException late = tries.tooLate(now, link.roundTripNanos());
    if (late != null) {
      fail(late);
      return;
    }
    send(link, info, now);
  }

  private void act(Tries.Next next) {
    switch (next) {
      case Tries.Next.Again a ->
          timers.later(this::attempt, a.afterPause() ? timers.pauseMillis(Tries.PAUSE_MILLIS) : 0);
      case Tries.Next.GoOn g -> throw new IllegalStateException("only who refused can be asked on");
      case Tries.Next.End e -> fail(e.error());
    }
  }

  /**
   * Sends it with no lock held: within the process the sender may be the one who answers other
   * calls, and runs their callers' code.
   */
  private void send(Link link, Reply.KeyspaceInfo info, long now) {
    ReplicaId left;
    boolean fits;
    synchronized (past) {
      Slices slices = past.slices(keyspace);
      fits = slices.fits(info.partitions());
      to = link;
      causal = info.causal();
      replica = link.replica();
      left = past.moveTo(replica);
      sentIn = past.epoch();
      partition = partition(info);
      slice = slices.get(partition);
      asked = slice.attachedIn == sentIn ? VersionVector.EMPTY : slice.seen();
      known = isRepeatable() ? past.known(slice, replica) : 0;
      boolean ordered = slice.writesUnderWay > 0;
      if (update && fits) {
        slice.writesUnderWay++;
      }
      sent = request(asked, ordered, tries.waitMillis(now));
    }
    session.moved(left, replica);
    if (!fits) {
      fail(past.misfit(keyspace, info.partitions()));
      return;
    }
    link.send(sent, now, tries.deadlineNanos(), this);
  }

  @Override
  public void answered(Reply reply) {
    concluded(reply, null);
  }

  @Override
  public void lost(LostException cause) {
    boolean unsure = update && isRepeatable() && cause.sent && cause.code == ErrorCode.UNAVAILABLE;
    if (unsure) {
      Home home = new Home(to, replica);
      new StepDelivery(client, home, (Request.Transact) sent, known, tries.deadlineNanos())
          .again()
          .whenComplete(this::concluded);
    } else {
      concluded(null, cause);
    }
  }

  private void concluded(Reply reply, Throwable error) {
    Link from;
    ReplicaId by;
    synchronized (past) {
      from = to;
      by = replica;
      if (update) {
        slice.writesUnderWay--;
      }
      if (reply != null && !(reply instanceof Reply.Failure)) {
        saw(reply);
      }
    }
    if (error != null) {
      lost(from, error);
      return;
    }
    if (reply instanceof Reply.Failure f) {
      answeredBy(from, by);
      refused(from, f);
      return;
    }
    answeredBy(from, by);
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

  /** Called with the lock held. */
  private void saw(Reply reply) {
    switch (reply) {
      case Reply.Done d -> slice.saw(d.dot());
      case Reply.Answer a -> slice.saw(a.seen());
      case Reply.Transacted t -> slice.saw(t.clock());
      case Reply.Page p -> {
        for (int i = 0; i < p.seen().size(); i++) {
          past.slice(keyspace, i).saw(p.seen().get(i));
        }
      }
      default -> {
        return;
      }
    }
    if (!past.isAt(replica)) {
      past.sawStranger();
    } else if (sentIn == past.epoch() && waitsForPast()) {
      slice.attachedIn = sentIn;
    }
  }

  private void refused(Link from, Reply.Failure failure) {
    client.settings().metrics().failed(from.dc(), failure.code());
    Tries.Next next = tries.refused(timers.nanoTime(), from.dc(), failure, !asked.isEmpty());
    if (next instanceof Tries.Next.GoOn) {
      goOn(from, failure);
    } else {
      act(next);
    }
  }

  /** Gives up what a datacenter lacks, and asks it again. */
  private void goOn(Link at, Reply.Failure failure) {
    client
        .inquiries()
        .through(at, keyspace, partition, tries.leftMillis(timers.nanoTime()))
        .whenComplete(
            (there, error) -> {
              Reply.KeyspaceInfo info = at.keyspace(keyspace);
              boolean went =
                  error == null && info != null && session.goOn(keyspace, partition, asked, there);
              if (went) {
                send(at, info, timers.nanoTime());
              } else {
                fail(Calls.failed(failure, update));
              }
            });
  }

  private void lost(Link from, Throwable error) {
    OsierException outcome = tries.outcome(from.name(), error);
    client.settings().metrics().failed(from.dc(), outcome.code());
    act(tries.lost(timers.nanoTime(), from.dc(), outcome));
  }
}
