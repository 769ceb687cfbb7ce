package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One call of a session, with its tries.
 *
 * @param <T> what its caller gets
 */
abstract class Call<T> implements Link.Answered {
  /** Only what the session has seen is given up; who asks for more must not ask for ever. */
  private static final int GO_ON_MAX = 3;

  private final Session session;
  private final OsierClient client;
  private final Past past;
  private final String keyspace;
  private final Key key;
  private final boolean update;
  private final long startNanos;
  private final long deadlineNanos;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private Set<String> tried = Set.of();

  /** Why the last one that was tried did not do it; null before. */
  private OsierException refusal;

  // Of the present try.
  private Link to;
  private ReplicaId replica;
  private Slice slice;
  private long sentIn;
  private Request sent;

  /** Whether the keyspace is a causal one, as the datacenter said. */
  private boolean causal;

  /** How often it went on without what was missing. */
  private int goneOn;

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
    this.startNanos = System.nanoTime();
    this.deadlineNanos = startNanos + client.settings().timeout().toNanos();
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
      OsierException full = room.enter(deadlineNanos);
      if (full != null) {
        result.completeExceptionally(full);
        return result;
      }
      now = System.nanoTime();
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
    attempt(System.nanoTime());
  }

  private void attempt(long now) {
    if (client.isClosed()) {
      fail(client.unavailable());
      return;
    }
    Link link = session.route(tried);
    if (link == null) {
      OsierException why = tried.isEmpty() ? session.unreachable() : refusal;
      tried = Set.of(); // all were tried: begin again after a pause
      again(why);
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
    long left = deadlineNanos - now;
    boolean isLate = now != startNanos;
    // What would be sent now, and heard by nobody, would only be in doubt.
    if (left <= 0 || (isLate && update && link.roundTripNanos() > left)) {
      fail(refusal != null ? refusal : neverSent());
      return;
    }
    send(link, info, now);
  }

  private OsierException neverSent() {
    return new OsierException(
        ErrorCode.TIMEOUT,
        "nothing was sent: the time limit of " + limitMillis() + " ms was over before");
  }

  private long limitMillis() {
    return client.settings().timeout().toMillis();
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
      // A datacenter gets time to catch up, but not all: another one may be ahead.
      long most = Math.min((deadlineNanos - now) / 2, session.patienceNanos());
      int wait = Math.clamp(most / 1_000_000, 0, Integer.MAX_VALUE);
      if (update && fits) {
        slice.writesUnderWay++;
      }
      sent = request(asked, ordered, wait);
    }
    session.moved(left, replica);
    if (!fits) {
      fail(past.misfit(keyspace, info.partitions()));
      return;
    }
    link.send(sent, now, deadlineNanos, this);
  }

  @Override
  public void answered(Reply reply) {
    concluded(reply, null);
  }

  @Override
  public void lost(Connection.LostException cause) {
    boolean unsure = update && isRepeatable() && cause.sent && cause.code == ErrorCode.UNAVAILABLE;
    if (unsure) {
      Home home = new Home(to, replica);
      new StepDelivery(client, home, (Request.Transact) sent, known, deadlineNanos)
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
    OsierException error = Calls.failed(failure, update);
    boolean elsewhere =
        switch (failure.code()) {
          case UNAVAILABLE, SHUTTING_DOWN, SESSION_BEHIND -> true;
          default -> false;
        };
    if (lacksThePast(failure.code()) && goneOn < GO_ON_MAX && !asked.isEmpty()) {
      goneOn++;
      goOn(from, failure);
    } else if (elsewhere) {
      tried(from, error);
      again(error);
    } else {
      fail(error);
    }
  }

  /** Whether the datacenter lacks what the session has seen, and that is not waited for. */
  private boolean lacksThePast(ErrorCode code) {
    long patience = session.patienceNanos();
    return patience < Long.MAX_VALUE
        && (code == ErrorCode.SESSION_LOST
            || (code == ErrorCode.SESSION_BEHIND && System.nanoTime() - startNanos >= patience));
  }

  /** Gives up what a datacenter lacks, and asks it again. */
  private void goOn(Link at, Reply.Failure failure) {
    long left = Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000);
    client
        .through(at, keyspace, partition, left)
        .whenComplete(
            (there, error) -> {
              Reply.KeyspaceInfo info = at.keyspace(keyspace);
              boolean went =
                  error == null && info != null && session.goOn(keyspace, partition, asked, there);
              if (went) {
                send(at, info, System.nanoTime());
              } else {
                fail(Calls.failed(failure, update));
              }
            });
  }

  private void tried(Link link, OsierException why) {
    refusal = why;
    Set<String> all = new HashSet<>(tried);
    all.add(link.dc());
    tried = all;
  }

  private void lost(Link from, Throwable error) {
    OsierException outcome = Calls.asOsier(inWords(from, error), update);
    client.settings().metrics().failed(from.dc(), outcome.code());
    boolean mayTryAgain =
        !(outcome instanceof OutcomeUnknownException) && outcome.code() == ErrorCode.UNAVAILABLE;
    if (mayTryAgain) {
      tried(from, outcome);
      again(outcome);
    } else {
      fail(outcome);
    }
  }

  /** The link knows of this try alone: what counts for the caller is the limit of the call. */
  private Throwable inWords(Link from, Throwable error) {
    if (error instanceof Connection.LostException l && l.code == ErrorCode.TIMEOUT && l.sent) {
      String message = from.name() + " did not answer within " + limitMillis() + " ms";
      return new Connection.LostException(
          l.code,
          true,
          refusal == null ? message : message + "; before that: " + refusal.getMessage());
    }
    return error;
  }

  /** Tries again elsewhere, after a short pause, while there is time. */
  private void again(OsierException last) {
    long left = (deadlineNanos - System.nanoTime()) / 1_000_000;
    if (left <= Session.RETRY_PAUSE_MILLIS) {
      fail(last);
      return;
    }
    long pause =
        ThreadLocalRandom.current()
            .nextLong(Session.RETRY_PAUSE_MILLIS / 2, Session.RETRY_PAUSE_MILLIS + 1);
    client.later(this::attempt, tried.isEmpty() ? pause : 0);
  }
}
