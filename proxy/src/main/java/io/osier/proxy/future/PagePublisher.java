package io.osier.proxy.future;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes rows that are read page by page. Each subscriber has its own reader and holds one page:
 * the next is requested when the subscriber has taken all rows of the last one and wants more.
 * Signals are sent one after another, with no lock held, by the thread that delivers a page or by
 * the one that requests rows. Thread-safe.
 */
public final class PagePublisher<R> implements Flow.Publisher<R> {
  private final Supplier<PageReader<R>> readings;

  /** Makes a publisher that takes a new reader for each subscriber. */
  public PagePublisher(Supplier<PageReader<R>> readings) {
    this.readings = readings;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super R> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    new Rows<R>(readings.get(), subscriber).begin();
  }

  /** One subscriber's subscription. */
  private static final class Rows<R> extends SerialSubscription<R, List<R>> {
    private final PageReader<R> pages;
    private final ArrayDeque<R> held = new ArrayDeque<>();
    private boolean reading;

    Rows(PageReader<R> pages, Flow.Subscriber<? super R> subscriber) {
      super(subscriber, "one row");
      this.pages = pages;
    }

    @Override
    protected void start() {
      go();
    }

    @Override
    protected void drop() {
      held.clear();
    }

    @Override
    protected void step(@Nullable Arrival<List<R>> arrived) {
      if (arrived != null) {
        reading = false;
        if (arrived.error() != null) {
          fail(Calls.asOsier(arrived.error(), false));
          return;
        }
        held.addAll(Objects.requireNonNull(arrived.answer()));
      }
      while (isWanted() && !held.isEmpty()) {
        took();
        subscriber.onNext(held.remove());
      }
      if (isOver() || !held.isEmpty() || reading) {
        return;
      }
      if (pages.isAtEnd()) {
        end();
        subscriber.onComplete();
      } else if (isWanted()) {
        reading = true;
        await(pages.nextRows());
      }
    }
  }
}
