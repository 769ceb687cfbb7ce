package io.osier.proxy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a range of elements or fields. Each shows the object as it is then, and goes on
 * behind the last one that was shown, be that still there or not: what is there all the time is
 * shown once, and what comes or goes meanwhile is shown or not.
 *
 * @param <B> what the range's ends are
 * @param <R> an element, or a field with its value
 */
final class RangePages<B, R> implements PageReader<R> {
  private final Function<Range<B>, CompletableFuture<List<R>>> reader;
  private final Function<R, B> end;

  /** What is left; null at the end. */
  private volatile @Nullable Range<B> rest;

  /**
   * Nothing is read yet.
   *
   * @param reader reads a page, in the order of the range
   * @param end where the next range begins behind one
   */
  RangePages(
      Range<B> range, Function<Range<B>, CompletableFuture<List<R>>> reader, Function<R, B> end) {
    this.rest = range;
    this.reader = reader;
    this.end = end;
  }

  @Override
  public boolean isAtEnd() {
    return rest == null;
  }

  @Override
  public CompletableFuture<List<R>> nextRows() {
    Range<B> range = rest;
    if (range == null) {
      throw new IllegalStateException("there is no page behind the last one");
    }
    return reader
        .apply(range)
        .thenApply(
            rows -> {
              boolean ends = rows.size() < range.limit();
              rest = ends ? null : range.behind(end.apply(rows.getLast()));
              return rows;
            });
  }
}
