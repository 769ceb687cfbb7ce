package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.Consumer;

/** A datacenter in this process that does with each request what a test wants. */
final class FakeInProcess implements InProcess {
  /** What is done with a request, by the thread that sends it. */
  interface Sent {
    void sent(Request request, Consumer<Reply> reply);
  }

  static final ReplicaId EU = new ReplicaId("eu", 1);

  volatile Sent handler = (request, reply) -> {};

  /** Of its keyspace, {@code shop}. */
  volatile Partitioning shop = Partitioning.byKey(2);

  @Override
  public ReplicaId replica() {
    return EU;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return List.of(new Reply.KeyspaceInfo("shop", 2_000, shop, false));
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void send(Request request, Consumer<Reply> reply) {
    handler.sent(request, reply);
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return false;
  }
}
