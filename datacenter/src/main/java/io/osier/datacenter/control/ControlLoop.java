package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets a {@link ControlPlane} take its steps, by one thread. Thread-safe. */
public final class ControlLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlLoop.class);
  private static final long LOOK_MILLIS = 100;

  /** So long a creation waits for the others before it is answered that it goes on. */
  private static final long CREATED_NANOS = 3_000_000_000L;

  private static final long STOP_MILLIS = 5_000;

  private final ControlPlane plane;
  private final ScheduledThreadPoolExecutor thread;
  private String trouble = "";

  /** Starts to look. */
  public ControlLoop(ControlPlane plane) {
    this.plane = plane;
    this.thread =
        new ScheduledThreadPoolExecutor(
            1, r -> Thread.ofPlatform().name("osier-control").daemon(true).unstarted(r));
    thread.setRemoveOnCancelPolicy(true);
    var unused =
        thread.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      plane.look();
      trouble = "";
    } catch (RuntimeException e) {
      if (!String.valueOf(e).equals(trouble)) {
        trouble = String.valueOf(e);
        LOG.error("the control plane stumbles; it goes on", e);
      }
    }
  }

  /**
   * See {@link ControlPlane#administer}. What was created is answered once it takes updates, or
   * after three seconds.
   */
  public CompletableFuture<List<KeyspaceView>> administer(Request.Administer request, String by) {
    CompletableFuture<List<KeyspaceView>> done = new CompletableFuture<>();
    try {
      thread.execute(
          () -> {
            try {
              List<KeyspaceView> views = plane.administer(request, by);
              answer(request, by, views, System.nanoTime() + CREATED_NANOS, done);
            } catch (RuntimeException e) {
              done.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(
          new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    }
    return done;
  }

  /** See {@link ControlPlane#administerUsers}. */
  public CompletableFuture<List<UserView>> administerUsers(Request.Administer request, String by) {
    CompletableFuture<List<UserView>> done = new CompletableFuture<>();
    try {
      thread.execute(
          () -> {
            try {
              done.complete(plane.administerUsers(request, by));
            } catch (RuntimeException e) {
              done.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(
          new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    }
    return done;
  }

  private void answer(
      Request.Administer request,
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
            () -> {
              look();
              answer(request, by, plane.views(request.name()), deadlineNanos, done);
            },
            LOOK_MILLIS / 2,
            TimeUnit.MILLISECONDS);
  }

  /** Ends it; waits until the step under way is done. */
  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("the control plane has not ended {} ms after it was told to", STOP_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
