package io.osier.proxy;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import io.osier.proxy.protocol.TransactionId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * A sequence of reads and writes that belong together and for which the four session guarantees
 * hold: read your writes, monotonic reads, monotonic writes, writes follow reads, in each partition
 * of a keyspace, wherever the requests go. Cheap; thread-safe.
 *
 * <p>How: for each partition the session joins the version vectors of all that it has seen. The
 * first request that goes to another datacenter, or to a new incarnation of the same one, carries
 * that vector, and is answered once the datacenter covers it; from then on the datacenter's own
 * order suffices.
 */
public final class Session {
  private static final long RETRY_PAUSE_MILLIS = 20;

  /** A partition of a keyspace, as this session knows it. Guarded by the session's lock. */
  private static final class Slice {
    private VersionVector seen = VersionVector.EMPTY;

    /** A replica whose entry in what was seen is larger than in {@link #seen}, and that entry. */
    private ReplicaId replica;

    private long number;

    /** In this epoch the present datacenter is known to cover what was seen. */
    private long attachedIn = NEVER;

    private int writesUnderWay;

    VersionVector seen() {
      if (replica != null) {
        seen = seen.raised(replica, number);
        replica = null;
      }
      return seen;
    }

    void saw(VersionVector vector) {
      seen = seen().join(vector);
    }

    /** Most updates raise the same entry as the one before: the vector is made when it is used. */
    void saw(Dot dot) {
      if (!dot.replica().equals(replica)) {
        seen();
        replica = dot.replica();
        number = dot.number();
      } else {
        number = Math.max(number, dot.number());
      }
    }

    void forget() {
      seen = VersionVector.EMPTY;
      replica = null;
      attachedIn = NEVER;
    }
  }

  private static final long NEVER = -1;

  private final OsierClient client;
  private final ReadCache cache;

  /**
   * Keyspace → its partitions by number; before them the one for requests to none in particular.
   */
  private final Map<String, Slice[]> slices = new HashMap<>();

  private ReplicaId at;

  /**
   * Grows when the session moves and when it sees something of a datacenter that it has left. What
   * was sent before that did not carry what is seen by then, so its answer attaches nothing.
   */
  private long epoch;

  Session(OsierClient client) {
    this.client = client;
    this.cache = new ReadCache(client.settings());
  }

  /** The keyspace of that name. Whether it exists is seen at the first request. */
  public Keyspace keyspace(String name) {
    return new Keyspace(this, name);
  }

  /** The datacenter that served this session last; empty before the first request. */
  public synchronized Optional<String> datacenter() {
    return Optional.ofNullable(at).map(ReplicaId::dc);
  }

  /**
   * Forgets what this session has seen: it starts anew, without guarantees about what came before.
   */
  public synchronized void forget() {
    for (Slice[] all : slices.values()) {
      for (Slice slice : all) {
        if (slice != null) {
          slice.forget();
        }
      }
    }
    cache.clear();
  }

  /** Called with the lock held. */
  private Slice slice(String keyspace, int partition) {
    int at = partition + 1;
    Slice[] all = slices.get(keyspace);
    if (all == null || all.length <= at) {
      all = all == null ? new Slice[at + 1] : Arrays.copyOf(all, at + 1);
      slices.put(keyspace, all);
    }
    if (all[at] == null) {
      all[at] = new Slice();
    }
    return all[at];
  }

  // ---------------------------------------------------------------- requests

  /**
   * Does an update at once if the datacenter is in this process and takes it so. It needs no place
   * in what the session has seen: such a session has no other datacenter to go to, and every read
   * there shows what was acknowledged there.
   *
   * @return whether it is done; if not, {@link #write} must do it
   */
  boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    Link link = client.nearestConnection();
    if (link == null || !link.update(keyspace, key, type, operation)) {
      return false;
    }
    cache.invalidate(keyspace, key);
    return true;
  }

  CompletableFuture<Void> write(String keyspace, Key key, CrdtType type, Operation operation) {
    cache.invalidate(keyspace, key);
    Call<Void> call =
        new Call<>(keyspace, key, true) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(keyspace, key, type, operation, after, waitMillis);
          }

          @Override
          Void result(Reply reply) {
            if (!(reply instanceof Reply.Done)) {
              throw Calls.unexpected(reply);
            }
            cache.invalidate(keyspace, key);
            return null;
          }
        };
    return call.start();
  }

  /**
   * Reads.
   *
   * @param result what the caller makes of the answer
   */
  <T> CompletableFuture<T> read(
      String keyspace,
      Key key,
      Optional<CrdtType> type,
      Query query,
      Function<Reply.Answer, T> result) {
    ReadCache.Slot slot = cache.isOn() ? cache.slot(keyspace, key, type, query) : null;
    Reply.Answer cached = slot == null ? null : slot.get();
    if (cached != null) {
      client.settings().metrics().cacheHit();
      return CompletableFuture.completedFuture(cached).thenApply(result);
    }
    Call<T> call =
        new Call<>(keyspace, key, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(keyspace, key, type, query, after, ordered, waitMillis);
          }

          @Override
          T result(Reply reply) {
            Reply.Answer answer = (Reply.Answer) reply;
            if (slot != null) {
              slot.put(answer);
            }
            return result.apply(answer);
          }
        };
    return call.start();
  }

  CompletableFuture<Reply.Page> scan(Request.Scan scan) {
    Call<Reply.Page> call =
        new Call<>(scan.keyspace(), null, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return scan;
          }

          @Override
          Reply.Page result(Reply reply) {
            return (Reply.Page) reply;
          }
        };
    return call.start();
  }

  // ---------------------------------------------------------------- transactions

  /** Where a transaction lives. */
  record Home(Link connection, ReplicaId replica) {
    String dc() {
      return replica.dc();
    }
  }

  /** What this session has seen of a causal keyspace, which has one partition. */
  synchronized VersionVector clock(String keyspace) {
    return slice(keyspace, 0).seen();
  }

  CompletableFuture<Transaction> begin(String keyspace, TransactionOptions options) {
    TransactionId id = TransactionId.random();
    TransactCall call =
        new TransactCall(keyspace, id, options, List.of(), List.of(), Request.End.OPEN);
    return call.start()
        .thenApply(reply -> new Transaction(this, keyspace, id, call.home(), reply.clock()));
  }

  CompletableFuture<Reply.Transacted> together(
      String keyspace, List<Keyspace.Get> reads, List<Keyspace.Change> changes) {
    changes.forEach(c -> cache.invalidate(keyspace, c.key()));
    TransactCall call =
        new TransactCall(
            keyspace,
            TransactionId.random(),
            TransactionOptions.DEFAULT,
            changes.stream()
                .map(c -> new Request.Update(c.key(), c.type(), c.operation()))
                .toList(),
            reads.stream().map(g -> new Request.Fetch(g.key(), g.type(), g.query())).toList(),
            Request.End.COMMIT);
    return call.start()
        .thenApply(
            reply -> {
              changes.forEach(c -> cache.invalidate(keyspace, c.key()));
              return reply;
            });
  }

  /** A request that begins a transaction. */
  private final class TransactCall extends Call<Reply.Transacted> {
    private final TransactionId id;
    private final TransactionOptions options;
    private final List<Request.Update> updates;
    private final List<Request.Fetch> reads;
    private final Request.End end;
    private final String name;
    private volatile Home answeredAt;

    TransactCall(
        String keyspace,
        TransactionId id,
        TransactionOptions options,
        List<Request.Update> updates,
        List<Request.Fetch> reads,
        Request.End end) {
      super(keyspace, null, !updates.isEmpty());
      this.name = keyspace;
      this.id = id;
      this.options = options;
      this.updates = updates;
      this.reads = reads;
      this.end = end;
    }

    @Override
    int partition(Reply.KeyspaceInfo info) {
      return 0;
    }

    @Override
    Request request(VersionVector after, boolean ordered, int waitMillis) {
      VersionVector clock = options.past() ? options.clock() : options.clock().join(after);
      int limit = Math.toIntExact(options.limit().toMillis());
      Request.Begin begin = new Request.Begin(clock, options.past(), waitMillis, limit);
      return new Request.Transact(name, id, 1, Optional.of(begin), updates, reads, end);
    }

    @Override
    void answeredBy(Link from, ReplicaId replica) {
      answeredAt = new Home(from, replica);
    }

    @Override
    boolean isRepeatable() {
      return true;
    }

    @Override
    Reply.Transacted result(Reply reply) {
      return (Reply.Transacted) reply;
    }

    Home home() {
      return answeredAt;
    }
  }

  /** Does a further step of a transaction, where it lives. */
  CompletableFuture<Reply.Transacted> step(String keyspace, Home home, Request.Transact request) {
    boolean commits = request.end() == Request.End.COMMIT;
    long deadline = System.nanoTime() + client.settings().timeout().toNanos();
    CompletableFuture<Reply> result = new CompletableFuture<>();
    Slice slice;
    synchronized (this) {
      slice = slice(keyspace, 0);
      if (commits) {
        slice.writesUnderWay++;
      }
    }
    repeat(home, request, commits, false, deadline, result);
    return result.handle(
        (reply, error) -> {
          if (commits) {
            synchronized (this) {
              slice.writesUnderWay--;
            }
            cache.clear(); // which objects it changed is known there
          }
          if (error != null) {
            throw Calls.asOsier(error, commits);
          }
          return switch (reply) {
            case Reply.Transacted t -> {
              if (commits) {
                synchronized (this) {
                  slice.saw(t.clock());
                  if (!home.replica().equals(at)) {
                    sawStranger();
                  }
                }
              }
              yield t;
            }
            case Reply.Failure f -> {
              client.settings().metrics().failed(home.dc(), f.code());
              throw new OsierException(f.code(), f.message());
            }
            default -> throw Calls.unexpected(reply);
          };
        });
  }

  /**
   * Sends a step, again and again while its answer is lost, to the one process that knows the
   * transaction.
   *
   * @param sent whether it may have arrived there already
   */
  private void repeat(
      Home home,
      Request request,
      boolean update,
      boolean sent,
      long deadlineNanos,
      CompletableFuture<Reply> result) {
    long left = (deadlineNanos - System.nanoTime()) / 1_000_000;
    Link to = home.connection();
    ReplicaId there = to.replica();
    if (left <= 0 || (to.isUp() && !home.replica().equals(there))) {
      ErrorCode code = left <= 0 ? ErrorCode.TIMEOUT : ErrorCode.UNAVAILABLE;
      String message =
          left <= 0
              ? home.dc() + " did not answer the transaction in time"
              : home.dc() + " was restarted without the transaction: it is now " + there;
      result.completeExceptionally(
          update && sent
              ? new OutcomeUnknownException(code, message)
              : new OsierException(code, message));
      return;
    }
    if (!to.isUp()) {
      client.later(
          () -> repeat(home, request, update, sent, deadlineNanos, result), RETRY_PAUSE_MILLIS);
      return;
    }
    to.send(request, Math.max(1, left))
        .whenComplete(
            (reply, error) -> {
              if (error == null) {
                result.complete(reply);
                return;
              }
              boolean lost =
                  error instanceof Connection.LostException l && l.code == ErrorCode.UNAVAILABLE;
              boolean arrived = sent || (error instanceof Connection.LostException l && l.sent);
              if (lost) {
                client.later(
                    () -> repeat(home, request, update, arrived, deadlineNanos, result),
                    RETRY_PAUSE_MILLIS);
              } else {
                result.completeExceptionally(Calls.asOsier(error, update && arrived));
              }
            });
  }

  /**
   * One call with its tries.
   *
   * @param <T> what its caller gets
   */
  private abstract class Call<T> implements Link.Answered {
    private final String keyspace;
    private final Key key;
    private final boolean update;
    private final long startNanos = System.nanoTime();
    private final long deadlineNanos = startNanos + client.settings().timeout().toNanos();
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private Set<String> tried = Set.of();

    // Of the present try.
    private Link to;
    private ReplicaId replica;
    private Slice slice;
    private long sentIn;
    private Request sent;

    /** Who is sending just now: an answer that this thread hears meanwhile must wait. */
    private Thread sender;

    private Runnable early;

    Call(String keyspace, Key key, boolean update) {
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

    /** Whether it may be sent again to the process that may have done it already. */
    boolean isRepeatable() {
      return false;
    }

    CompletableFuture<T> start() {
      attempt(startNanos);
      return result;
    }

    private void attempt() {
      attempt(System.nanoTime());
    }

    private void attempt(long now) {
      Link link = tried.isEmpty() ? client.nearestConnection() : client.choose(tried);
      if (link == null) {
        tried = Set.of(); // all were tried: begin again after a pause
        again(client.unavailable());
        return;
      }
      Reply.KeyspaceInfo info = link.keyspace(keyspace);
      if (info == null) {
        result.completeExceptionally(
            new OsierException(
                ErrorCode.UNKNOWN_KEYSPACE,
                link.dc()
                    + " has no keyspace '"
                    + keyspace
                    + "'; it has "
                    + link.keyspaces().keySet().stream().sorted().toList()));
        return;
      }
      send(link, info, now);
    }

    private void send(Link link, Reply.KeyspaceInfo info, long now) {
      Runnable heard;
      synchronized (Session.this) {
        to = link;
        replica = link.replica();
        move(replica);
        sentIn = epoch;
        slice = slice(keyspace, partition(info));
        VersionVector after = slice.attachedIn == epoch ? VersionVector.EMPTY : slice.seen();
        boolean ordered = slice.writesUnderWay > 0;
        // A datacenter gets time to catch up, but not all: another one may be ahead.
        int wait = Math.clamp((deadlineNanos - now) / 2_000_000, 0, Integer.MAX_VALUE);
        if (update) {
          slice.writesUnderWay++;
        }
        sent = request(after, ordered, wait);
        sender = Thread.currentThread();
        link.send(sent, now, Math.max(deadlineNanos, now + 1_000_000), this);
        sender = null;
        heard = early;
        early = null;
      }
      if (heard != null) {
        heard.run();
      }
    }

    /**
     * Whether this is called back by the thread that is sending, which holds the session's lock:
     * callers must not be told under it. Other threads' answers wait for that lock by themselves,
     * and see everything that was set under it.
     */
    private boolean isSending() {
      return sender == Thread.currentThread();
    }

    @Override
    public void answered(Reply reply) {
      if (isSending()) {
        early = () -> concluded(reply, null);
      } else {
        concluded(reply, null);
      }
    }

    @Override
    public void lost(Connection.LostException cause) {
      if (isSending()) {
        early = () -> failed(cause);
      } else {
        failed(cause);
      }
    }

    private void failed(Connection.LostException cause) {
      boolean unsure =
          update && isRepeatable() && cause.sent && cause.code == ErrorCode.UNAVAILABLE;
      if (unsure) {
        CompletableFuture<Reply> again = new CompletableFuture<>();
        repeat(new Home(to, replica), sent, true, true, deadlineNanos, again);
        again.whenComplete(this::concluded);
      } else {
        concluded(null, cause);
      }
    }

    private void concluded(Reply reply, Throwable error) {
      Link from;
      ReplicaId by;
      synchronized (Session.this) {
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
        result.completeExceptionally(Calls.unexpected(reply));
        return;
      } catch (RuntimeException e) {
        result.completeExceptionally(e);
        return;
      }
      result.complete(made);
    }

    /** Called with the lock held. */
    private void saw(Reply reply) {
      switch (reply) {
        case Reply.Done d -> slice.saw(d.dot());
        case Reply.Answer a -> slice.saw(a.seen());
        case Reply.Transacted t -> slice.saw(t.clock());
        case Reply.Page p -> {
          for (int i = 0; i < p.seen().size(); i++) {
            slice(keyspace, i).saw(p.seen().get(i));
          }
        }
        default -> {
          return;
        }
      }
      if (!replica.equals(at)) {
        sawStranger();
      } else if (sentIn == epoch && !(reply instanceof Reply.Page)) {
        slice.attachedIn = epoch; // but a page had no vector to wait for
      }
    }

    private void refused(Link from, Reply.Failure failure) {
      client.settings().metrics().failed(from.dc(), failure.code());
      OsierException error = new OsierException(failure.code(), failure.message());
      boolean elsewhere =
          switch (failure.code()) {
            case UNAVAILABLE, SHUTTING_DOWN, SESSION_BEHIND -> true;
            default -> false;
          };
      if (elsewhere) {
        tried(from);
        again(error);
      } else {
        result.completeExceptionally(error);
      }
    }

    private void tried(Link link) {
      Set<String> all = new HashSet<>(tried);
      all.add(link.dc());
      tried = all;
    }

    private void lost(Link from, Throwable error) {
      OsierException outcome = Calls.asOsier(error, update);
      client.settings().metrics().failed(from.dc(), outcome.code());
      boolean mayTryAgain =
          !(outcome instanceof OutcomeUnknownException) && outcome.code() == ErrorCode.UNAVAILABLE;
      if (mayTryAgain) {
        tried(from);
        again(outcome);
      } else {
        result.completeExceptionally(outcome);
      }
    }

    /** Tries again elsewhere, after a short pause, while there is time. */
    private void again(OsierException last) {
      long left = (deadlineNanos - System.nanoTime()) / 1_000_000;
      if (left <= RETRY_PAUSE_MILLIS || client.isClosed()) {
        result.completeExceptionally(last);
        return;
      }
      long pause =
          ThreadLocalRandom.current().nextLong(RETRY_PAUSE_MILLIS / 2, RETRY_PAUSE_MILLIS + 1);
      client.later(this::attempt, tried.isEmpty() ? pause : 0);
    }
  }

  /** Notes which datacenter serves this session; another one must be shown what was seen. */
  private void move(ReplicaId to) {
    if (!to.equals(at)) {
      if (at != null) {
        client.settings().metrics().moved(at.dc(), to.dc());
        cache.clear();
      }
      at = to;
      sawStranger();
    }
  }

  private void sawStranger() {
    epoch++; // and no slice is attached in it
  }
}
