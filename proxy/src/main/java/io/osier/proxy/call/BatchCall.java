package io.osier.proxy.call;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads or updates many objects independently: sends one request for each partition, side by side,
 * each as a {@link Call} with its own tries. Parts that did not fit into an answer are requested
 * again.
 */
public final class BatchCall {
  /** Makes requests for some parts, which all belong to one partition of one home. */
  private interface Requests {
    Request of(
        String home, List<Integer> parts, VersionVector after, boolean ordered, int waitMillis);
  }

  private final SessionCore session;
  private final String keyspace;
  private final Requests requests;
  private final boolean update;
  private final boolean inBackground;
  private final List<Key> keys;

  // For each part one of the two is set, by the thread that delivers its answer, before the batch
  // ends.
  private final @Nullable OsierException[] errors;
  private final @Nullable Found[] found;

  private BatchCall(
      SessionCore session,
      String keyspace,
      List<Key> keys,
      boolean update,
      boolean inBackground,
      Requests requests) {
    this.session = session;
    this.keyspace = keyspace;
    this.requests = requests;
    this.update = update;
    this.inBackground = inBackground;
    this.keys = keys;
    this.errors = new OsierException[keys.size()];
    this.found = new Found[keys.size()];
  }

  /**
   * Reads objects.
   *
   * @param inBackground whether no caller waits for the batch
   * @param result converts the outcome for the caller
   */
  public static <T> CompletableFuture<T> read(
      SessionCore session,
      String keyspace,
      List<Keyspace.Get> asked,
      boolean inBackground,
      Function<BatchOutcome, T> result) {
    OsierException wrong = ArgumentChecks.reads(asked);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    List<Keyspace.Get> reads = List.copyOf(asked);
    List<Key> keys = reads.stream().map(Keyspace.Get::key).toList();
    return new BatchCall(
            session,
            keyspace,
            keys,
            false,
            inBackground,
            (home, parts, after, ordered, waitMillis) ->
                new Request.ReadAll(
                    home,
                    parts.stream().map(reads::get).map(Conversion::sent).toList(),
                    after,
                    ordered,
                    waitMillis))
        .start(result);
  }

  /**
   * Reads several keys, whatever they hold, and returns what they hold in the order of the keys.
   */
  public static CompletableFuture<Map<String, Found>> read(
      SessionCore session,
      String keyspace,
      Collection<String> keys,
      Function<BatchOutcome, List<Found>> result) {
    return Calls.attempt(
        () -> {
          List<String> distinct =
              new ArrayList<>(new LinkedHashSet<>(present(keys, "a collection of keys")));
          List<Keyspace.Get> reads =
              distinct.stream()
                  .map(key -> new Keyspace.Get(Key.of(key), Optional.empty(), new Query.Whole()))
                  .toList();
          return read(
              session, keyspace, reads, false, outcome -> byKey(distinct, result.apply(outcome)));
        });
  }

  private static Map<String, Found> byKey(List<String> keys, List<Found> found) {
    Map<String, Found> byKey = new LinkedHashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      byKey.put(keys.get(i), found.get(i));
    }
    return Collections.unmodifiableMap(byKey);
  }

  /** Updates objects; updates of the same key are done in the order of the list. */
  public static <T> CompletableFuture<T> update(
      SessionCore session,
      String keyspace,
      List<Keyspace.Change> asked,
      Function<BatchOutcome, T> result) {
    OsierException wrong = ArgumentChecks.changes(asked);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    List<Keyspace.Change> changes = List.copyOf(asked);
    List<Key> keys = changes.stream().map(Keyspace.Change::key).toList();
    return new BatchCall(
            session,
            keyspace,
            keys,
            true,
            false,
            (home, parts, after, ordered, waitMillis) ->
                new Request.WriteAll(
                    home,
                    parts.stream().map(changes::get).map(Conversion::sent).toList(),
                    after,
                    waitMillis))
        .start(result);
  }

  private <T> CompletableFuture<T> start(Function<BatchOutcome, T> result) {
    BatchOutcome outcome = new BatchOutcome(errors, found);
    if (keys.isEmpty()) {
      return CompletableFuture.completedFuture(result.apply(outcome));
    }
    return PartitioningCall.of(session, keyspace, inBackground)
        .thenCompose(told -> sendAll(told, IntStream.range(0, keys.size()).boxed().toList()))
        .thenApply(done -> result.apply(outcome));
  }

  private CompletableFuture<Void> sendAll(Partitioning partitioning, List<Integer> some) {
    boolean isPlain = partitioning.homes().isEmpty() || Homes.isHome(keyspace);
    SortedMap<String, SortedMap<Integer, List<Integer>>> byHome = new TreeMap<>();
    for (int i : some) {
      Key key = keys.get(i);
      session.cache().invalidate(keyspace, key);
      byHome
          .computeIfAbsent(
              isPlain ? keyspace : partitioning.homes().keyspace(keyspace, key),
              home -> new TreeMap<>())
          .computeIfAbsent(partitioning.of(key), p -> new ArrayList<>())
          .add(i);
    }
    List<CompletableFuture<Void>> all = new ArrayList<>();
    byHome.forEach(
        (home, byPartition) ->
            byPartition.forEach((partition, parts) -> all.add(send(home, partition, parts))));
    return Calls.all(all);
  }

  /** Sends some parts until all are answered. Never fails: errors are noted for each part. */
  private CompletableFuture<Void> send(String home, int partition, List<Integer> parts) {
    return Calls.oneByOne(parts, List::isEmpty, rest -> ask(home, partition, rest))
        .thenApply(none -> null);
  }

  /** Sends some parts once; returns the parts that must be requested again. */
  private CompletableFuture<List<Integer>> ask(String home, int partition, List<Integer> parts) {
    Call<Reply.All> call =
        new Call<>(session, home, null, update) {
          @Override
          protected int partition(Reply.KeyspaceInfo info) {
            return partition;
          }

          @Override
          protected boolean isInBackground() {
            return inBackground;
          }

          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return requests.of(home, parts, after, ordered, waitMillis);
          }

          @Override
          protected Reply.All result(Reply reply) {
            return (Reply.All) reply;
          }
        };
    return call.start()
        .handle(
            (all, error) ->
                error == null
                    ? CallFuture.completed(note(parts, all))
                    : sendElsewhere(home, parts, Calls.asOsier(error, false)))
        .thenCompose(rest -> rest);
  }

  /** Sends parts again if they belong to another home by now; notes the error otherwise. */
  private CompletableFuture<List<Integer>> sendElsewhere(
      String home, List<Integer> parts, OsierException error) {
    Partitioning now = session.partitioning(keyspace);
    if (error.code() != ErrorCode.UNKNOWN_KEYSPACE || now == null || Homes.isHome(keyspace)) {
      return CallFuture.completed(failed(parts, error));
    }
    Homes homes = now.homes();
    return parts.stream().allMatch(i -> homes.keyspace(keyspace, keys.get(i)).equals(home))
        ? CallFuture.completed(failed(parts, error))
        : sendAll(now, parts).thenApply(done -> List.of());
  }

  /** Notes an error for each part; returns the parts that must be requested again: none. */
  private List<Integer> failed(List<Integer> parts, OsierException error) {
    parts.forEach(part -> errors[part] = error);
    return List.of();
  }

  /** Notes the answers; returns the parts that must be requested again. */
  private List<Integer> note(List<Integer> parts, Reply.All all) {
    int answered = Math.min(parts.size(), all.parts().size());
    for (int i = 0; i < answered; i++) {
      int part = parts.get(i);
      session.cache().invalidate(keyspace, keys.get(part));
      switch (all.parts().get(i)) {
        case Reply.Answer answer -> found[part] = Conversion.found(answer);
        case Reply.Failure failure -> errors[part] = Calls.failed(failure, update);
        default -> {}
      }
    }
    List<Integer> rest = parts.subList(answered, parts.size());
    if (!rest.isEmpty() && (update || answered == 0)) {
      String less = "an answer for " + answered + " of " + parts.size() + " parts of a batch";
      return failed(
          rest,
          update
              ? new OutcomeUnknownException(ErrorCode.INTERNAL, less)
              : OsierException.of(ErrorCode.INTERNAL, less));
    }
    return rest;
  }
}
