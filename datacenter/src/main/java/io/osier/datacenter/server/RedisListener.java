package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.server.RedisPort;
import io.osier.datacenter.redis.server.ServerState;
import io.osier.datacenter.redis.tracking.Tracking;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The port for clients that speak the Redis protocol. Thread-safe. */
final class RedisListener implements AutoCloseable {
  /** Most passwords that wait to be hashed; each takes 10 ms. */
  private static final int PASSWORDS_MAX = 256;

  /**
   * Threads for commands that have read much; their queue is bounded by the connections' commands
   * under way.
   */
  private static final int LARGE_THREADS = 2;

  private final ThreadPoolExecutor hasher;
  private final ThreadPoolExecutor beside;
  private final Network.Port port;

  /**
   * Opens the port, with the limits and users of the port for Osier's own clients.
   *
   * @param databases the keyspaces that SELECT chooses, by number
   * @param pubSub the channels and their subscribers
   * @param durable whether acknowledged updates are on the disk
   */
  RedisListener(
      InetSocketAddress at,
      Map<Integer, String> databases,
      ReplicaId self,
      ClientServer clients,
      ClientService handler,
      PubSub pubSub,
      boolean durable) {
    this.hasher = threads("osier-passwords", 1, PASSWORDS_MAX);
    this.beside = threads("osier-redis-large", LARGE_THREADS, Integer.MAX_VALUE);
    RedisPort redis =
        new RedisPort(
            databases,
            handler,
            new ServerState.Around(
                self,
                Build.ofThisProgram().toString(),
                System::currentTimeMillis,
                new SecureRandom(),
                hasher,
                beside,
                new ServerState.Pushes(
                    pubSub,
                    new Tracking(
                        MemoryPlan.ofThisProcess().trackingBytes(), new SecureRandom().nextLong())),
                durable));
    this.port = clients.listen(at, redis);
    redis.setPort(port());
  }

  private static ThreadPoolExecutor threads(String name, int count, int waitingMax) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(waitingMax),
            r -> Thread.ofPlatform().name(name).daemon(true).unstarted(r));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  int port() {
    return port.address().getPort();
  }

  /** Closes the port to further connections. */
  @Override
  public void close() {
    port.close();
    hasher.shutdownNow();
    beside.shutdownNow();
  }
}
