package io.osier.proxy.objects;

import io.osier.proxy.future.PageReader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of elements or fields page by page. Each page shows the object as it is then, and
 * begins after the last element or field shown, whether that still exists or not: one that stays is
 * shown once, and one that is added or removed meanwhile may be shown or not.
 *
 * @param <A> the type of a range
 * @param <R> the type of an element, or of a field with its value
 */
public final class RangePages<A, R> implements PageReader<R> {
  private final int limit;
  private final Function<A, CompletableFuture<List<R>>> reader;
  private final BiFunction<A, R, A> behind;

  /** The range that is left; null at the end. */
  private volatile @Nullable A rest;

  /**
   * Makes a reader.
   *
   * @param limit the size of a full page; a page with fewer rows is the last one
   * @param reader reads a page, in the order of the range
   * @param behind returns the rest of a range after a shown element or field
   */
  public RangePages(
      A range,
      int limit,
      Function<A, CompletableFuture<List<R>>> reader,
      BiFunction<A, R, A> behind) {
    this.rest = range;
    this.limit = limit;
    this.reader = reader;
    this.behind = behind;
  }

  @Override
  public boolean isAtEnd() {
    return rest == null;
  }

  @Override
  public CompletableFuture<List<R>> nextRows() {
    A range = rest;
    if (range == null) {
      throw new IllegalStateException("there is no next page: the last one was read already");
    }
    return reader
        .apply(range)
        .thenApply(
            rows -> {
              rest = rows.size() < limit ? null : behind.apply(range, rows.getLast());
              return rows;
            });
  }
}
