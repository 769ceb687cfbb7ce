package io.osier.proxy;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rows for subscribers that say how many they want. Each has pages of its own, of which one is held
 * at a time: the next one is asked for when all rows of it were taken and more are wanted. Signals
 * come one after another, with no lock held, by the thread that brings a page or by the one that
 * asks for rows.
 *
 * @param <R> a row
 */
final class PagePublisher<R> implements Flow.Publisher<R> {
  private final Supplier<Pages<R>> readings;

  /** Each subscriber's pages are those of another reading. */
  PagePublisher(Supplier<Pages<R>> readings) {
    this.readings = readings;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super R> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    new Rows<R>(readings.get(), subscriber).begin();
  }

  /** What became of the page that was asked for: one of the two is null. */
  private record Arrival<R>(@Nullable List<R> page, @Nullable Throwable error) {}

  /** One subscriber's reading. */
  private static final class Rows<R> implements Flow.Subscription {
    private final Pages<R> pages;
    private final Flow.Subscriber<? super R> subscriber;
    private final AtomicLong wanted = new AtomicLong();
    private final AtomicReference<@Nullable Arrival<R>> arrival = new AtomicReference<>();
    private volatile boolean cancelled;
    private volatile boolean askedForNone;

    /** The latest page that was asked for; null before the first. */
    private volatile @Nullable CompletableFuture<?> asked;

    /** How often there was something to do since whoever is at it looked; 0 if nobody is. */
    private final AtomicInteger calls = new AtomicInteger();

    // Only whoever is at it touches what follows.
    private final ArrayDeque<R> held = new ArrayDeque<>();
    private boolean reading;
    private boolean over;

    Rows(Pages<R> pages, Flow.Subscriber<? super R> subscriber) {
      this.pages = pages;
      this.subscriber = subscriber;
    }

    void begin() {
      calls.set(1); // what the subscriber asks for meanwhile is done behind this
      subscriber.onSubscribe(this);
      go();
    }

    @Override
    public void request(long rows) {
      if (rows < 1) {
        askedForNone = true;
      } else {
        wanted.accumulateAndGet(rows, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
      }
      turn();
    }

    @Override
    public void cancel() {
      cancelled = true;
      CompletableFuture<?> reads = asked;
      if (reads != null) {
        reads.cancel(false);
      }
      turn();
    }

    private void turn() {
      if (calls.getAndIncrement() == 0) {
        go();
      }
    }

    private void go() {
      int done = 1;
      do {
        try {
          look();
        } catch (RuntimeException | Error e) {
          over = true; // the subscriber's fault: it hears nothing any more
          held.clear();
          calls.addAndGet(-done);
          throw e;
        }
        done = calls.addAndGet(-done);
      } while (done != 0);
    }

    private void look() {
      if (cancelled || over) {
        over = true;
        held.clear();
        return;
      }
      if (askedForNone) {
        over = true;
        subscriber.onError(
            new IllegalArgumentException("a subscriber must ask for at least one row"));
        return;
      }
      Arrival<R> arrived = arrival.getAndSet(null);
      if (arrived != null) {
        reading = false;
        if (arrived.error != null) {
          over = true;
          subscriber.onError(Calls.asOsier(arrived.error, false));
          return;
        }
        held.addAll(Objects.requireNonNull(arrived.page));
      }
      deliver();
      if (cancelled || !held.isEmpty() || reading) {
        return;
      }
      if (pages.isAtEnd()) {
        over = true;
        subscriber.onComplete();
      } else if (wanted.get() > 0) {
        reading = true;
        CompletableFuture<List<R>> reads = pages.nextRows();
        reads.whenComplete(
            (page, error) -> {
              arrival.set(new Arrival<>(page, error));
              turn();
            });
        asked = reads;
        if (cancelled) {
          reads.cancel(false);
        }
      }
    }

    private void deliver() {
      while (!cancelled && wanted.get() > 0) {
        R row = held.poll();
        if (row == null) {
          return;
        }
        wanted.decrementAndGet();
        subscriber.onNext(row);
      }
    }
  }
}
