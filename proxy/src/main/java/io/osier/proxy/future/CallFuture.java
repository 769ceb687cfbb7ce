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
 * The future of a call, or one derived from it. A caller that completes it ({@link #cancel}, {@link
 * #orTimeout} and the like) gives the call up: at once if it is the future that the client
 * returned; if it is one of several derived futures, once the others have been completed, too.
 * Threads that deliver answers may not wait for it.
 */
public final class CallFuture<T> extends CompletableFuture<T> {
  /** Why a call is given up, as its caller is told. */
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

  /** The call, or other work, for which a future waits. */
  public interface Work {
    /** Ends the work at once, with an error that tells whether something may have been done. */
    void giveUp(GivenUp why);

    /** One of the callers that wait for the work has stopped waiting. */
    default void leave(GivenUp why) {
      giveUp(why);
    }
  }

  /** A call's own future and those derived from it, up to those that wait for a further call. */
  private static final class Line implements Work {
    private static final Work NOTHING = why -> {};

    /** The line of all calls that have ended. */
    static final Line OVER = new Line(NOTHING);

    private Work work;

    /** How many still wait for the call: futures without derived futures, and threads. */
    private int ends = 1;

    /**
     * The least depth of a future on which several futures or threads wait. Up to this depth the
     * line is a chain: completing one future of it completes all derived ones.
     */
    private int forkedAt = Integer.MAX_VALUE;

    private @Nullable GivenUp givenUp;

    Line(Work work) {
      this.work = work;
    }

    /** From now on the line waits for other work. */
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

    /** One more future or thread waits for a future of this depth. */
    synchronized void joins(int depth) {
      ends++;
      forkedAt = Math.min(forkedAt, depth);
    }

    /** A thread no longer waits; that gives nothing up. */
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
     * A caller has completed one of the futures, and so all derived from it.
     *
     * @param idle how many of the counted threads wait for this future, and so need the call no
     *     longer
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

  /** The number of derivations between the line's first future and this one. */
  private int depth;

  /** 1 once a future was derived from this one; it then counts for both. */
  @SuppressWarnings("UnusedVariable") // by DERIVED
  private volatile int derived;

  private volatile int waiting;

  /** The thread in {@link #orTimeout}, which derives a future that must not count as waiting. */
  private volatile @Nullable Thread timing;

  private CallFuture(Line line, int depth) {
    this.line = line;
    this.depth = depth;
  }

  /** Makes the future of a call that begins; {@link #succeed} or {@link #fail} ends it. */
  public CallFuture(Work work) {
    this(new Line(work), 0);
  }

  /** Makes the future of a call that has ended. */
  public static <T> CallFuture<T> completed(@Nullable T value) {
    CallFuture<T> made = new CallFuture<>(Line.OVER, 0);
    made.ends(value);
    return made;
  }

  private boolean ends(@Nullable T value) {
    return super.complete(value);
  }

  /**
   * Makes a future that ends with another one, to which no caller has access.
   *
   * @param done the other future; it fails when this one is given up
   * @param error makes the error with which it then fails
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

  /** Gives the call up, whoever waits for it; this future then ends soon, with an error. */
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

  /** One more future waits for this one; the first that does so counts for both. */
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

  /** Makes the line wait for a function's stage, unless the line was given up before. */
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

  /** Composes with a function's stage; the result is the first future of a new line. */
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
