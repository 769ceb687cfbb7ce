package io.osier.bench.systems;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueFactory;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Jvm;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Starts the systems that Osier is compared with, whose libraries only a full build has. */
final class OtherSystems implements Targets.Starter {
  @Override
  public Target start(Config cluster) throws IOException {
    String name = cluster.getString("target");
    return switch (name) {
      case "hazelcast" -> new HazelcastPeer();
      case "pekko" -> new PekkoPeer();
      case "redis" -> redis(cluster);
      case "osier-redis" -> osierRedis(cluster);
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** Starts this machine's redis-server. */
  private static Target redis(Config cluster) throws IOException {
    Path directory = Files.createTempDirectory("osier-redis");
    int port = Ports.free();
    Durability durability = Targets.oneOf(Durability.class, cluster, "durability");
    String fsync =
        switch (durability) {
          case MEMORY, NONE -> "no";
          case ASYNC -> "everysec";
          case SYNC -> "always";
        };
    List<String> command =
        List.of(
            "%s --port %d --bind 127.0.0.1 --appendonly %s --appendfsync %s --save "
                .formatted(
                    Targets.REDIS, port, durability == Durability.MEMORY ? "no" : "yes", fsync)
                .split(" ", -1)); // its snapshots are never saved
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("redis.log").toFile())
            .start();
    return new RedisTarget(
        Targets.REDIS,
        port,
        () -> process.info().totalCpuDuration().orElse(Duration.ZERO),
        () -> {
          Jvm.stop(process);
          Directories.deleteQuietly(directory);
        });
  }

  /** Starts a datacenter that is called through its port for clients of Redis. */
  private static Target osierRedis(Config cluster) throws IOException {
    int port = Ports.free();
    OsierTarget target =
        new OsierTarget(
            cluster.withValue("settings.listen.redis-port", ConfigValueFactory.fromAnyRef(port)));
    return new RedisTarget("osier's port for Redis", port, target::cpu, target::close);
  }
}
