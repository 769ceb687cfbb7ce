package io.osier.proxy.future;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.connection.CallbackThread;
import io.osier.proxy.future.CallFuture.GivenUp;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Waits for futures, combines them, and converts errors into those that callers see. */
public final class Calls {
  private Calls() {}

  /** Waits for a future and throws its error as it is. */
  public static <T> T join(CompletableFuture<T> future) {
    if (!future.isDone()) {
      if (CallbackThread.mustNotWait()) {
        giveUp(future, GivenUp.WAITS_FOR_ITSELF);
      } else {
        await(future);
      }
    }
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof OsierException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /**
   * Waits until the future is done; gives it up if this thread is interrupted, and keeps the
   * interrupt.
   */
  private static void await(CompletableFuture<?> future) {
    try {
      future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      giveUp(future, GivenUp.INTERRUPTED);
    } catch (ExecutionException | CancellationException e) {
      // The caller reads the error from the future.
    }
  }

  /** Gives a future's call up, and completes the future. */
  private static void giveUp(CompletableFuture<?> future, GivenUp why) {
    if (future instanceof CallFuture<?> call) {
      call.giveUp(why);
    }
    // If a derived function is still running, the outcome of what it has begun is unknown.
    future.completeExceptionally(new OutcomeUnknownException(why.code(), why.why()));
  }

  /** Returns the error of a call that was given up before anything was done. */
  public static OsierException error(GivenUp why) {
    return OsierException.of(why.code(), "nothing was done: " + why.why());
  }

  /** Begins a call; an exception for invalid arguments becomes the future's error. */
  public static <T> CompletableFuture<T> attempt(Supplier<CompletableFuture<T>> call) {
    try {
      return call.get();
    } catch (OsierException e) {
      return CompletableFuture.failedFuture(e.classified());
    }
  }

  /**
   * Runs steps one after another until there is no more to do. Steps that are done at once, as
   * calls within the process may be, run in a loop: nested calls would need as much stack as there
   * are steps.
   *
   * @param from the first step's input
   * @param ends returns whether a step's result is the last
   * @param step runs a step on the result of the step before
   * @param <S> the type of a step's result
   * @return completes with the last step's result, or the error of a step that failed or threw,
   *     after which no step is begun
   */
  public static <S> CompletableFuture<S> oneByOne(
      S from, Predicate<S> ends, Function<S, CompletableFuture<S>> step) {
    try {
      S made = from;
      while (!ends.test(made)) {
        CompletableFuture<S> next = step.apply(made);
        if (!next.isDone()) {
          return next.thenCompose(later -> oneByOne(later, ends, step));
        }
        if (next.isCompletedExceptionally()) {
          return next;
        }
        made = next.join();
      }
      return CallFuture.completed(made);
    } catch (Throwable e) { // callers expect every step's error in the future
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns a future that completes when all have; giving it up gives all of them up. */
  public static CompletableFuture<Void> all(List<? extends CompletableFuture<?>> futures) {
    CallFuture<Void> all =
        new CallFuture<>(
            why -> {
              for (CompletableFuture<?> each : futures) {
                if (each instanceof CallFuture<?> call) {
                  call.giveUp(why);
                }
              }
            });
    CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
        .whenComplete(
            (none, error) -> {
              if (error == null) {
                all.succeed(null);
              } else {
                all.fail(error);
              }
            });
    return all;
  }

  /** Returns the error that a caller sees when no answer came. */
  public static OsierException asOsier(Throwable error, boolean update) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    if (cause instanceof OsierException known) {
      return known.classified();
    }
    if (cause instanceof LostException lost) {
      return update && lost.isSent()
          ? new OutcomeUnknownException(lost.code(), lost.getMessage())
          : OsierException.of(lost.code(), lost.getMessage());
    }
    return OsierException.of(ErrorCode.INTERNAL, String.valueOf(cause.getMessage()), cause);
  }

  /** Returns the error that a caller sees for a datacenter's error reply. */
  public static OsierException failed(Reply.Failure failure, boolean update) {
    return update && failure.code() == ErrorCode.TIMEOUT
        ? new OutcomeUnknownException(failure.code(), failure.message())
        : OsierException.of(failure.code(), failure.message());
  }

  public static OsierException unexpected(Reply reply) {
    return OsierException.of(
        ErrorCode.INTERNAL,
        "the datacenter answered with a reply that does not fit the request: "
            + reply.getClass().getSimpleName());
  }
}
