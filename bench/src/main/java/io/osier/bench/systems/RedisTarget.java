package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;

/** A redis-server of this machine, called through Lettuce over one connection. */
final class RedisTarget implements Target {
  private static final String CHANNEL = "__keyspace@0__:v";

  private final Path directory;
  private final RedisProcess server;

  RedisTarget(Config config) throws IOException {
    directory = Files.createTempDirectory("osier-redis");
    try {
      server = RedisProcess.start(directory, Targets.oneOf(Durability.class, config, "durability"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public int nodes() {
    return 1;
  }

  @Override
  public Calls calls(int node, Config load) {
    return new RedisCalls(load);
  }

  @Override
  public Duration cpu() {
    return server.process().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public OptionalLong memoryBytes() {
    return OptionalLong.of(server.usedMemory());
  }

  @Override
  public String notes() {
    return "redis-server " + server.version();
  }

  @Override
  public void close() {
    server.close();
    Directories.deleteQuietly(directory);
  }

  /** One command on a key. */
  private interface Command {
    CompletionStage<?> make(RedisAsyncCommands<String, byte[]> redis, int key, long number);
  }

  private final class RedisCalls implements Calls {
    private final boolean gathers;
    private final int keys;
    private final int elements;
    private final byte[] value;
    private final int bytes;

    RedisCalls(Config load) {
      gathers = load.getInt("in-flight") > 1; // one command alone would be a little slower
      keys = load.getInt("keys");
      elements = load.getInt("elements");
      bytes = load.getInt("bytes");
      value = new byte[bytes];
    }

    @Override
    public Call call(String operation) {
      return switch (operation) {
        case "increment" -> send((redis, key, number) -> redis.incr("c" + key));
        case "get" -> send((redis, key, number) -> redis.get("c" + key));
        case "assign" -> send((redis, key, number) -> redis.set("v" + key, value));
        case "read" -> send((redis, key, number) -> redis.get("v" + key));
        case "add" ->
            send(
                (redis, key, number) ->
                    redis.sadd("s" + key, element(OsierCalls.elementOf(number, elements))));
        case "add-next" -> {
          AddNext next = new AddNext(keys, elements);
          yield send(
              (redis, key, number) -> {
                int n = next.of(key);
                return n == elements ? redis.del("s" + key) : redis.sadd("s" + key, element(n));
              });
        }
        default -> throw Calls.unsupported("the operation " + operation);
      };
    }

    private byte[] element(int number) {
      return OsierCalls.elementBytes(number, bytes);
    }

    private Call send(Command command) {
      RedisAsyncCommands<String, byte[]> plain = server.connection().async();
      GatheredRedis gathered = server.gathered();
      return gathers
          ? (key, number) -> gathered.send(redis -> command.make(redis, key, number))
          : (key, number) -> command.make(plain, key, number);
    }

    @Override
    public void fill(String operation, int count) {
      if (operation.equals("add")) {
        OsierCalls.all(
            count * elements,
            1_000,
            i -> server.connection().async().sadd("s" + i / elements, element(i % elements)));
      } else {
        Call call = call(operation);
        OsierCalls.all(count, 1_000, i -> call.make(i, i));
      }
    }

    /** {@inheritDoc} One subscriber of all notifications, whoever asks. */
    @Override
    public Watching watch(int count, IntConsumer told) {
      StatefulRedisPubSubConnection<String, String> connection = server.client().connectPubSub();
      connection.addListener(
          new RedisPubSubAdapter<>() {
            @Override
            public void message(String pattern, String channel, String event) {
              told.accept(Integer.parseInt(channel.substring(CHANNEL.length())));
            }
          });
      server.connection().sync().configSet("notify-keyspace-events", "KA");
      connection.sync().psubscribe(CHANNEL + "*");
      return () -> {
        server.connection().sync().configSet("notify-keyspace-events", "");
        connection.close();
      };
    }

    @Override
    public boolean tellsEachUpdate() {
      return true;
    }

    @Override
    public Expiring expiring() {
      RedisAsyncCommands<String, byte[]> redis = server.connection().async();
      return new Expiring() {
        @Override
        public CompletionStage<?> put(int number) {
          return redis.set("x" + number, value);
        }

        @Override
        public CompletionStage<?> expireAt(int number, long millis) {
          return redis.pexpireat("x" + number, millis);
        }

        @Override
        public long visible() {
          return server.connection().sync().keys("x*").size();
        }

        @Override
        public long kept() {
          return server.connection().sync().dbsize();
        }

        @Override
        public long removed() {
          return 0;
        }
      };
    }

    @Override
    public void close() {
      // The server's connections are everybody's.
    }
  }
}
