package io.osier.proxy.objects;

import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.future.PageReader;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

public final class ScanPages implements PageReader<Keyspace.Row> {
  private final Function<ScanRange, CompletableFuture<Page>> reader;

  /** What is left; null at the end. */
  private volatile @Nullable ScanRange rest;

  /**
   * @param reader reads the first page of what is left of a scan
   */
  public ScanPages(ScanRange scan, Function<ScanRange, CompletableFuture<Page>> reader) {
    this.rest = scan;
    this.reader = reader;
  }

  @Override
  public boolean isAtEnd() {
    return rest == null;
  }

  @Override
  public CompletableFuture<List<Keyspace.Row>> nextRows() {
    return next().thenApply(Page::rows);
  }

  /**
   * As {@link #nextRows}, with where the one behind it begins; one that may be empty although
   * others follow. Not at the end.
   */
  public CompletableFuture<Page> next() {
    ScanRange scan = rest;
    if (scan == null) {
      throw new IllegalStateException("there is no page behind the last one");
    }
    return reader
        .apply(scan)
        .thenApply(
            page -> {
              // One key's objects of several types may be a few more than were asked for.
              List<Keyspace.Row> rows =
                  page.rows().size() > scan.limit()
                      ? page.rows().subList(0, (int) scan.limit())
                      : page.rows();
              boolean ends = page.next().isEmpty() || rows.size() >= scan.limit();
              rest = ends ? null : scan.rest(page.next().orElseThrow(), rows.size());
              return new Page(List.copyOf(rows), ends ? Optional.empty() : page.next());
            });
  }
}
