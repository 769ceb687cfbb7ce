package io.osier.proxy;

import io.osier.core.ErrorCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call, or one that was derived from it. Whoever completes it in place of the call
 * ({@link #cancel}, {@link #orTimeout} and their like) gives the call up, unless others that were
 * derived from the same call still wait for it. A thread that brings answers may not wait for it.
 */
final class CallFuture<T> extends CompletableFuture<T> {
  /** Why a call is given up: what its caller is told. */
  record GivenUp(ErrorCode code, String why) {
    static final GivenUp CANCELLED =
        new GivenUp(ErrorCode.CANCELLED, "the call's future was completed by its caller");
    static final GivenUp INTERRUPTED =
        new GivenUp(ErrorCode.CANCELLED, "the calling thread was interrupted");
    static final GivenUp WAITS_FOR_ITSELF =
        new GivenUp(
            ErrorCode.INVALID_ARGUMENT,
            "a callback of this client must not wait for another call, whose answer comes by the"
                + " same thread: use the form that ends in Async, or an executor of your own");
  }

  /** What is done for a future. */
  interface Work {
    /** Ends it at once, with an error that tells whether something may have been done. */
    void giveUp(GivenUp why);

    /** One of those who wait for it does not any more. */
    default void leave(GivenUp why) {
      giveUp(why);
    }
  }

  /** A call's future with those derived from it, but for those that another call stands behind. */
  private static final class Line implements Work {
    private static final Work NOTHING = why -> {};

    /** Of calls that have ended. */
    static final Line OVER = new Line(NOTHING);

    private Work work;
    private int ends = 1;
    private @Nullable GivenUp givenUp;

    Line(Work work) {
      this.work = work;
    }

    /** From now on something else is done for it. */
    void goesOn(Work next) {
      GivenUp before;
      synchronized (this) {
        work = next;
        before = givenUp;
      }
      if (before != null) {
        next.giveUp(before);
      }
    }

    synchronized void ended() {
      work = NOTHING;
    }

    synchronized void add(int more) {
      ends += more;
    }

    synchronized @Nullable GivenUp givenUp() {
      return givenUp;
    }

    @Override
    public void leave(GivenUp why) {
      leave(why, 0);
    }

    /**
     * As the other one.
     *
     * @param idle how many of those that are counted do not wait for it either
     */
    void leave(GivenUp why, int idle) {
      Work of;
      synchronized (this) {
        if (--ends > idle) {
          return;
        }
        givenUp = why;
        of = work;
      }
      of.leave(why);
    }

    /** The first of the line is over, and with it the others. */
    void end(GivenUp why) {
      Work of;
      synchronized (this) {
        givenUp = why;
        of = work;
      }
      of.leave(why);
    }

    @Override
    public void giveUp(GivenUp why) {
      Work of;
      synchronized (this) {
        givenUp = why;
        of = work;
      }
      of.giveUp(why);
    }
  }

  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<CallFuture> DERIVED =
      AtomicIntegerFieldUpdater.newUpdater(CallFuture.class, "derived");

  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<CallFuture> WAITING =
      AtomicIntegerFieldUpdater.newUpdater(CallFuture.class, "waiting");

  private Line line;

  /** Whether it is the first of its line. */
  private boolean first;

  /** 1 once another one was derived from it, which then stands for both. */
  @SuppressWarnings("UnusedVariable") // by DERIVED
  private volatile int derived;

  /** How many threads wait for it. */
  private volatile int waiting;

  /** Who is at {@link #orTimeout}, which derives one that nobody waits for. */
  private volatile @Nullable Thread timing;

  private CallFuture(Line line) {
    this.line = line;
  }

  /** Of a call that begins. Its end is told by {@link #succeed} or {@link #fail}. */
  CallFuture(Work work) {
    this(new Line(work));
    first = true;
  }

  /** Of one that has ended. */
  static <T> CallFuture<T> completed(@Nullable T value) {
    CallFuture<T> made = new CallFuture<>(Line.OVER);
    made.ends(value);
    return made;
  }

  private boolean ends(@Nullable T value) {
    return super.complete(value);
  }

  /**
   * Of something that nobody else sees.
   *
   * @param done ends with it, also when that is given up
   * @param error what it fails with then
   */
  static <T> CallFuture<T> of(CompletableFuture<T> done, Function<GivenUp, Exception> error) {
    CallFuture<T> made = new CallFuture<>(why -> done.completeExceptionally(error.apply(why)));
    done.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            made.succeed(value);
          } else {
            made.fail(failure);
          }
        });
    return made;
  }

  /** The call was done. */
  boolean succeed(@Nullable T made) {
    line.ended();
    return super.complete(made);
  }

  /** The call has failed. */
  boolean fail(Throwable error) {
    line.ended();
    return super.completeExceptionally(error);
  }

  /** Gives the call up, whoever waits for it: this ends soon, with an error that tells what is. */
  void giveUp(GivenUp why) {
    line.giveUp(why);
  }

  // ---------------------------------------------------------------- completed by others

  private boolean left(boolean completed) {
    if (completed) {
      if (first) {
        line.end(GivenUp.CANCELLED);
      } else {
        line.leave(GivenUp.CANCELLED, waiting);
      }
    }
    return completed;
  }

  @Override
  public boolean complete(T value) {
    return left(super.complete(value));
  }

  @Override
  public boolean completeExceptionally(Throwable error) {
    return left(super.completeExceptionally(error));
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean wasDone = isDone();
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    left(cancelled && !wasDone);
    return cancelled;
  }

  @Override
  public void obtrudeValue(T value) {
    boolean wasDone = isDone();
    super.obtrudeValue(value);
    left(!wasDone);
  }

  @Override
  public void obtrudeException(Throwable error) {
    boolean wasDone = isDone();
    super.obtrudeException(error);
    left(!wasDone);
  }

  // ---------------------------------------------------------------- waited for

  private void waits() {
    if (Answering.mustNotWait()) {
      throw Calls.error(GivenUp.WAITS_FOR_ITSELF);
    }
    line.add(1);
    WAITING.incrementAndGet(this);
  }

  private void waitsNoMore() {
    WAITING.decrementAndGet(this);
    line.add(-1);
  }

  @Override
  public T get() throws InterruptedException, ExecutionException {
    if (isDone()) {
      return super.get();
    }
    waits();
    try {
      return super.get();
    } finally {
      waitsNoMore();
    }
  }

  @Override
  public T get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    if (isDone()) {
      return super.get(timeout, unit);
    }
    waits();
    try {
      return super.get(timeout, unit);
    } finally {
      waitsNoMore();
    }
  }

  @Override
  public T join() {
    if (isDone()) {
      return super.join();
    }
    waits();
    try {
      return super.join();
    } finally {
      waitsNoMore();
    }
  }

  // ---------------------------------------------------------------- derived

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    if (isDone()) {
      return new CallFuture<>(Line.OVER);
    }
    Line of = line;
    if (timing != Thread.currentThread() && DERIVED.getAndSet(this, 1) != 0) {
      of.add(1);
    }
    return new CallFuture<>(of);
  }

  @Override
  public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
    timing = Thread.currentThread();
    try {
      return super.orTimeout(timeout, unit);
    } finally {
      timing = null;
    }
  }

  @Override
  public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
    timing = Thread.currentThread();
    try {
      return super.completeOnTimeout(value, timeout, unit);
    } finally {
      timing = null;
    }
  }

  /** What a function gives is done for the future behind it; nothing once that was given up. */
  private static <A, U> Function<A, CompletionStage<U>> behind(
      Line line, Function<? super A, ? extends CompletionStage<U>> function) {
    return value -> {
      GivenUp why = line.givenUp();
      if (why != null) {
        return CompletableFuture.failedFuture(Calls.error(why));
      }
      CompletionStage<U> next = function.apply(value);
      line.goesOn(next instanceof CallFuture<U> call ? call.line : Line.NOTHING);
      return next;
    };
  }

  private static <U> CompletableFuture<U> on(Line line, CompletableFuture<U> made) {
    CallFuture<U> call = (CallFuture<U>) made;
    call.line = line;
    call.first = true;
    return call;
  }

  @Override
  public <U> CompletableFuture<U> thenCompose(
      Function<? super T, ? extends CompletionStage<U>> function) {
    Line next = new Line(line);
    return on(next, super.thenCompose(behind(next, function)));
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super T, ? extends CompletionStage<U>> function) {
    Line next = new Line(line);
    return on(next, super.thenComposeAsync(behind(next, function)));
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super T, ? extends CompletionStage<U>> function, Executor executor) {
    Line next = new Line(line);
    return on(next, super.thenComposeAsync(behind(next, function), executor));
  }

  @Override
  public CompletableFuture<T> exceptionallyCompose(
      Function<Throwable, ? extends CompletionStage<T>> function) {
    Line next = new Line(line);
    return on(next, super.exceptionallyCompose(behind(next, function)));
  }
}
