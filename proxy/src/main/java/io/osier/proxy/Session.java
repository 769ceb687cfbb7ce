package io.osier.proxy;

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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

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

  private record Slice(String keyspace, int partition) {}

  private final OsierClient client;
  private final ReadCache cache;
  private final Map<Slice, VersionVector> seen = new HashMap<>();

  /** The partitions whose vector the present datacenter is known to cover. */
  private final Set<Slice> attached = new HashSet<>();

  private final Map<Slice, Integer> writesUnderWay = new HashMap<>();
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
    seen.clear();
    attached.clear();
    cache.clear();
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

  CompletableFuture<Reply.Done> write(
      String keyspace, Key key, CrdtType type, Operation operation) {
    cache.invalidate(keyspace, key);
    Call call =
        new Call(keyspace, key, true) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(keyspace, key, type, operation, after, waitMillis);
          }
        };
    return call.start()
        .thenApply(
            reply -> {
              cache.invalidate(keyspace, key);
              return (Reply.Done) reply;
            });
  }

  CompletableFuture<Reply.Answer> read(
      String keyspace, Key key, Optional<CrdtType> type, Query query) {
    ReadCache.Slot slot = cache.slot(keyspace, key, type, query);
    Reply.Answer cached = slot.get();
    if (cached != null) {
      client.settings().metrics().cacheHit();
      return CompletableFuture.completedFuture(cached);
    }
    Call call =
        new Call(keyspace, key, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(keyspace, key, type, query, after, ordered, waitMillis);
          }
        };
    return call.start()
        .thenApply(
            reply -> {
              Reply.Answer answer = (Reply.Answer) reply;
              slot.put(answer);
              return answer;
            });
  }

  CompletableFuture<Reply.Page> scan(Request.Scan scan) {
    Call call =
        new Call(scan.keyspace(), null, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return scan;
          }
        };
    return call.start().thenApply(reply -> (Reply.Page) reply);
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
    return seen.getOrDefault(new Slice(keyspace, 0), VersionVector.EMPTY);
  }

  CompletableFuture<Transaction> begin(String keyspace, TransactionOptions options) {
    TransactionId id = TransactionId.random();
    TransactCall call =
        new TransactCall(keyspace, id, options, List.of(), List.of(), Request.End.OPEN);
    return call.start()
        .thenApply(
            reply -> {
              VersionVector clock = ((Reply.Transacted) reply).clock();
              return new Transaction(this, keyspace, id, call.home(), clock);
            });
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
              return (Reply.Transacted) reply;
            });
  }

  /** A request that begins a transaction. */
  private final class TransactCall extends Call {
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

    Home home() {
      return answeredAt;
    }
  }

  /** Does a further step of a transaction, where it lives. */
  CompletableFuture<Reply.Transacted> step(String keyspace, Home home, Request.Transact request) {
    Slice slice = new Slice(keyspace, 0);
    boolean commits = request.end() == Request.End.COMMIT;
    long deadline = System.nanoTime() + client.settings().timeout().toNanos();
    CompletableFuture<Reply> result = new CompletableFuture<>();
    synchronized (this) {
      if (commits) {
        writesUnderWay.merge(slice, 1, Integer::sum);
      }
    }
    repeat(home, request, commits, false, deadline, result);
    return result.handle(
        (reply, error) -> {
          if (commits) {
            synchronized (this) {
              writesUnderWay.computeIfPresent(slice, (s, n) -> n == 1 ? null : n - 1);
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
                  seen.merge(slice, t.clock(), VersionVector::join);
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

  /** One call with its tries. */
  private abstract class Call {
    private final String keyspace;
    private final Key key;
    private final boolean update;
    private final long deadlineNanos = System.nanoTime() + client.settings().timeout().toNanos();
    private final CompletableFuture<Reply> result = new CompletableFuture<>();
    private final Set<String> tried = new HashSet<>();
    private Slice slice;
    private long sentIn;
    private Request sent;

    Call(String keyspace, Key key, boolean update) {
      this.keyspace = keyspace;
      this.key = key;
      this.update = update;
    }

    abstract Request request(VersionVector after, boolean ordered, int waitMillis);

    /** The partition that is asked; -1 if it is none in particular. */
    int partition(Reply.KeyspaceInfo info) {
      return key == null ? -1 : key.partition(info.partitions());
    }

    /** Hears who answered. */
    void answeredBy(Link from, ReplicaId replica) {}

    /** Whether it may be sent again to the process that may have done it already. */
    boolean isRepeatable() {
      return false;
    }

    CompletableFuture<Reply> start() {
      attempt();
      return result;
    }

    private long leftMillis() {
      return (deadlineNanos - System.nanoTime()) / 1_000_000;
    }

    private void attempt() {
      Link to = tried.isEmpty() ? client.nearestConnection() : client.choose(tried);
      if (to == null) {
        tried.clear(); // all were tried: begin again after a pause
        again(client.unavailable());
        return;
      }
      Reply.KeyspaceInfo info = to.keyspace(keyspace);
      if (info == null) {
        result.completeExceptionally(
            new OsierException(
                ErrorCode.UNKNOWN_KEYSPACE,
                to.dc()
                    + " has no keyspace '"
                    + keyspace
                    + "'; it has "
                    + to.keyspaces().keySet().stream().sorted().toList()));
        return;
      }
      send(to, info);
    }

    private void send(Link to, Reply.KeyspaceInfo info) {
      ReplicaId replica = to.replica();
      VersionVector after;
      boolean ordered;
      CompletableFuture<Reply> reply;
      synchronized (Session.this) {
        move(replica);
        sentIn = epoch;
        slice = new Slice(keyspace, partition(info));
        VersionVector known = seen.getOrDefault(slice, VersionVector.EMPTY);
        after = attached.contains(slice) ? VersionVector.EMPTY : known;
        ordered = writesUnderWay.getOrDefault(slice, 0) > 0;
        // A datacenter gets time to catch up, but not all: another one may be ahead.
        int wait = Math.clamp(leftMillis() / 2, 0, Integer.MAX_VALUE);
        if (update) {
          writesUnderWay.merge(slice, 1, Integer::sum);
        }
        sent = request(after, ordered, wait);
        reply = to.send(sent, Math.max(1, leftMillis()));
      }
      reply.whenComplete((r, e) -> answered(to, replica, r, e));
    }

    private void answered(Link from, ReplicaId replica, Reply reply, Throwable error) {
      boolean unsure =
          update
              && isRepeatable()
              && error instanceof Connection.LostException l
              && l.sent
              && l.code == ErrorCode.UNAVAILABLE;
      if (unsure) {
        CompletableFuture<Reply> again = new CompletableFuture<>();
        repeat(new Home(from, replica), sent, true, true, deadlineNanos, again);
        again.whenComplete((r, e) -> concluded(from, replica, r, e));
      } else {
        concluded(from, replica, reply, error);
      }
    }

    private void concluded(Link from, ReplicaId replica, Reply reply, Throwable error) {
      if (update) {
        synchronized (Session.this) {
          writesUnderWay.computeIfPresent(slice, (s, n) -> n == 1 ? null : n - 1);
        }
      }
      if (error != null) {
        lost(from, error);
        return;
      }
      answeredBy(from, replica);
      switch (reply) {
        case Reply.Done d -> saw(replica, VersionVector.of(d.dot().replica(), d.dot().number()));
        case Reply.Answer a -> saw(replica, a.seen());
        case Reply.Page p -> sawPage(replica, p);
        case Reply.Transacted t -> saw(replica, t.clock());
        case Reply.Failure f -> {
          refused(from, f);
          return;
        }
        default -> {
          result.completeExceptionally(Calls.unexpected(reply));
          return;
        }
      }
      result.complete(reply);
    }

    private void saw(ReplicaId replica, VersionVector vector) {
      synchronized (Session.this) {
        seen.merge(slice, vector, VersionVector::join);
        if (!replica.equals(at)) {
          sawStranger();
        } else if (sentIn == epoch) {
          attached.add(slice);
        }
      }
    }

    /** A page has no vector to wait for, so it attaches nothing. */
    private void sawPage(ReplicaId replica, Reply.Page page) {
      synchronized (Session.this) {
        for (int i = 0; i < page.seen().size(); i++) {
          seen.merge(new Slice(keyspace, i), page.seen().get(i), VersionVector::join);
        }
        if (!replica.equals(at)) {
          sawStranger();
        }
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
        tried.add(from.dc());
        again(error);
      } else {
        result.completeExceptionally(error);
      }
    }

    private void lost(Link from, Throwable error) {
      OsierException outcome = Calls.asOsier(error, update);
      client.settings().metrics().failed(from.dc(), outcome.code());
      boolean mayTryAgain =
          !(outcome instanceof OutcomeUnknownException) && outcome.code() == ErrorCode.UNAVAILABLE;
      if (mayTryAgain) {
        tried.add(from.dc());
        again(outcome);
      } else {
        result.completeExceptionally(outcome);
      }
    }

    /** Tries again elsewhere, after a short pause, while there is time. */
    private void again(OsierException last) {
      if (leftMillis() <= RETRY_PAUSE_MILLIS || client.isClosed()) {
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
    epoch++;
    attached.clear();
  }
}
