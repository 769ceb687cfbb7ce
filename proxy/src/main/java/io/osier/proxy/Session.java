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
import java.util.HashMap;
import java.util.HashSet;
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

    Call(String keyspace, Key key, boolean update) {
      this.keyspace = keyspace;
      this.key = key;
      this.update = update;
    }

    abstract Request request(VersionVector after, boolean ordered, int waitMillis);

    CompletableFuture<Reply> start() {
      attempt();
      return result;
    }

    private long leftMillis() {
      return (deadlineNanos - System.nanoTime()) / 1_000_000;
    }

    private void attempt() {
      Connection to = tried.isEmpty() ? client.nearestConnection() : client.choose(tried);
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

    private void send(Connection to, Reply.KeyspaceInfo info) {
      ReplicaId replica = to.replica();
      VersionVector after;
      boolean ordered;
      CompletableFuture<Reply> reply;
      synchronized (Session.this) {
        move(replica);
        sentIn = epoch;
        slice = new Slice(keyspace, key == null ? -1 : key.partition(info.partitions()));
        VersionVector known = seen.getOrDefault(slice, VersionVector.EMPTY);
        after = attached.contains(slice) ? VersionVector.EMPTY : known;
        ordered = writesUnderWay.getOrDefault(slice, 0) > 0;
        // A datacenter gets time to catch up, but not all: another one may be ahead.
        int wait = Math.clamp(leftMillis() / 2, 0, Integer.MAX_VALUE);
        if (update) {
          writesUnderWay.merge(slice, 1, Integer::sum);
        }
        reply = to.send(request(after, ordered, wait), Math.max(1, leftMillis()));
      }
      reply.whenComplete((r, e) -> answered(to, replica, r, e));
    }

    private void answered(Connection from, ReplicaId replica, Reply reply, Throwable error) {
      if (update) {
        synchronized (Session.this) {
          writesUnderWay.computeIfPresent(slice, (s, n) -> n == 1 ? null : n - 1);
        }
      }
      if (error != null) {
        lost(from, error);
        return;
      }
      switch (reply) {
        case Reply.Done d -> saw(replica, VersionVector.of(d.dot().replica(), d.dot().number()));
        case Reply.Answer a -> saw(replica, a.seen());
        case Reply.Page p -> sawPage(replica, p);
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

    private void refused(Connection from, Reply.Failure failure) {
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

    private void lost(Connection from, Throwable error) {
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
      if (leftMillis() <= RETRY_PAUSE_MILLIS) {
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
