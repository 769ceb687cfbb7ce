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

/** How futures and errors become what callers see. */
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

  /** Waits until it is done; gives it up if this thread is interrupted, which it stays. */
  private static void await(CompletableFuture<?> future) {
    try {
      future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      giveUp(future, GivenUp.INTERRUPTED);
    } catch (ExecutionException | CancellationException e) {
      // It is done.
    }
  }

  /** Ends what nobody else waits for. It is done then. */
  private static void giveUp(CompletableFuture<?> future, GivenUp why) {
    if (future instanceof CallFuture<?> call) {
      call.giveUp(why);
    }
    // If somebody's function is still at it, nothing is known of what that has begun.
    future.completeExceptionally(new OutcomeUnknownException(why.code(), why.why()));
  }

  /** That a call was given up, and nothing was done. */
  public static OsierException error(GivenUp why) {
    return OsierException.of(why.code(), "nothing was done: " + why.why());
  }

  /** Begins a call; what is wrong with its arguments is its future's error, too. */
  public static <T> CompletableFuture<T> attempt(Supplier<CompletableFuture<T>> call) {
    try {
      return call.get();
    } catch (OsierException e) {
      return CompletableFuture.failedFuture(e.classified());
    }
  }

  /**
   * Takes steps one after another until there is no more to do. Those that are done at once, as
   * calls within the process may be, follow each other in a loop: nested they would need as much
   * stack as there are steps.
   *
   * @param from what the first step begins with
   * @param ends whether nothing is to be done after what a step has made
   * @param step is given what the one before it has made
   * @param <S> what a step makes
   * @return what the last one has made; or the error of the one that failed or threw, after which
   *     none is begun
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
    } catch (Throwable e) { // whoever asked looks for it there, whichever step it is
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Completes when all have; who gives it up gives up all of them. */
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

  /** The error that a caller gets when no answer came. */
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

  /** The error that a caller gets for a datacenter's refusal. */
  public static OsierException failed(Reply.Failure failure, boolean update) {
    return update && failure.code() == ErrorCode.TIMEOUT
        ? new OutcomeUnknownException(failure.code(), failure.message())
        : OsierException.of(failure.code(), failure.message());
  }

  public static OsierException unexpected(Reply reply) {
    return OsierException.of(
        ErrorCode.INTERNAL, "an answer of another kind: " + reply.getClass().getSimpleName());
  }
}
