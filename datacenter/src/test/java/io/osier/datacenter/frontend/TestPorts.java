package io.osier.datacenter.frontend;

import io.osier.core.ReplicaId;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Client ports on loopback, in front of a handler that a test gives. */
final class TestPorts {
  private TestPorts() {}

  static ClientServer of(
      AccessControl access,
      UserLimits limits,
      MemoryPlan memory,
      SlowLog slow,
      List<Reply.KeyspaceInfo> keyspaces,
      BiConsumer<Request, Consumer<Reply>> handler) {
    return new ClientServer(
        new ReplicaId("eu", 1),
        ClientServer.sockets(),
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        PortLimits.DEFAULT,
        limits,
        memory,
        new RequestWatch(slow, Traces.OFF, System::nanoTime),
        Optional.empty(),
        access,
        new ClientService() {
          @Override
          public List<Reply.KeyspaceInfo> keyspaces() {
            return keyspaces;
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            handler.accept(request, reply);
          }

          @Override
          public void administer(
              AdminRequest.Administer request, String by, Consumer<Reply> reply) {
            handler.accept(request, reply);
          }
        });
  }
}
