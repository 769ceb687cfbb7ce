package io.osier.proxy.connection;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.Connection;
import io.osier.proxy.InProcess;
import io.osier.proxy.LostException;
import io.osier.proxy.Timers;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection to a datacenter in this process, which is given the requests as objects.
 * Thread-safe.
 */
public final class InProcessConnection implements Connection {
  private static final String CLOSED = "this client was closed";

  /** Ends the waiting for an answer after its time limit. Thread-safe. */
  @FunctionalInterface
  public interface Alarm {
    /**
     * Runs an action after a time.
     *
     * @return cancels the action
     * @throws RejectedExecutionException once the client is closed
     */
    Runnable after(long millis, Runnable action);

    /** Returns an alarm that uses an executor's timers. */
    static Alarm of(ScheduledExecutorService timer) {
      return (millis, action) -> {
        ScheduledFuture<?> alarm = timer.schedule(action, millis, TimeUnit.MILLISECONDS);
        return () -> alarm.cancel(false);
      };
    }
  }

  private final InProcess datacenter;
  private final ClientMetrics metrics;
  private final Timers timers;
  private final Alarm alarm;
  private final Set<CompletableFuture<Reply>> open = ConcurrentHashMap.newKeySet();
  private final ReplicaId replica;
  private volatile boolean closed;

  /**
   * Makes the connection.
   *
   * @param alarm ends the waiting for answers
   */
  public InProcessConnection(
      InProcess datacenter, ClientMetrics metrics, Timers timers, Alarm alarm) {
    this.timers = timers;
    this.datacenter = datacenter;
    this.metrics = metrics;
    this.alarm = alarm;
    this.replica = datacenter.replica();
  }

  @Override
  public void open() {}

  @Override
  public String dc() {
    return replica.dc();
  }

  @Override
  public boolean isUp() {
    return !closed && datacenter.isOpen();
  }

  @Override
  public ReplicaId replica() {
    return replica;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    return datacenter.keyspaces();
  }

  @Override
  public Reply.@Nullable KeyspaceInfo keyspace(String name) {
    return datacenter.keyspace(name);
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    // keyspaceList() is always up to date here; this fails while no keyspaces are known yet.
    return TakenReply.of(
        send(new Request.Keyspaces(), timeoutMillis),
        reply -> {
          if (reply instanceof Reply.Failure f) {
            throw OsierException.of(f.code(), f.message());
          }
        });
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return !closed && datacenter.update(keyspace, key, type, operation);
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    if (closed) {
      return CompletableFuture.failedFuture(lost(ErrorCode.UNAVAILABLE, false, CLOSED));
    }
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    long start = timers.nanoTime();
    datacenter.send(
        request,
        r ->
            CallbackThread.bring(
                datacenter.answersApart(),
                () -> {
                  if (reply.complete(r) && !(request instanceof WatchRequest)) {
                    metrics.answered(dc(), timers.nanoTime() - start);
                  }
                }));
    if (!reply.isDone()) {
      await(reply, timeoutMillis);
    }
    return reply;
  }

  /**
   * Keeps a reply among the open ones until the answer comes, its time limit ends, or this is
   * closed.
   */
  @SuppressWarnings("CollectionUndefinedEquality") // each future is itself alone
  private void await(CompletableFuture<Reply> reply, long timeoutMillis) {
    open.add(reply);
    reply.whenComplete((r, e) -> open.remove(reply));
    try {
      Runnable timeout =
          alarm.after(Math.max(1, timeoutMillis), () -> expire(reply, timeoutMillis));
      reply.whenComplete((r, e) -> timeout.run());
    } catch (RejectedExecutionException e) {
      reply.completeExceptionally(lost(ErrorCode.UNAVAILABLE, true, CLOSED));
    }
    if (closed) {
      reply.completeExceptionally(lost(ErrorCode.UNAVAILABLE, true, CLOSED));
    }
  }

  private void expire(CompletableFuture<Reply> reply, long timeoutMillis) {
    String message = dc() + " did not answer within " + timeoutMillis + " ms";
    reply.completeExceptionally(lost(ErrorCode.TIMEOUT, true, message));
  }

  private static LostException lost(ErrorCode code, boolean sent, String message) {
    return new LostException(code, sent, message);
  }

  @Override
  public void ping() {}

  @Override
  public double roundTripNanos() {
    return 0;
  }

  @Override
  public @Nullable String trouble() {
    return null;
  }

  @Override
  public @Nullable OsierException refused() {
    return null;
  }

  @Override
  public int inFlight() {
    return open.size();
  }

  @Override
  public void close() {
    closed = true;
    open.forEach(reply -> reply.completeExceptionally(lost(ErrorCode.UNAVAILABLE, true, CLOSED)));
  }
}
