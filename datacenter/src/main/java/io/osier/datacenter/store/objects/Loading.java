package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the place of a key that is not there while a thread loads its objects, without a lock.
 * Whoever puts or removes the key meanwhile takes it from there, and nobody puts it back: so what
 * was loaded goes into the place only if nothing happened to the key since before it was read.
 * Whether something else stands there would not tell: what is newer may have been evicted again.
 */
final class Loading extends SegmentTable.Keyed {
  /** What was loaded and put into the place; null if nothing was, so that others look again. */
  final CompletableFuture<@Nullable KeyObjects> end = new CompletableFuture<>();

  Loading(Key key) {
    super(key);
  }
}
