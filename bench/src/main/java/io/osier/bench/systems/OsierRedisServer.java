package io.osier.bench.systems;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueFactory;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.time.Duration;

/** The port for clients of Redis of a scenario's only datacenter. */
final class OsierRedisServer implements RedisTarget.Server {
  private final int port = Ports.free();
  private final OsierTarget target;

  OsierRedisServer(Config config) throws IOException {
    target =
        new OsierTarget(
            config.withValue("settings.listen.redis-port", ConfigValueFactory.fromAnyRef(port)));
  }

  @Override
  public String name() {
    return "osier's port for Redis";
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public boolean isAlive() {
    return true; // a process that has ended is an error of its own
  }

  @Override
  public Duration cpu() {
    return target.cpu();
  }

  @Override
  public void close() {
    target.close();
  }
}
