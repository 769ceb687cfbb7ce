package io.osier.proxy.call;

import static java.util.Objects.requireNonNull;

import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.session.SessionCore;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Waits for a datacenter that knows a keyspace, and returns the keyspace's partitioning. */
final class PartitioningCall extends Call<Partitioning> {
  private final boolean inBackground;
  private volatile @Nullable Partitioning told;

  private PartitioningCall(SessionCore session, String keyspace, boolean inBackground) {
    super(session, keyspace, null, false);
    this.inBackground = inBackground;
  }

  /** Returns a keyspace's partitioning, at once if a datacenter has told it before. */
  static CompletableFuture<Partitioning> of(
      SessionCore session, String keyspace, boolean inBackground) {
    Partitioning known = session.partitioning(keyspace);
    return known != null
        ? CallFuture.completed(known)
        : new PartitioningCall(session, keyspace, inBackground).start();
  }

  @Override
  protected boolean isInBackground() {
    return inBackground;
  }

  @Override
  protected int partition(Reply.KeyspaceInfo info) {
    told = info.partitioning();
    return super.partition(info);
  }

  @Override
  protected Request request(VersionVector after, boolean ordered, int waitMillis) {
    return new Request.Ping();
  }

  @Override
  protected boolean waitsForPast() {
    return false;
  }

  @Override
  protected Partitioning result(Reply reply) {
    return requireNonNull(told); // set before the request was sent
  }
}
