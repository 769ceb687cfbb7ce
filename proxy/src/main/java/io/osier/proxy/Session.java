package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import io.osier.proxy.protocol.TransactionId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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
  static final long RETRY_PAUSE_MILLIS = 20;

  private final OsierClient client;
  private final ReadCache cache;
  private final Past past = new Past();
  private final TransactionSteps steps;

  Session(OsierClient client) {
    this.client = client;
    this.cache = new ReadCache(client.settings());
    this.steps = new TransactionSteps(client, past, cache);
  }

  /** The keyspace of that name. Whether it exists is seen at the first request. */
  public Keyspace keyspace(String name) {
    return new Keyspace(this, name);
  }

  /** The datacenter that served this session last; empty before the first request. */
  public Optional<String> datacenter() {
    return past.datacenter();
  }

  /**
   * Forgets what this session has seen: it starts anew, without guarantees about what came before.
   */
  public void forget() {
    past.forget();
    cache.clear();
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
  void moved(ReplicaId from, ReplicaId to) {
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
        new Call<>(this, keyspace, key, true) {
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
        new Call<>(this, keyspace, key, false) {
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
        new Call<>(this, scan.keyspace(), null, false) {
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

  /** What this session has seen of a causal keyspace, which has one partition. */
  VersionVector clock(String keyspace) {
    return past.clock(keyspace);
  }

  CompletableFuture<Transaction> begin(String keyspace, TransactionOptions options) {
    TransactionId id = TransactionId.random();
    TransactCall call =
        new TransactCall(this, keyspace, id, options, List.of(), List.of(), Request.End.OPEN);
    return call.start()
        .thenApply(reply -> new Transaction(this, keyspace, id, call.home(), reply.clock()));
  }

  CompletableFuture<Reply.Transacted> together(
      String keyspace, List<Keyspace.Get> reads, List<Keyspace.Change> changes) {
    changes.forEach(c -> cache.invalidate(keyspace, c.key()));
    TransactCall call =
        new TransactCall(
            this,
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
}
