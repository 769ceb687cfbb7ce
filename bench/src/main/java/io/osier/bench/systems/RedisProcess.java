package io.osier.bench.systems;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.osier.bench.cluster.Durability;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A redis-server of this machine, as a process, with connections of Lettuce, Java's client.
 *
 * @param connection sends each command at once
 * @param gathered sends commands together
 */
record RedisProcess(
    Process process,
    RedisClient client,
    StatefulRedisConnection<String, byte[]> connection,
    GatheredRedis gathered)
    implements AutoCloseable {
  static final String PROGRAM = "redis-server";
  private static final int TRIES = 100;

  /**
   * Starts it.
   *
   * @param directory for its log and its data
   * @throws OsierException UNAVAILABLE if it is not installed or does not start
   */
  static RedisProcess start(Path directory, Durability durability)
      throws IOException, InterruptedException {
    int port = Ports.free();
    Path data = Files.createDirectories(directory.resolve("redis"));
    String kept =
        switch (durability) {
          case MEMORY -> "no";
          case NONE, ASYNC, SYNC -> "yes";
        };
    String fsync =
        switch (durability) {
          case MEMORY, NONE -> "no";
          case ASYNC -> "everysec";
          case SYNC -> "always";
        };
    Process process;
    try {
      process =
          new ProcessBuilder(
                  List.of(
                      PROGRAM,
                      "--port",
                      Integer.toString(port),
                      "--bind",
                      "127.0.0.1",
                      "--dir",
                      data.toString(),
                      "--save",
                      "",
                      "--appendonly",
                      kept,
                      "--appendfsync",
                      fsync))
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("redis.log").toFile())
              .start();
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "there is no " + PROGRAM + " on this machine: install it (Debian: redis-server)",
          e);
    }
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    for (int i = 0; ; i++) {
      try {
        return new RedisProcess(
            process,
            client,
            client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)),
            new GatheredRedis(port));
      } catch (RedisConnectionException e) {
        if (i == TRIES || !process.isAlive()) {
          client.shutdown();
          stop(process);
          throw new OsierException(ErrorCode.UNAVAILABLE, PROGRAM + " did not start", e);
        }
        Thread.sleep(100); // it is starting
      }
    }
  }

  /** What it is, for the results. */
  String version() {
    return field("server", "redis_version");
  }

  /** What it says that its data takes, in bytes. */
  long usedMemory() {
    return Long.parseLong(field("memory", "used_memory"));
  }

  private String field(String section, String name) {
    return connection
        .sync()
        .info(section)
        .lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).trim())
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    gathered.close();
    connection.close();
    client.shutdown();
    stop(process);
  }

  /** Ends a process. */
  static void stop(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
