package io.osier.proxy.call;

import static java.util.Objects.requireNonNull;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Connection;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.cache.ReadCache;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectAccess;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.values.Values;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads and updates a keyspace's objects for a session. Thread-safe. */
public final class KeyspaceAccess implements ObjectAccess {
  private final SessionCore session;
  private final UpdatesAtOnce atOnce;
  private final String keyspace;
  private final ClientCore client;
  private final ReadCache cache;

  /** Makes the access to a keyspace; the first request shows whether it exists. */
  public KeyspaceAccess(SessionCore session, UpdatesAtOnce atOnce, String keyspace) {
    this.session = session;
    this.atOnce = atOnce;
    this.keyspace = keyspace;
    this.client = session.client();
    this.cache = session.cache();
  }

  public SessionCore session() {
    return session;
  }

  public String keyspace() {
    return keyspace;
  }

  /** Returns the version vectors of what the session has seen, by keyspace and partition. */
  public Map<String, List<VersionVector>> seen() {
    atOnce.seeAcknowledged();
    return session.past().seen(keyspace);
  }

  @Override
  public Values values() {
    return client.settings().values();
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    OsierException wrong = ArgumentChecks.update(key, type, operation);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    if (atOnce.update(keyspace, key, type, operation)) {
      return CallFuture.completed(null); // derived futures may stand for calls
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(change, Optional.empty(), Optional.empty(), KeyspaceAccess::done);
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, ask);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(
        change,
        Optional.of(ask),
        Optional.empty(),
        reply -> result.apply(Conversion.found(answered(reply))));
  }

  @Override
  public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
    return update(key, Operation.ANY_TYPE, operation, ask, Function.identity());
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, condition);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Request.Update change = new Request.Update(key, type, operation);
    return write(change, Optional.empty(), Optional.of(condition), KeyspaceAccess::held);
  }

  /** Checks the reply to an update without a query; the datacenter may have found nothing to do. */
  private static Void done(Reply reply) {
    if (reply instanceof Reply.Done || reply instanceof Reply.Answer) {
      return null;
    }
    throw Calls.unexpected(reply);
  }

  /** Returns the answer to the query of an update. */
  private static Reply.Answer answered(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> d.answer().orElseThrow(() -> Calls.unexpected(reply));
      case Reply.Answer a -> a; // there was nothing to do with the key
      default -> throw Calls.unexpected(reply);
    };
  }

  /** Returns whether an update's condition held, so that the update is done. */
  private static boolean held(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> true;
      case Reply.Answer a -> false;
      default -> throw Calls.unexpected(reply);
    };
  }

  /**
   * Sends an update of one object.
   *
   * @param ask a query of the object in the same step; empty for none
   * @param condition what must hold for the update; empty for none, and if there is a query
   * @param result converts a reply that is no error
   */
  private <T> CompletableFuture<T> write(
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

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    OsierException wrong = ArgumentChecks.read(key, type, query);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    boolean mayBeCached = cache.isOn() && !isOfTime(query);
    ReadCache.Slot slot = mayBeCached ? cache.slot(keyspace, key, type, query) : null;
    Reply.Answer cached = slot == null ? null : slot.get();
    if (slot != null && slot.unasked() != null) {
      askForLifetime(key, type, slot.unasked());
    }
    if (cached != null) {
      client.settings().metrics().cacheHit();
      return CallFuture.completed(Conversion.found(cached)).thenApply(result);
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
            // A causal keyspace's older answers may contradict newer ones about other objects. The
            // client follows changes of the default home only.
            boolean isFollowed = slot != null && slot.followed() != null;
            boolean isKept = slot != null && answer.age().isEmpty() && !isCausal();
            if (slot != null && isKept && !(isFollowed && Homes.isHome(keyspace))) {
              slot.put(answer, requireNonNull(by));
              if (slot.followed() != null) {
                client.follow(slot.followed());
              }
            }
            return result.apply(Conversion.found(answer));
          }
        };
    return call.start();
  }

  /** Returns whether the answer changes as time passes, so that it cannot be kept. */
  private static boolean isOfTime(Query query) {
    return query instanceof Query.TimeToLive
        || query instanceof Query.PartTimeToLive
        || query instanceof Query.UntilExpiry;
  }

  /** Asks for the time to live of an object whose answers are kept. No caller waits for it. */
  private void askForLifetime(Key key, Optional<CrdtType> type, ReadCache.Lifetime lifetime) {
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
            Reply.Answer answer = (Reply.Answer) reply;
            if (answer.age().isEmpty()) {
              lifetime.told(answer, askedNanos);
            } else {
              lifetime.untold();
            }
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

  @Override
  public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
    return page(scan, scan.nextRows());
  }

  @Override
  public Function<ScanRange, CompletableFuture<Keyspace.Page>> pages() {
    HomePages homes = new HomePages();
    return scan -> page(scan, scan.nextRows(), homes);
  }

  /**
   * Reads a page of a scan over all homes.
   *
   * @param rows the most rows, 1 to {@link Request#SCAN_ROWS_MAX}; each home is asked for as many
   */
  public CompletableFuture<Keyspace.Page> page(ScanRange scan, int rows) {
    return page(scan, rows, new HomePages());
  }

  private CompletableFuture<Keyspace.Page> page(ScanRange scan, int rows, HomePages pages) {
    OsierException wrong = ArgumentChecks.scan(rows);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    return inHomes(
        home -> {
          Optional<Keyspace.Page> known = pages.unasked(home, scan.from());
          return known.isPresent()
              ? CallFuture.completed(known.get())
              : scan(
                  home,
                  scan.request(home, scan.query(), rows, ScanRequest.Want.ROWS),
                  reply -> Conversion.page((Reply.Page) reply));
        },
        (homes, all) -> pages.merged(homes, all, rows));
  }

  /**
   * Asks all homes of the keyspace, side by side.
   *
   * @param merge merges the answers of several homes; not called if there is only one
   */
  private <T> CompletableFuture<T> inHomes(
      Function<String, CompletableFuture<T>> ask, BiFunction<List<String>, List<T>, T> merge) {
    Partitioning known = session.partitioning(keyspace);
    if (Homes.isHome(keyspace) || (known != null && known.homes().isEmpty())) {
      return ask.apply(keyspace);
    }
    return PartitioningCall.of(session, keyspace, false)
        .thenCompose(
            told -> {
              List<String> homes = told.homes().keyspaces(keyspace);
              List<CompletableFuture<T>> asked = homes.stream().map(ask).toList();
              return asked.size() == 1
                  ? asked.getFirst()
                  : Calls.all(asked)
                      .thenApply(
                          all ->
                              merge.apply(
                                  homes, asked.stream().map(CompletableFuture::join).toList()));
            });
  }

  /**
   * Sends a scan request to one home.
   *
   * @param result converts a reply that is no error
   */
  private <T> CompletableFuture<T> scan(String home, ScanRequest scan, Function<Reply, T> result) {
    Call<T> call =
        new Call<>(session, home, null, false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return scan;
          }

          @Override
          protected boolean waitsForPast() {
            return false; // a scan's request carries no vector
          }

          @Override
          protected T result(Reply reply) {
            cache.clear(); // the page may show newer values
            return result.apply(reply);
          }
        };
    return call.start();
  }

  /** Counts the range in each home. */
  @Override
  public CompletableFuture<Long> count(ScanRange scan) {
    return inHomes(
            home -> countIn(home, scan),
            (homes, all) -> all.stream().mapToLong(Long::longValue).sum())
        .thenApply(objects -> Math.min(objects, scan.limit()));
  }

  private CompletableFuture<Long> countIn(String home, ScanRange scan) {
    return Calls.oneByOne(
            new Counted(0, Optional.of(scan)),
            counted -> counted.rest.isEmpty() || counted.objects >= scan.limit(),
            counted -> countOn(home, counted.objects, counted.rest.orElseThrow()))
        .thenApply(Counted::objects);
  }

  /** How many objects were counted so far, and the rest of the range; empty at the end. */
  private record Counted(long objects, Optional<ScanRange> rest) {}

  private CompletableFuture<Counted> countOn(String home, long before, ScanRange rest) {
    return scan(
            home,
            rest.request(home, new Query.Exists(), 1, ScanRequest.Want.COUNT),
            reply -> (Reply.Counted) reply)
        .thenApply(
            part ->
                new Counted(before + part.objects(), part.next().map(next -> rest.rest(next, 0))));
  }
}
