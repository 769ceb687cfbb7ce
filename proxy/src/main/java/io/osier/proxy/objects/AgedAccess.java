package io.osier.proxy.objects;

import static java.util.Objects.requireNonNull;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.ObjectSpace;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

/** Notes the greatest age of all values that are read; see {@link ObjectSpace#aged}. */
public final class AgedAccess extends PassingAccess {
  private final AtomicReference<Optional<Duration>> oldest =
      new AtomicReference<>(Optional.empty());

  public AgedAccess(ObjectAccess objects) {
    super(objects);
  }

  /** Returns the greatest age of the values that were read so far; empty if all are current. */
  public Optional<Duration> age() {
    return requireNonNull(oldest.get(), "it began as empty");
  }

  private static Optional<Duration> older(Optional<Duration> one, Optional<Duration> other) {
    return Stream.concat(one.stream(), other.stream()).max(Comparator.naturalOrder());
  }

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    return super.read(
        key,
        type,
        query,
        found -> {
          oldest.accumulateAndGet(found.age(), AgedAccess::older);
          return result.apply(found);
        });
  }
}
