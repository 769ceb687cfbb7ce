package io.osier.bench.systems;

import io.osier.core.Value;
import io.osier.proxy.SetHandle;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;

/**
 * Inserts new elements into a set, one by one. When the set has grown by a quarter, the next insert
 * waits until the new elements were removed again, in requests of 10,000. Thread-safe.
 */
final class Inserts implements Calls.Call {
  private static final int BATCH = 10_000;

  private final SetHandle set;
  private final long size;
  private final long most;
  private final int bytes;
  private long next;
  private CompletableFuture<Void> removed = CompletableFuture.completedFuture(null);

  Inserts(SetHandle set, long size, int bytes) {
    this.set = set;
    this.size = size;
    this.most = size + Math.max(BATCH / 10, size / 4);
    this.bytes = bytes;
    this.next = size;
  }

  @Override
  public CompletionStage<?> make(int key, long number) {
    CompletableFuture<Void> before;
    long element;
    synchronized (this) {
      if (next == most) {
        next = size;
        removed = removed.thenCompose(done -> remove(size));
      }
      element = next++;
      before = removed;
    }
    Value value = OsierCalls.element(element, bytes);
    return before.isDone()
        ? set.addAsync(List.of(value))
        : before.thenCompose(done -> set.addAsync(List.of(value)));
  }

  private CompletableFuture<Void> remove(long from) {
    if (from >= most) {
      return CompletableFuture.completedFuture(null);
    }
    long to = Math.min(most, from + BATCH);
    List<Value> elements =
        LongStream.range(from, to).mapToObj(n -> OsierCalls.element(n, bytes)).toList();
    return set.removeAsync(elements).thenCompose(done -> remove(to));
  }
}
