package io.osier.proxy.future;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rows for subscribers that say how many they want. Each has pages of its own, of which one is held
 * at a time: the next one is asked for when all rows of it were taken and more are wanted. Signals
 * come one after another, with no lock held, by the thread that brings a page or by the one that
 * asks for rows.
 */
public final class PagePublisher<R> implements Flow.Publisher<R> {
  private final Supplier<PageReader<R>> readings;

  /** Each subscriber's pages are those of another reading. */
  public PagePublisher(Supplier<PageReader<R>> readings) {
    this.readings = readings;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super R> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    new Rows<R>(readings.get(), subscriber).begin();
  }

  /** One subscriber's reading. */
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
