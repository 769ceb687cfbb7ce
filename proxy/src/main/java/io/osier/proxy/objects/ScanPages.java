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

  /** The part of the scan that is left; null at the end. */
  private volatile @Nullable ScanRange rest;

  /**
   * Makes a reader.
   *
   * @param reader reads the first page of the rest of a scan
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
   * Reads the next page, with the key at which the one after it begins. A page may be empty
   * although others follow. Must not be called at the end.
   */
  public CompletableFuture<Page> next() {
    ScanRange scan = rest;
    if (scan == null) {
      throw new IllegalStateException("there is no next page: the last one was read already");
    }
    return reader
        .apply(scan)
        .thenApply(
            page -> {
              // A page may exceed the limit to include all objects of its last key.
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
