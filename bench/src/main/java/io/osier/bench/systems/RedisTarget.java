package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * What speaks the Redis protocol on this machine, called through Lettuce, Java's client, over one
 * connection.
 */
final class RedisTarget implements Target {
  private static final int TRIES = 100;
  private static final String CHANNEL = "__keyspace@0__:v";

  private final String name;
  private final Supplier<Duration> cpu;
  private final Runnable stop;
  private final RedisClient client;

  /** Sends each command at once. */
  private final StatefulRedisConnection<String, byte[]> connection;

  /** Sends commands together. */
  private final GatheredRedis gathered;

  RedisTarget(String name, int port, Supplier<Duration> cpu, Runnable stop) {
    this.name = name;
    this.cpu = cpu;
    this.stop = stop;
    client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    connection = connect();
    gathered = new GatheredRedis(port);
  }

  private StatefulRedisConnection<String, byte[]> connect() {
    for (int i = 0; ; i++) {
      try {
        return client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
      } catch (RedisConnectionException e) {
        if (i == TRIES) {
          client.shutdown();
          stop.run();
          throw new OsierException(ErrorCode.UNAVAILABLE, name + " did not start", e);
        }
        LockSupport.parkNanos(100_000_000); // the server is starting
      }
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
    return cpu.get();
  }

  @Override
  public OptionalLong memoryBytes() {
    return OptionalLong.of(Long.parseLong(info("memory", "used_memory")));
  }

  @Override
  public String notes() {
    return name + " " + info("server", "redis_version");
  }

  private String info(String section, String figure) {
    return connection
        .sync()
        .info(section)
        .lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(figure + ":"))
        .map(line -> line.substring(figure.length() + 1).trim())
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    gathered.close();
    connection.close();
    client.shutdown();
    stop.run();
  }

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
      RedisAsyncCommands<String, byte[]> plain = connection.async();
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
            i -> connection.async().sadd("s" + i / elements, element(i % elements)));
      } else {
        Call call = call(operation);
        OsierCalls.all(count, 1_000, i -> call.make(i, i));
      }
    }

    /** {@inheritDoc} One subscriber of all notifications, whoever asks. */
    @Override
    public Watching watch(int count, IntConsumer told) {
      StatefulRedisPubSubConnection<String, String> heard = client.connectPubSub();
      heard.addListener(
          new RedisPubSubAdapter<>() {
            @Override
            public void message(String pattern, String channel, String event) {
              told.accept(Integer.parseInt(channel.substring(CHANNEL.length())));
            }
          });
      connection.sync().configSet("notify-keyspace-events", "KA");
      heard.sync().psubscribe(CHANNEL + "*");
      return () -> {
        connection.sync().configSet("notify-keyspace-events", "");
        heard.close();
      };
    }

    @Override
    public boolean tellsEachUpdate() {
      return true;
    }

    @Override
    public Expiring expiring() {
      RedisAsyncCommands<String, byte[]> redis = connection.async();
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
          return connection.sync().keys("x*").size();
        }

        @Override
        public long kept() {
          return connection.sync().dbsize();
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
