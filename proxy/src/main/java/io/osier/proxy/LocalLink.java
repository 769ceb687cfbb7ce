package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The way to a datacenter in this process: requests are handed over as they are. Thread-safe. */
final class LocalLink implements Link {
  private final InProcess datacenter;
  private final ClientSettings settings;
  private final ScheduledExecutorService timer;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final ReplicaId replica;
  private final List<Reply.KeyspaceInfo> keyspaces;
  private volatile boolean closed;

  /**
   * The link to a datacenter that is there.
   *
   * @param timer ends the waiting for answers
   */
  LocalLink(InProcess datacenter, ClientSettings settings, ScheduledExecutorService timer) {
    this.datacenter = datacenter;
    this.settings = settings;
    this.timer = timer;
    this.replica = datacenter.replica();
    this.keyspaces = List.copyOf(datacenter.keyspaces());
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
    return keyspaces;
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return !closed && datacenter.update(keyspace, key, type, operation);
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    if (closed) {
      return failed(ErrorCode.UNAVAILABLE, "the client of " + dc() + " is closed");
    }
    if (inFlight.incrementAndGet() > settings.inFlightMax()) {
      inFlight.decrementAndGet();
      return failed(
          ErrorCode.OVERLOADED, settings.inFlightMax() + " requests to " + dc() + " are open");
    }
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    long start = System.nanoTime();
    datacenter.send(
        request,
        r -> {
          if (reply.complete(r)) {
            settings.metrics().answered(dc(), System.nanoTime() - start);
          }
        });
    if (reply.isDone()) {
      inFlight.decrementAndGet();
    } else {
      ScheduledFuture<?> timeout =
          timer.schedule(
              () -> expire(reply, timeoutMillis),
              Math.max(1, timeoutMillis),
              TimeUnit.MILLISECONDS);
      reply.whenComplete(
          (r, e) -> {
            inFlight.decrementAndGet();
            timeout.cancel(false);
          });
    }
    return reply;
  }

  private void expire(CompletableFuture<Reply> reply, long timeoutMillis) {
    reply.completeExceptionally(
        new Connection.LostException(
            ErrorCode.TIMEOUT, true, dc() + " did not answer within " + timeoutMillis + " ms"));
  }

  private static CompletableFuture<Reply> failed(ErrorCode code, String message) {
    return CompletableFuture.failedFuture(new Connection.LostException(code, false, message));
  }

  @Override
  public void ping() {}

  @Override
  public double roundTripNanos() {
    return 0;
  }

  @Override
  public String trouble() {
    return null;
  }

  @Override
  public OsierException refused() {
    return null;
  }

  @Override
  public int inFlight() {
    return inFlight.get();
  }

  @Override
  public void close() {
    closed = true; // what is open is answered by the datacenter, or times out
  }
}
