package io.osier.proxy.call;

import static java.util.Objects.requireNonNull;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.cache.ReadCache;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.session.SessionContext;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.values.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes a session's requests. Thread-safe. */
public final class SessionRequests {
  private final SessionCore session;
  private final ClientCore client;
  private final SessionContext past;
  private final ReadCache cache;

  /** Whether the datacenter in this process took updates at once, which {@link #past} lacks. */
  private volatile boolean combined;

  public SessionRequests(SessionCore session) {
    this.session = session;
    this.client = session.client();
    this.past = session.past();
    this.cache = session.cache();
  }

  public SessionCore session() {
    return session;
  }

  /** How the client keeps objects. */
  Values values() {
    return client.settings().values();
  }

  /**
   * Asks the datacenter in this process what it has, so that what it has acknowledged at once is
   * among what the session has seen.
   */
  public void seeAcknowledged() {
    Connection connection = client.datacenters().nearest();
    if (!combined || connection == null) {
      return;
    }
    long timeoutMillis = client.settings().timeout().toMillis();
    for (Reply.KeyspaceInfo keyspace : connection.keyspaceList()) {
      List<VersionVector> seen = new ArrayList<>();
      for (int i = 0; i < keyspace.partitions(); i++) {
        seen.add(
            Calls.join(DatacenterQueries.through(connection, keyspace.name(), i, timeoutMillis)));
      }
      synchronized (past) {
        past.clocks(keyspace.name()).saw(seen);
      }
    }
  }

  /** Updates an object. */
  CompletableFuture<Void> update(String keyspace, Key key, CrdtType type, Operation operation) {
    OsierException wrong = ArgumentChecks.update(key, type, operation);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    if (updateAtOnce(keyspace, key, type, operation)) {
      return CallFuture.completed(null); // what is derived from it may be a call
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(keyspace, change, Optional.empty(), Optional.empty(), SessionRequests::done);
  }

  /**
   * Updates an object, and asks something of it in the same moment.
   *
   * @param result what the caller makes of the answer
   */
  <T> CompletableFuture<T> update(
      String keyspace,
      Key key,
      CrdtType type,
      Operation operation,
      Request.Ask ask,
      Function<Reply.Answer, T> result) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, ask);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(
        keyspace,
        change,
        Optional.of(ask),
        Optional.empty(),
        reply -> result.apply(answered(reply)));
  }

  /** Updates an object if a condition holds; completes with whether it did. */
  CompletableFuture<Boolean> updateIf(
      String keyspace, Key key, CrdtType type, Operation operation, Request.Condition condition) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, condition);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(keyspace, change, Optional.empty(), Optional.of(condition), SessionRequests::held);
  }

  /** Of an update of which nothing was asked, also where there was nothing to do with the key. */
  private static Void done(Reply reply) {
    if (reply instanceof Reply.Done || reply instanceof Reply.Answer) {
      return null;
    }
    throw Calls.unexpected(reply);
  }

  /** What an update's reply tells of what was asked with it. */
  private static Reply.Answer answered(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> d.answer().orElseThrow(() -> Calls.unexpected(reply));
      case Reply.Answer a -> a; // there was nothing to do with the key
      default -> throw Calls.unexpected(reply);
    };
  }

  /** Whether the condition of an update held, so that it is done. */
  private static boolean held(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> true;
      case Reply.Answer a -> false;
      default -> throw Calls.unexpected(reply);
    };
  }

  /**
   * Does an update at once if the datacenter is in this process and takes it so. It needs no place
   * in what the session has seen: such a session has no other datacenter to go to, and every read
   * there shows what was acknowledged there.
   *
   * @return whether it is done; if not, a request must do it
   */
  private boolean updateAtOnce(String keyspace, Key key, CrdtType type, Operation operation) {
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

  /**
   * Sends an update of one object.
   *
   * @param ask what to know of the object; empty for nothing
   * @param condition what must hold of it; empty for nothing, and where something is asked
   * @param result what the caller makes of the reply, which is no failure
   */
  private <T> CompletableFuture<T> write(
      String keyspace,
      Request.Update change,
      Optional<Request.Ask> ask,
      Optional<Request.Condition> condition,
      Function<Reply, T> result) {
    Key key = change.key();
    cache.invalidate(keyspace, key);
    Call<T> call =
        new Call<>(session, keyspace, key, true) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Write(
                keyspace,
                key,
                change.type(),
                change.operation(),
                after,
                waitMillis,
                ask,
                condition);
          }

          @Override
          protected T result(Reply reply) {
            cache.invalidate(keyspace, key);
            return result.apply(reply);
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
    OsierException wrong = ArgumentChecks.read(key, type, query);
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
        new Call<>(session, keyspace, key, false) {
          private volatile @Nullable ReplicaId by;

          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(keyspace, key, type, query, after, ordered, waitMillis);
          }

          @Override
          protected void answeredBy(Connection from, ReplicaId replica) {
            by = replica;
          }

          @Override
          protected T result(Reply reply) {
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

  /** Whether the answer changes as time passes, so that it cannot be kept. */
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
        new Call<>(session, keyspace, key, false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return new Request.Read(
                keyspace, key, type, new Query.UntilExpiry(), after, ordered, waitMillis);
          }

          @Override
          protected boolean isInBackground() {
            return true;
          }

          @Override
          protected Void result(Reply reply) {
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

  /**
   * Looks at objects in the order of their keys.
   *
   * @param result what the caller makes of the reply, which is no failure
   */
  <T> CompletableFuture<T> scan(Request.Scan scan, Function<Reply, T> result) {
    OsierException wrong = ArgumentChecks.scan(scan.limit());
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Call<T> call =
        new Call<>(session, scan.keyspace(), null, false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return scan;
          }

          @Override
          protected boolean waitsForPast() {
            return false; // a page has no vector to wait for
          }

          @Override
          protected T result(Reply reply) {
            cache.clear(); // what was shown may be newer
            return result.apply(reply);
          }
        };
    return call.start();
  }

  /** How many objects a scan would show: each part of its range is counted where it is. */
  CompletableFuture<Long> count(String keyspace, ScanRange scan) {
    return Calls.oneByOne(
            new Counted(0, Optional.of(scan)),
            counted -> counted.rest.isEmpty() || counted.objects >= scan.limit(),
            counted -> countOn(keyspace, counted.objects, counted.rest.orElseThrow()))
        .thenApply(counted -> Math.min(counted.objects, scan.limit()));
  }

  /** So many objects were counted; the rest was not looked at yet. */
  private record Counted(long objects, Optional<ScanRange> rest) {}

  private CompletableFuture<Counted> countOn(String keyspace, long before, ScanRange rest) {
    return scan(
            rest.request(keyspace, new Query.Exists(), 1, Request.Want.COUNT),
            reply -> (Reply.Counted) reply)
        .thenApply(
            part ->
                new Counted(before + part.objects(), part.next().map(next -> rest.rest(next, 0))));
  }
}
