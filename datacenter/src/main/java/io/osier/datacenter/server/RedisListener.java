package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.server.RedisPort;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Listens for clients that speak the Redis protocol. Thread-safe. */
final class RedisListener implements AutoCloseable {
  /** So many passwords wait to be hashed; each takes 10 ms. */
  private static final int PASSWORDS_MAX = 256;

  private final ThreadPoolExecutor hasher;
  private final Network.Port port;

  /**
   * Listens, with what the port for Osier's own clients has.
   *
   * @param databases by number the keyspaces that SELECT chooses
   * @param pubSub the channels
   */
  RedisListener(
      InetSocketAddress at,
      Map<Integer, String> databases,
      ReplicaId self,
      ClientServer clients,
      ClientServer.Handler handler,
      PubSub pubSub) {
    this.hasher =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(PASSWORDS_MAX),
            r -> Thread.ofPlatform().name("osier-passwords").daemon(true).unstarted(r));
    hasher.allowCoreThreadTimeOut(true);
    RedisPort redis =
        new RedisPort(
            databases,
            handler,
            new RedisPort.Around(
                self,
                Build.ofThisProgram().toString(),
                System::currentTimeMillis,
                new SecureRandom(),
                hasher,
                pubSub));
    this.port = clients.listen(at, redis);
    redis.setPort(port());
  }

  int port() {
    return port.address().getPort();
  }

  /** Takes no further connections. */
  @Override
  public void close() {
    port.close();
    hasher.shutdownNow();
  }
}
