package io.osier.proxy.future;

import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** A stream of the rows of pages: a page is read when one of its rows is wanted. For one thread. */
public final class PageStream<R> extends Spliterators.AbstractSpliterator<R> {
  private final PageReader<R> pages;
  private Iterator<R> rows = List.<R>of().iterator();
  private boolean closed;

  private PageStream(PageReader<R> pages) {
    super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
    this.pages = pages;
  }

  public static <R> Stream<R> of(PageReader<R> pages) {
    PageStream<R> rows = new PageStream<>(pages);
    return StreamSupport.stream(rows, false).onClose(() -> rows.closed = true);
  }

  @Override
  public boolean tryAdvance(Consumer<? super R> action) {
    while (!closed && !rows.hasNext() && !pages.isAtEnd()) {
      rows = Calls.join(pages.nextRows()).iterator();
    }
    if (closed || !rows.hasNext()) {
      return false;
    }
    action.accept(rows.next());
    return true;
  }

  /** Never splits: a part would have to wait for the one before it. */
  @Override
  public @Nullable Spliterator<R> trySplit() {
    return null;
  }
}
