package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.protocol.AdminRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a {@link ControlPlane} in one thread. Thread-safe. */
public final class ControlLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlLoop.class);
  private static final long LOOK_MILLIS = 100;
  private static final long FIRST_LOOK_MILLIS = 10;

  /** The pause between looks while nothing goes on: others' changes are seen this late at most. */
  private static final long REST_MILLIS = 250;

  /** How long a creation waits for the other datacenters before it is answered that it goes on. */
  private static final long CREATED_NANOS = 3_000_000_000L;

  private static final long STOP_MILLIS = 5_000;

  private final ControlPlane plane;
  private final ScheduledThreadPoolExecutor thread;

  /** The answers that are still to come. */
  private final Set<CompletableFuture<?>> waiting = ConcurrentHashMap.newKeySet();

  private String trouble = "";

  /** Starts the loop. */
  public ControlLoop(ControlPlane plane) {
    this.plane = plane;
    this.thread =
        new ScheduledThreadPoolExecutor(
            1, r -> Thread.ofPlatform().name("osier-control").daemon(true).unstarted(r));
    thread.setRemoveOnCancelPolicy(true);
    lookAgain();
  }

  /** Looks often until {@code _osier} is known: no updates are taken before. */
  private void lookAgain() {
    long pause = FIRST_LOOK_MILLIS;
    if (plane.isKnown()) {
      pause = plane.isAtRest() ? REST_MILLIS : LOOK_MILLIS;
    }
    try {
      var unused =
          thread.schedule(
              () -> {
                look();
                lookAgain();
              },
              pause,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("the control plane has ended", e);
    }
  }

  private void look() {
    try {
      plane.look();
      trouble = "";
    } catch (RuntimeException e) {
      if (!String.valueOf(e).equals(trouble)) {
        trouble = String.valueOf(e);
        LOG.error("the control plane had an error and continues", e);
      }
    }
  }

  /**
   * See {@link ControlPlane#administer}. A creation is answered once the keyspace takes updates, or
   * after three seconds. Fails with SHUTTING_DOWN if the loop ends before.
   */
  public CompletableFuture<List<KeyspaceView>> administer(
      AdminRequest.Administer request, String by) {
    return step(
        done ->
            answer(
                request,
                by,
                plane.administer(request, by),
                System.nanoTime() + CREATED_NANOS,
                done));
  }

  /**
   * Asks the control plane, or lets it change something, in the loop's thread. Fails with
   * SHUTTING_DOWN if the loop ends before.
   */
  public <T> CompletableFuture<T> ask(Function<ControlPlane, T> what) {
    return step(done -> done.complete(what.apply(plane)));
  }

  @SuppressWarnings("CollectionUndefinedEquality") // each future is itself alone
  private <T> CompletableFuture<T> step(Consumer<CompletableFuture<T>> step) {
    CompletableFuture<T> done = new CompletableFuture<>();
    waiting.add(done);
    var unused = done.whenComplete((made, failure) -> waiting.remove(done));
    try {
      thread.execute(() -> trying(done, () -> step.accept(done)));
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(shuttingDown());
    }
    return done;
  }

  private static void trying(CompletableFuture<?> done, Runnable step) {
    try {
      step.run();
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(shuttingDown());
    } catch (RuntimeException e) {
      done.completeExceptionally(e);
    }
  }

  private static OsierException shuttingDown() {
    return new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down");
  }

  private void answer(
      AdminRequest.Administer request,
      String by,
      List<KeyspaceView> views,
      long deadlineNanos,
      CompletableFuture<List<KeyspaceView>> done) {
    boolean waits =
        request.action().equals("create") && views.stream().anyMatch(v -> !v.awaited().isEmpty());
    if (!waits || System.nanoTime() - deadlineNanos >= 0) {
      done.complete(views);
      return;
    }
    var unused =
        thread.schedule(
            () ->
                trying(
                    done,
                    () -> {
                      look();
                      answer(request, by, plane.views(request.name()), deadlineNanos, done);
                    }),
            LOOK_MILLIS / 2,
            TimeUnit.MILLISECONDS);
  }

  /** Ends the loop; waits until the present step has ended. */
  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("the control plane has not ended {} ms after the stop", STOP_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    waiting.forEach(answer -> answer.completeExceptionally(shuttingDown()));
  }
}
