package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.core.tls.TlsContext;
import io.osier.datacenter.admin.AdminServer;
import io.osier.datacenter.config.AdminSettings;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.RedisSettings;
import io.osier.datacenter.config.TlsSettings;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.frontend.RequestWatch;
import io.osier.datacenter.frontend.SlowLog;
import io.osier.datacenter.metrics.report.Publisher;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.trace.Traces;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter's ports other than the peer port: for clients, for Redis clients, and the admin
 * port.
 */
final class ClientPorts implements AutoCloseable {
  private final DatacenterConfig config;
  private final ReplicaId self;
  private final Optional<TlsContext> tls;
  private final AccessControl access;
  private final ClientServer clients;
  private final @Nullable RedisListener redis;
  private @Nullable AdminServer admin;

  /**
   * Opens the ports for clients and Redis clients.
   *
   * @param parts is told each opened port
   * @param tls empty for no encryption
   */
  ClientPorts(
      DatacenterConfig config,
      ReplicaId self,
      Startup parts,
      Optional<TlsContext> tls,
      AccessControl access,
      Traces traces,
      RequestHandler handler,
      PubSub pubSub) {
    this.config = config;
    this.self = self;
    this.tls = tls;
    this.access = access;
    this.clients = parts.opened(clientServer(traces, handler));
    this.redis =
        config.redis().map(r -> parts.opened(redisListener(r, handler, pubSub))).orElse(null);
  }

  private ClientServer clientServer(Traces traces, RequestHandler handler) {
    return PortBinding.bind(
        "osier.listen.client-port",
        config.host(),
        config.clientPort(),
        at ->
            new ClientServer(
                self,
                ClientServer.sockets(),
                at,
                config.clients(),
                config.userLimits(),
                MemoryPlan.ofThisProcess(),
                new RequestWatch(
                    new SlowLog(config.slowRequests().toNanos()), traces, System::nanoTime),
                tls,
                access,
                handler));
  }

  private RedisListener redisListener(
      RedisSettings settings, RequestHandler handler, PubSub pubSub) {
    return PortBinding.bind(
        "osier.listen.redis-port",
        config.host(),
        settings.port(),
        at ->
            new RedisListener(
                at,
                settings.databases(),
                self,
                clients,
                handler,
                pubSub,
                config.store().dir().isPresent()));
  }

  /** Opens the admin port, for metrics, health and the dashboard, if it is configured. */
  void openAdmin(Startup parts, Publisher publisher, Readiness readiness, Reports reports) {
    if (config.admin().isEmpty()) {
      return;
    }
    AdminSettings settings = config.admin().get();
    Optional<TlsContext> adminTls =
        config.tls().filter(TlsSettings::admin).isPresent() ? tls : Optional.empty();
    admin =
        parts.opened(
            PortBinding.bind(
                "osier.admin.port",
                settings.host(),
                settings.port(),
                at ->
                    new AdminServer(
                        at,
                        settings,
                        adminTls,
                        access,
                        publisher,
                        readiness,
                        reports.dashboard(),
                        reports.history())));
    clients.setPage(
        (adminTls.isPresent() ? "https://" : "http://")
            + HostPort.bound(admin.host(), admin.port())
            + "/");
  }

  ClientServer clients() {
    return clients;
  }

  HostPort announced() {
    HostPort said = config.announced();
    return said.port() > 0 ? said : new HostPort(said.host(), clients.port());
  }

  OptionalInt redisPort() {
    return redis == null ? OptionalInt.empty() : OptionalInt.of(redis.port());
  }

  OptionalInt adminPort() {
    return admin == null ? OptionalInt.empty() : OptionalInt.of(admin.port());
  }

  @Override
  public void close() {
    if (redis != null) {
      redis.close();
    }
    clients.close();
    if (admin != null) {
      admin.close();
    }
  }
}
