package io.osier.proxy;

import io.osier.proxy.Keyspace.Row;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Rows of a scan as a stream: a page is read when a row of it is wanted. Used by one thread. */
final class ScanStream extends Spliterators.AbstractSpliterator<Row> {
  private final ScanPages pages;
  private Iterator<Row> rows = List.<Row>of().iterator();
  private boolean closed;

  private ScanStream(ScanPages pages) {
    super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
    this.pages = pages;
  }

  static Stream<Row> of(ScanPages pages) {
    ScanStream rows = new ScanStream(pages);
    return StreamSupport.stream(rows, false).onClose(() -> rows.closed = true);
  }

  @Override
  public boolean tryAdvance(Consumer<? super Row> action) {
    while (!closed && !rows.hasNext() && !pages.isAtEnd()) {
      rows = Calls.join(pages.next()).rows().iterator();
    }
    if (closed || !rows.hasNext()) {
      return false;
    }
    action.accept(rows.next());
    return true;
  }

  /** In one piece: a part would wait for the one before it. */
  @Override
  public @Nullable Spliterator<Row> trySplit() {
    return null;
  }
}
