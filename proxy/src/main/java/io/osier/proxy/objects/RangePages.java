package io.osier.proxy.objects;

import io.osier.proxy.future.PageReader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a range of elements or fields. Each shows the object as it is then, and goes on
 * behind the last one that was shown, be that still there or not: what is there all the time is
 * shown once, and what comes or goes meanwhile is shown or not.
 *
 * @param <A> a range
 * @param <R> an element, or a field with its value
 */
public final class RangePages<A, R> implements PageReader<R> {
  private final int limit;
  private final Function<A, CompletableFuture<List<R>>> reader;
  private final BiFunction<A, R, A> behind;

  /** What is left; null at the end. */
  private volatile @Nullable A rest;

  /**
   * @param limit a page that has less is the last one
   * @param reader reads a page, in the order of the range
   * @param behind what is left of a range behind one that was shown
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
      throw new IllegalStateException("there is no page behind the last one");
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
