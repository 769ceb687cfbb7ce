package io.osier.proxy.future;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber's subscription. Its signals come one after another, with no lock held: each event
 * (a request, an answer, a cancellation) is noted and counted, and the thread that counts the first
 * one works until none is left. At most one question is under way on the subscriber's behalf.
 *
 * @param <T> what the subscriber is told
 * @param <A> an answer to what is asked for
 */
public abstract class SerialSubscription<T, A> implements Flow.Subscription {
  protected final Flow.Subscriber<? super T> subscriber;
  private final String least;
  private final AtomicLong wanted = new AtomicLong();
  private final AtomicReference<@Nullable Arrival<A>> arrival = new AtomicReference<>();
  private volatile boolean cancelled;
  private volatile boolean askedForNone;

  /** The latest question; null before the first. */
  private volatile @Nullable CompletableFuture<?> asked;

  /** How many events the working thread has not looked at yet; 0 if no thread works. */
  private final AtomicInteger calls = new AtomicInteger();

  // Used by the working thread alone.
  private boolean subscribed;
  private boolean over;

  /** What became of a question: an answer, or why there is none. */
  public record Arrival<A>(@Nullable A answer, @Nullable Throwable error) {}

  /**
   * @param least what a subscriber must ask for at least, in words
   */
  public SerialSubscription(Flow.Subscriber<? super T> subscriber, String least) {
    this.subscriber = subscriber;
    this.least = least;
  }

  /** Lets a thread, this one or another, run {@link #go}. */
  protected abstract void start();

  /** Goes on with what has arrived and what is wanted. */
  protected abstract void step(@Nullable Arrival<A> arrived);

  /** Lets go of what the subscriber was not told. */
  protected abstract void drop();

  /** Tells the subscriber of its subscription, and begins. */
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
        end(); // the subscriber's fault: it hears nothing any more
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
      fail(new IllegalArgumentException("a subscriber must ask for at least " + least));
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

  /** No thread works or will, because the executor refused: the subscriber is told by this one. */
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

  /** The subscriber is about to be told one of what it wants. */
  protected final void took() {
    wanted.decrementAndGet();
  }

  /** Whether the subscriber hears nothing any more. */
  protected final boolean isOver() {
    return cancelled || over;
  }

  /** Nothing more is told. */
  protected final void end() {
    over = true;
    drop();
  }

  protected final void fail(Throwable error) {
    end();
    subscriber.onError(error);
  }

  /** Waits for an answer, which is {@link #arrived} then. */
  protected final void await(CompletableFuture<A> answer) {
    answer.whenComplete(this::arrived);
    asked = answer;
    if (cancelled) {
      answer.cancel(false);
    }
  }

  /** Notes an answer, why there is none, or neither: that it is time to go on. */
  protected final void arrived(@Nullable A answer, @Nullable Throwable error) {
    arrival.set(new Arrival<>(answer, error));
    turn();
  }
}
