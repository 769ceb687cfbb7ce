package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Holds the place of a key that is not in memory while a thread loads its objects, without a lock.
 * Another thread that puts or removes the key meanwhile takes this mark away for good, so loaded
 * objects go into the place only if the key was not touched since the read began. A look at the
 * place for a newer entry would not do: that may have been evicted again.
 */
final class Loading extends SegmentTable.Keyed {
  /**
   * Gives the objects that were loaded and put into the place; null if none were, so that waiting
   * threads look again.
   */
  final CompletableFuture<@Nullable KeyObjects> end = new CompletableFuture<>();

  Loading(Key key) {
    super(key);
  }
}
