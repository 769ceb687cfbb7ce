package io.osier.proxy;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.ReplicaId;
import io.osier.core.TimeLimit;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.values.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
  private final OsierClient client;
  private final ReadCache cache;
  private final Past past = new Past();
  private final TransactionSteps steps;

  /** The only datacenter to use, or null. */
  private volatile @Nullable Connection pinned;

  /** How long calls wait for what the session has seen; Long.MAX_VALUE for as long as they can. */
  private final long patienceNanos;

  /** Whether updates were acknowledged that have no place in {@link #past}. */
  private volatile boolean combined;

  Session(OsierClient client, SessionOptions options) {
    this.client = client;
    this.cache = new ReadCache(client.settings(), client.followed(), client.timers()::nanoTime);
    this.steps = new TransactionSteps(client, past);
    long half = client.settings().timeout().toNanos() / 2;
    this.patienceNanos =
        options.patience().map(p -> Math.clamp(TimeLimit.nanos(p), 0, half)).orElse(Long.MAX_VALUE);
    options.past().ifPresent(past::join);
    options.datacenter().ifPresent(this::pin);
  }

  /** How the client keeps objects. */
  Values values() {
    return client.settings().values();
  }

  /** The keyspace of that name. Whether it exists is seen at the first request. */
  public Keyspace keyspace(String name) {
    return new Keyspace(this, Present.present(name, "a keyspace's name"));
  }

  /** The datacenter that served this session last; empty before the first request. */
  public Optional<String> datacenter() {
    return past.datacenter();
  }

  /**
   * Forgets what this session has seen: it starts anew, without guarantees about what came before.
   * Updates that are under way belong to that: a read that is called after this may not show them.
   */
  public void forget() {
    past.forget();
    cache.clear();
  }

  /**
   * What the session has given up.
   *
   * @param after of this replica's updates with larger numbers, …
   * @param through … up to this one, the session had seen some, or what depends on them, and the
   *     datacenter where it went on did not have them all
   */
  public record Loss(String keyspace, int partition, ReplicaId replica, long after, long through) {}

  /** What it has gone on without, if its options let it; what comes later is seen all the same. */
  public List<Loss> losses() {
    return past.losses();
  }

  long patienceNanos() {
    return patienceNanos;
  }

  /** Goes on at a datacenter that lacks something of what a request asked for; false if not. */
  boolean goOn(String keyspace, int partition, VersionVector asked, VersionVector there) {
    boolean went = past.giveUp(keyspace, partition, asked, there);
    cache.clear();
    return went;
  }

  /**
   * Lets all further requests go to one datacenter, now and as long as it is pinned: while that
   * cannot be reached they wait, and fail with UNAVAILABLE, instead of going elsewhere. Coming from
   * another one, the first request waits there for what this session has seen; requests that are
   * under way are not touched. So a session moves by choice.
   *
   * @param endpoint the name of an endpoint of the client
   * @throws OsierException INVALID_ARGUMENT if there is none of that name
   */
  public void pin(String endpoint) {
    pinned = client.datacenters().get(endpoint);
    cache.clear(); // what is kept may be another's, and nothing would be asked there
  }

  /** Lets requests go to the nearest datacenter again, and elsewhere if need be. */
  public void unpin() {
    pinned = null;
  }

  /**
   * What this session has seen so far, of all keyspaces: for a session in another process that must
   * see as much ({@link SessionOptions#after}). Calls that have not been answered are not in it. In
   * an embedded datacenter it waits until what was acknowledged is committed.
   *
   * @throws OsierException if the embedded datacenter does not answer
   */
  public SessionToken token() {
    seeAcknowledged();
    return past.token();
  }

  /** As {@link #token()}, of one keyspace. */
  SessionToken token(String keyspace) {
    seeAcknowledged();
    return past.token(keyspace);
  }

  /**
   * Adds to what this session has seen: from now on it sees at least as much as another one had
   * when the token was taken.
   *
   * @throws OsierException INVALID_ARGUMENT if the token is of another cluster, as far as that can
   *     be told: a keyspace had another number of partitions
   */
  public void join(SessionToken token) {
    past.join(token);
    cache.clear();
  }

  /** Asks the datacenter in this process what it has: all that it acknowledged is in that. */
  private void seeAcknowledged() {
    Connection connection = client.datacenters().nearest();
    if (!combined || connection == null) {
      return;
    }
    long timeoutMillis = client.settings().timeout().toMillis();
    for (Reply.KeyspaceInfo keyspace : connection.keyspaceList()) {
      List<VersionVector> seen = new ArrayList<>();
      for (int i = 0; i < keyspace.partitions(); i++) {
        seen.add(
            Calls.join(client.inquiries().through(connection, keyspace.name(), i, timeoutMillis)));
      }
      synchronized (past) {
        past.slices(keyspace.name()).saw(seen);
      }
    }
  }

  /**
   * Where to send a request.
   *
   * @param tried the datacenters that were tried in vain
   * @return null if there is none
   */
  @Nullable Connection route(Set<String> tried) {
    Connection only = pinned;
    if (only != null) {
      return only.isUp() && !tried.contains(only.dc()) ? only : null;
    }
    return tried.isEmpty() ? client.datacenters().nearest() : client.datacenters().choose(tried);
  }

  /** Why there is nowhere to send a request to. */
  OsierException unreachable() {
    Connection only = pinned;
    if (only == null) {
      return client.unavailable();
    }
    OsierException refused = only.refused();
    String trouble = only.trouble();
    return refused != null
        ? refused
        : new OsierException(
            ErrorCode.UNAVAILABLE,
            only.name()
                + ", where this session is pinned, cannot be reached ("
                + (trouble == null ? "no answer yet" : trouble)
                + "); wait, or unpin() it");
  }

  OsierClient client() {
    return client;
  }

  Past past() {
    return past;
  }

  TransactionSteps steps() {
    return steps;
  }

  /** Another datacenter serves it from now on; {@code from} is null if it has not moved. */
  void moved(@Nullable ReplicaId from, ReplicaId to) {
    if (from != null) {
      client.settings().metrics().moved(from.dc(), to.dc());
      cache.clear();
    }
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
    Connection connection = client.datacenters().nearest();
    // What another session saw must be there first, and only a request can wait for it.
    if (connection == null
        || client.isClosing()
        || past.isInherited()
        || !connection.update(keyspace, key, type, operation)) {
      return false;
    }
    if (!combined) {
      combined = true;
    }
    cache.invalidate(keyspace, key);
    return true;
  }

  CompletableFuture<Void> write(String keyspace, Key key, CrdtType type, Operation operation) {
    cache.invalidate(keyspace, key);
    Call<Void> call =
        new Call<>(this, keyspace, key, true) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(keyspace, key, type, operation, after, waitMillis);
          }

          @Override
          Void result(Reply reply) {
            // An answer where there was nothing to do with the key.
            if (!(reply instanceof Reply.Done || reply instanceof Reply.Answer)) {
              throw Calls.unexpected(reply);
            }
            cache.invalidate(keyspace, key);
            return null;
          }
        };
    return call.start();
  }

  /**
   * Updates, and asks something of the object in the same moment.
   *
   * @param result what the caller makes of the answer
   */
  <T> CompletableFuture<T> write(
      String keyspace,
      Key key,
      CrdtType type,
      Operation operation,
      Request.Ask ask,
      Function<Reply.Answer, T> result) {
    cache.invalidate(keyspace, key);
    Call<T> call =
        new Call<>(this, keyspace, key, true) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(
                keyspace, key, type, operation, after, waitMillis, Optional.of(ask));
          }

          @Override
          T result(Reply reply) {
            cache.invalidate(keyspace, key);
            return result.apply(
                switch (reply) {
                  case Reply.Done d -> d.answer().orElseThrow(() -> Calls.unexpected(reply));
                  case Reply.Answer a -> a; // there was nothing to do with the key
                  default -> throw Calls.unexpected(reply);
                });
          }
        };
    return call.start();
  }

  /** Updates if a condition holds; whether it did. */
  CompletableFuture<Boolean> writeIf(
      String keyspace, Key key, CrdtType type, Operation operation, Request.Condition condition) {
    cache.invalidate(keyspace, key);
    Call<Boolean> call =
        new Call<>(this, keyspace, key, true) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(
                keyspace,
                key,
                type,
                operation,
                after,
                waitMillis,
                Optional.empty(),
                Optional.of(condition));
          }

          @Override
          Boolean result(Reply reply) {
            cache.invalidate(keyspace, key);
            return switch (reply) {
              case Reply.Done d -> true;
              case Reply.Answer a -> false;
              default -> throw Calls.unexpected(reply);
            };
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
    OsierException wrong = Checks.read(key, type, query);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    boolean mayBeCached = cache.isOn() && !isOfTime(query);
    ReadCache.Slot slot = mayBeCached ? cache.slot(keyspace, key, type, query) : null;
    Reply.Answer cached = slot == null ? null : slot.get();
    if (slot != null && slot.unasked() != null) {
      askForLifetime(keyspace, key, type, slot.unasked());
    }
    if (cached != null) {
      client.settings().metrics().cacheHit();
      return CallFuture.completed(cached).thenApply(result);
    }
    Call<T> call =
        new Call<>(this, keyspace, key, false) {
          private volatile @Nullable ReplicaId by;

          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(keyspace, key, type, query, after, ordered, waitMillis);
          }

          @Override
          void answeredBy(Connection from, ReplicaId replica) {
            by = replica;
          }

          @Override
          T result(Reply reply) {
            Reply.Answer answer = (Reply.Answer) reply;
            // Across the objects of a causal keyspace an older answer may contradict a newer one.
            if (slot != null && !isCausal()) {
              slot.put(answer, requireNonNull(by));
              if (slot.followed() != null) {
                client.follow(slot.followed());
              }
            }
            return result.apply(answer);
          }
        };
    return call.start();
  }

  /** Whether the answer is another one all the time. */
  private static boolean isOfTime(Query query) {
    return query instanceof Query.TimeToLive
        || query instanceof Query.PartTimeToLive
        || query instanceof Query.UntilExpiry;
  }

  /** Asks how long an object lives whose answers are to be kept. Nobody waits for it. */
  private void askForLifetime(
      String keyspace, Key key, Optional<CrdtType> type, ReadCache.Lifetime lifetime) {
    long askedNanos = client.timers().nanoTime();
    Call<Void> call =
        new Call<>(this, keyspace, key, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(
                keyspace, key, type, new Query.UntilExpiry(), after, ordered, waitMillis);
          }

          @Override
          boolean isInBackground() {
            return true;
          }

          @Override
          Void result(Reply reply) {
            lifetime.told((Reply.Answer) reply, askedNanos);
            return null;
          }
        };
    call.start()
        .whenComplete(
            (done, error) -> {
              if (error != null) {
                lifetime.untold();
              }
            });
  }

  /** How many partitions a keyspace has, as far as that is known without asking; or 0. */
  int partitions(String keyspace) {
    synchronized (past) {
      int seen = past.slices(keyspace).partitions();
      if (seen > 0) {
        return seen;
      }
    }
    Connection nearest = route(Set.of());
    Reply.KeyspaceInfo info = nearest == null ? null : nearest.keyspace(keyspace);
    return info == null ? 0 : info.partitions();
  }

  /** A key is read or updated beside the cache: what is in it of that key may be older. */
  void changes(String keyspace, Key key) {
    cache.invalidate(keyspace, key);
  }

  /** What others were told counts as seen from now on: all that is in the cache may be older. */
  void sawOthersPast() {
    cache.clear();
  }

  CompletableFuture<Reply.Page> scan(Request.Scan scan) {
    return scan(scan, reply -> (Reply.Page) reply);
  }

  /** Counts objects of a part of a scan's range. */
  CompletableFuture<Reply.Counted> count(Request.Scan scan) {
    return scan(scan, reply -> (Reply.Counted) reply);
  }

  private <T> CompletableFuture<T> scan(Request.Scan scan, Function<Reply, T> result) {
    OsierException wrong = Checks.scan(scan.limit());
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Call<T> call =
        new Call<>(this, scan.keyspace(), null, false) {
          @Override
          Request request(VersionVector after, boolean ordered, int waitMillis) {
            return scan;
          }

          @Override
          boolean waitsForPast() {
            return false; // a page has no vector to wait for
          }

          @Override
          T result(Reply reply) {
            cache.clear(); // what was shown may be newer
            return result.apply(reply);
          }
        };
    return call.start();
  }

  // ---------------------------------------------------------------- transactions

  /** What this session has seen of a causal keyspace, which has one partition. */
  VersionVector clock(String keyspace) {
    return past.clock(keyspace);
  }

  private TransactionId newTransactionId() {
    UUID uuid = client.timers().newId();
    return new TransactionId(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
  }

  CompletableFuture<Transaction> begin(String keyspace, TransactionOptions options) {
    TransactionId id = newTransactionId();
    TransactCall call =
        new TransactCall(this, keyspace, id, options, List.of(), List.of(), Request.End.OPEN);
    return call.start()
        .thenApply(reply -> new Transaction(this, keyspace, id, call.home(), reply.clock()));
  }

  CompletableFuture<Reply.Transacted> together(
      String keyspace, List<Keyspace.Get> reads, List<Keyspace.Change> changes) {
    OsierException wrong = Checks.step(reads, changes);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    TransactCall call =
        new TransactCall(
            this,
            keyspace,
            newTransactionId(),
            TransactionOptions.DEFAULT,
            changes.stream()
                .map(c -> new Request.Update(c.key(), c.type(), c.operation()))
                .toList(),
            reads.stream().map(g -> new Request.Fetch(g.key(), g.type(), g.query())).toList(),
            Request.End.COMMIT);
    return call.start();
  }
}
