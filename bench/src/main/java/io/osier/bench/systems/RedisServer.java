package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Jvm;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A redis-server of this machine. */
final class RedisServer implements RedisTarget.Server {
  private final Path directory = Files.createTempDirectory("osier-redis");
  private final int port = Ports.free();
  private final Process process;

  RedisServer(Config config) throws IOException {
    Durability durability = Targets.oneOf(Durability.class, config, "durability");
    String fsync =
        switch (durability) {
          case MEMORY, NONE -> "no";
          case ASYNC -> "everysec";
          case SYNC -> "always";
        };
    String options =
        "--port %d --bind 127.0.0.1 --appendonly %s --appendfsync %s"
            .formatted(port, durability == Durability.MEMORY ? "no" : "yes", fsync);
    ProcessBuilder builder =
        new ProcessBuilder((Targets.REDIS + " " + options).split(" "))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("redis.log").toFile());
    builder.command().add("--save"); // never
    builder.command().add("");
    process = builder.start();
  }

  @Override
  public String name() {
    return Targets.REDIS;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    Jvm.stop(process);
    Directories.deleteQuietly(directory);
  }
}
