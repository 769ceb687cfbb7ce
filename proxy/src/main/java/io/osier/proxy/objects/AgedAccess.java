package io.osier.proxy.objects;

import static java.util.Objects.requireNonNull;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

/** Objects of which it is noted how old is what was read; see {@link ObjectSpace#aged}. */
public final class AgedAccess implements ObjectAccess {
  private final ObjectAccess objects;
  private final AtomicReference<Optional<Duration>> oldest =
      new AtomicReference<>(Optional.empty());

  public AgedAccess(ObjectAccess objects) {
    this.objects = objects;
  }

  /** The greatest age of what was read by now; empty if all of it is current. */
  public Optional<Duration> age() {
    return requireNonNull(oldest.get(), "it began as empty");
  }

  private static Optional<Duration> older(Optional<Duration> one, Optional<Duration> other) {
    return Stream.concat(one.stream(), other.stream()).max(Comparator.naturalOrder());
  }

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    return objects.read(
        key,
        type,
        query,
        found -> {
          oldest.accumulateAndGet(found.age(), AgedAccess::older);
          return result.apply(found);
        });
  }

  @Override
  public Values values() {
    return objects.values();
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return objects.update(key, type, operation);
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    return objects.update(key, type, operation, ask, result);
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return objects.updateIf(key, type, operation, condition);
  }

  @Override
  public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
    return objects.updateKey(key, operation, ask);
  }

  @Override
  public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
    return objects.page(scan);
  }

  @Override
  public Function<ScanRange, CompletableFuture<Keyspace.Page>> pages() {
    return objects.pages();
  }

  @Override
  public CompletableFuture<Long> count(ScanRange scan) {
    return objects.count(scan);
  }
}
