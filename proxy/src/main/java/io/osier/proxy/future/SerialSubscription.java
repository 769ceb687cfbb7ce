package io.osier.proxy.future;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber's subscription, which sends its signals one after another, with no lock held. Each
 * event (a request, an answer, a cancellation) is noted and counted, and the thread that counts the
 * first one handles events until none is left. At most one query is under way for the subscriber.
 *
 * @param <T> the type of the signals
 * @param <A> the type of a query's answer
 */
public abstract class SerialSubscription<T, A> implements Flow.Subscription {
  protected final Flow.Subscriber<? super T> subscriber;
  private final String least;
  private final AtomicLong wanted = new AtomicLong();
  private final AtomicReference<@Nullable Arrival<A>> arrival = new AtomicReference<>();
  private volatile boolean cancelled;
  private volatile boolean askedForNone;

  /** The latest query; null before the first. */
  private volatile @Nullable CompletableFuture<?> asked;

  /** How many events the working thread has not handled yet; 0 if no thread works. */
  private final AtomicInteger calls = new AtomicInteger();

  // Used by the working thread alone.
  private boolean subscribed;
  private boolean over;

  /** The outcome of a query: an answer, or an error. */
  public record Arrival<A>(@Nullable A answer, @Nullable Throwable error) {}

  /**
   * Makes a subscription.
   *
   * @param least what a subscriber must request at least, in words
   */
  public SerialSubscription(Flow.Subscriber<? super T> subscriber, String least) {
    this.subscriber = subscriber;
    this.least = least;
  }

  /** Makes this thread or another run {@link #go}. */
  protected abstract void start();

  /** Handles an outcome that has arrived, if any, and what the subscriber wants. */
  protected abstract void step(@Nullable Arrival<A> arrived);

  /** Drops everything that the subscriber was not told. */
  protected abstract void drop();

  /** Signals the subscription to the subscriber, and begins. */
  public final void begin() {
    turn();
  }

  @Override
  public final void request(long times) {
    if (times < 1) {
      askedForNone = true;
    } else {
      wanted.accumulateAndGet(times, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
    }
    turn();
  }

  @Override
  public final void cancel() {
    cancelled = true;
    CompletableFuture<?> waits = asked;
    if (waits != null) {
      waits.cancel(false);
    }
    turn();
  }

  private void turn() {
    if (calls.getAndIncrement() == 0) {
      start();
    }
  }

  protected final void go() {
    int done = 1;
    do {
      try {
        look();
      } catch (RuntimeException | Error e) {
        end(); // the subscriber threw: no more signals
        calls.addAndGet(-done);
        throw e;
      }
      done = calls.addAndGet(-done);
    } while (done != 0);
  }

  private void look() {
    subscribed();
    if (isOver()) {
      end();
    } else if (askedForNone) {
      fail(new IllegalArgumentException("a subscriber must request at least " + least));
    } else {
      step(arrival.getAndSet(null));
    }
  }

  private void subscribed() {
    if (!subscribed) {
      subscribed = true;
      subscriber.onSubscribe(this);
    }
  }

  /**
   * Ends the subscription after the executor refused to run {@link #go}; this thread tells the
   * subscriber.
   */
  protected final void refused(RuntimeException by) {
    if (isOver()) {
      end();
    } else {
      subscribed();
      fail(by);
    }
  }

  protected final boolean isWanted() {
    return !cancelled && wanted.get() > 0;
  }

  /** Counts one signal of those that the subscriber wants. */
  protected final void took() {
    wanted.decrementAndGet();
  }

  /** Returns whether the subscriber gets no more signals. */
  protected final boolean isOver() {
    return cancelled || over;
  }

  /** Ends the subscription: no more signals are sent. */
  protected final void end() {
    over = true;
    drop();
  }

  protected final void fail(Throwable error) {
    end();
    subscriber.onError(error);
  }

  /** Waits for a query's answer; calls {@link #arrived} with it. */
  protected final void await(CompletableFuture<A> answer) {
    answer.whenComplete(this::arrived);
    asked = answer;
    if (cancelled) {
      answer.cancel(false);
    }
  }

  /** Notes an answer or an error, or, if both are null, that a pause has ended. */
  protected final void arrived(@Nullable A answer, @Nullable Throwable error) {
    arrival.set(new Arrival<>(answer, error));
    turn();
  }
}
