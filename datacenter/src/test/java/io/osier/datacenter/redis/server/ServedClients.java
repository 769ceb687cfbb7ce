package io.osier.datacenter.redis.server;

import io.osier.core.ReplicaId;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.frontend.RequestWatch;
import io.osier.datacenter.frontend.SlowLog;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.tracking.Tracking;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A server for clients on loopback, without TLS. */
final class ServedClients {
  static final ReplicaId EU = new ReplicaId("eu", 1);

  private ServedClients() {}

  /** Of the keyspace shop, which nobody administers. */
  abstract static class Handler implements ClientService {
    @Override
    public List<Reply.KeyspaceInfo> keyspaces() {
      return List.of(new Reply.KeyspaceInfo("shop", 500, 1, false));
    }

    @Override
    public void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply) {
      throw new AssertionError("nobody administers");
    }
  }

  /** Any free port. */
  static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  static ClientServer start(
      PortLimits limits, UserLimits ofUsers, Supplier<Users> users, ClientService handler) {
    return new ClientServer(
        EU,
        ClientServer.sockets(),
        anyPort(),
        limits,
        ofUsers,
        MemoryPlan.ofThisProcess(),
        new RequestWatch(new SlowLog(0), Traces.OFF, System::nanoTime),
        Optional.empty(),
        new AccessControl(
            users,
            "osier",
            new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
            new AuditLog("eu"),
            () -> 0, // a pause after wrong passwords lasts for the whole test
            () -> "no login is one by SCRAM"),
        handler);
  }

  /** What a port of Redis has of the world where time stands still and nothing takes long. */
  static ServerState.Around around(ServerState.Pushes pushes) {
    return new ServerState.Around(
        EU, "test", () -> 1_000, new Random(1), Runnable::run, Runnable::run, pushes, false);
  }

  /** Channels of this datacenter alone, and caches. */
  static ServerState.Pushes pushes() {
    return new ServerState.Pushes(new PubSub(1 << 20, PubSub.Peers.NONE), new Tracking(1 << 20, 1));
  }
}
