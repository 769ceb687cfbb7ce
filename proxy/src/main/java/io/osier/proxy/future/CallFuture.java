package io.osier.proxy.future;

import io.osier.core.ErrorCode;
import io.osier.proxy.connection.CallbackThread;
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
 * ({@link #cancel}, {@link #orTimeout} and their like) gives the call up. With the future that the
 * client returned this is so whatever was derived from it; with one of several that were derived
 * from it, once the others have left, too. A thread that brings answers may not wait for it.
 */
public final class CallFuture<T> extends CompletableFuture<T> {
  /** Why a call is given up: what its caller is told. */
  public record GivenUp(ErrorCode code, String why) {
    static final GivenUp CANCELLED =
        new GivenUp(ErrorCode.CANCELLED, "the call's future was completed by its caller");
    static final GivenUp INTERRUPTED =
        new GivenUp(ErrorCode.CANCELLED, "the calling thread was interrupted");
    public static final GivenUp WAITS_FOR_ITSELF =
        new GivenUp(
            ErrorCode.INVALID_ARGUMENT,
            "a callback of this client must not wait for another call, whose answer comes by the"
                + " same thread: use the form that ends in Async, or an executor of your own");
  }

  /** The call, or what else is done, for which a future waits. */
  public interface Work {
    /** Ends it at once, with an error that tells whether something may have been done. */
    void giveUp(GivenUp why);

    /** One of those who wait for it does not any more. */
    default void leave(GivenUp why) {
      giveUp(why);
    }
  }

  /** A call's future and those derived from it, up to those that wait for a further call. */
  private static final class Line implements Work {
    private static final Work NOTHING = why -> {};

    /** Of calls that have ended. */
    static final Line OVER = new Line(NOTHING);

    private Work work;

    /** How many still wait for the call: futures from which none was derived, and threads. */
    private int ends = 1;

    /**
     * The least depth of a future for which several wait. Up to there the line is a chain: whoever
     * completes one of it has completed all that is derived.
     */
    private int forkedAt = Integer.MAX_VALUE;

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
        next.leave(before);
      }
    }

    synchronized void ended() {
      work = NOTHING;
    }

    /** One more waits for a future of this depth. */
    synchronized void joins(int depth) {
      ends++;
      forkedAt = Math.min(forkedAt, depth);
    }

    /** A thread does not wait any more, and gives nothing up by that. */
    synchronized void waitsNoMore() {
      ends--;
    }

    synchronized @Nullable GivenUp givenUp() {
      return givenUp;
    }

    @Override
    public void leave(GivenUp why) {
      leave(why, Integer.MAX_VALUE, 0);
    }

    /**
     * One of its futures is over, and with it those behind it.
     *
     * @param idle how many of those that are counted do not wait for it either
     */
    void leave(GivenUp why, int depth, int idle) {
      Work of;
      synchronized (this) {
        if (givenUp != null || (--ends > idle && depth > forkedAt)) {
          return;
        }
        of = over(why);
      }
      of.leave(why);
    }

    private synchronized Work over(GivenUp why) {
      givenUp = why;
      return work;
    }

    @Override
    public void giveUp(GivenUp why) {
      over(why).giveUp(why);
    }
  }

  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<CallFuture> DERIVED =
      AtomicIntegerFieldUpdater.newUpdater(CallFuture.class, "derived");

  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<CallFuture> WAITING =
      AtomicIntegerFieldUpdater.newUpdater(CallFuture.class, "waiting");

  private Line line;

  /** How many are between it and the first of its line, with that one. */
  private int depth;

  /** 1 once another one was derived from it, which then stands for both. */
  @SuppressWarnings("UnusedVariable") // by DERIVED
  private volatile int derived;

  private volatile int waiting;

  /** The thread that is in {@link #orTimeout}, which derives a future that nobody waits for. */
  private volatile @Nullable Thread timing;

  private CallFuture(Line line, int depth) {
    this.line = line;
    this.depth = depth;
  }

  /** Of a call that begins. Its end is told by {@link #succeed} or {@link #fail}. */
  public CallFuture(Work work) {
    this(new Line(work), 0);
  }

  /** Of one that has ended. */
  public static <T> CallFuture<T> completed(@Nullable T value) {
    CallFuture<T> made = new CallFuture<>(Line.OVER, 0);
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
  public static <T> CallFuture<T> of(
      CompletableFuture<T> done, Function<GivenUp, Exception> error) {
    CallFuture<T> made = new CallFuture<>(why -> done.completeExceptionally(error.apply(why)));
    var unused =
        done.handle((value, failed) -> failed == null ? made.succeed(value) : made.fail(failed));
    return made;
  }

  public boolean succeed(@Nullable T made) {
    line.ended();
    return super.complete(made);
  }

  public boolean fail(Throwable error) {
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
      line.leave(GivenUp.CANCELLED, depth, waiting);
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
    if (CallbackThread.mustNotWait()) {
      throw Calls.error(GivenUp.WAITS_FOR_ITSELF);
    }
    line.joins(depth);
    WAITING.incrementAndGet(this);
  }

  private void waitsNoMore() {
    WAITING.decrementAndGet(this);
    line.waitsNoMore();
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

  /** Another one waits for it; the first of those stands for both. */
  private Line joined() {
    if (isDone()) {
      return Line.OVER;
    }
    if (DERIVED.getAndSet(this, 1) != 0) {
      line.joins(depth);
    }
    return line;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    Line of = timing == Thread.currentThread() ? line : joined();
    return new CallFuture<>(of, depth + 1);
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
      line.goesOn(next instanceof CallFuture<U> call ? call.joined() : Line.NOTHING);
      return next;
    };
  }

  /** Composed with what a function gives: the first of a line of its own. */
  private <U> CompletableFuture<U> composed(Function<Line, CompletableFuture<U>> compose) {
    Line next = new Line(line);
    CallFuture<U> made = (CallFuture<U>) compose.apply(next);
    made.line = next;
    made.depth = 0;
    return made;
  }

  @Override
  public <U> CompletableFuture<U> thenCompose(
      Function<? super T, ? extends CompletionStage<U>> function) {
    return composed(next -> super.thenCompose(behind(next, function)));
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super T, ? extends CompletionStage<U>> function) {
    return composed(next -> super.thenComposeAsync(behind(next, function)));
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super T, ? extends CompletionStage<U>> function, Executor executor) {
    return composed(next -> super.thenComposeAsync(behind(next, function), executor));
  }

  @Override
  public CompletableFuture<T> exceptionallyCompose(
      Function<Throwable, ? extends CompletionStage<T>> function) {
    return composed(next -> super.exceptionallyCompose(behind(next, function)));
  }

  @Override
  public CompletableFuture<T> exceptionallyComposeAsync(
      Function<Throwable, ? extends CompletionStage<T>> function) {
    return composed(next -> super.exceptionallyComposeAsync(behind(next, function)));
  }

  @Override
  public CompletableFuture<T> exceptionallyComposeAsync(
      Function<Throwable, ? extends CompletionStage<T>> function, Executor executor) {
    return composed(next -> super.exceptionallyComposeAsync(behind(next, function), executor));
  }
}
