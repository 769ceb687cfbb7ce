package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The way to a datacenter that a test plays: up until it is closed, and nothing happens by it. */
abstract class SteppedConnection implements Connection {
  ReplicaId replica;
  boolean up = true;
  List<Reply.KeyspaceInfo> keyspaces = List.of();
  private final double roundTripMillis;

  SteppedConnection(String dc, double roundTripMillis) {
    this.replica = new ReplicaId(dc, 1);
    this.roundTripMillis = roundTripMillis;
  }

  @Override
  public void open() {}

  @Override
  public String dc() {
    return replica.dc();
  }

  @Override
  public boolean isUp() {
    return up;
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
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    throw new UnsupportedOperationException("no question was expected");
  }

  @Override
  public void ping() {}

  @Override
  public double roundTripNanos() {
    return roundTripMillis * Steps.MILLI;
  }

  @Override
  public @Nullable OsierException refused() {
    return null;
  }

  @Override
  public @Nullable String trouble() {
    return null;
  }

  @Override
  public int inFlight() {
    return 0;
  }

  @Override
  public void close() {
    up = false;
  }
}
