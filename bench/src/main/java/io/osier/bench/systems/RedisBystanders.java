package io.osier.bench.systems;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/** Connections that make no load themselves: they listen to a channel, or keep what they read. */
final class RedisBystanders implements AutoCloseable {
  /** So many listen. */
  static final int SUBSCRIBERS = 100;

  /** So many have a cache. */
  private static final int CACHES = 1_000;

  /** So many keys are in each cache, of which the load knows none. */
  private static final int KEYS = 10;

  private final RedisClient client;

  private RedisBystanders(int port) {
    client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
  }

  /** Connections that listen to a channel. */
  static RedisBystanders subscribers(int port, String channel) {
    RedisBystanders all = new RedisBystanders(port);
    for (int i = 0; i < SUBSCRIBERS; i++) {
      StatefulRedisPubSubConnection<String, String> one = all.client.connectPubSub();
      one.sync().subscribe(channel);
    }
    return all;
  }

  /** Connections that are told of changes of what they have read. */
  static RedisBystanders caches(int port) {
    RedisBystanders all = new RedisBystanders(port);
    for (int i = 0; i < CACHES; i++) {
      StatefulRedisConnection<String, String> one = all.client.connect();
      RedisCommands<String, String> commands = one.sync();
      commands.clientTracking(TrackingArgs.Builder.enabled());
      for (int key = 0; key < KEYS; key++) {
        commands.get("cached" + i + ":" + key);
      }
    }
    return all;
  }

  @Override
  public void close() {
    client.shutdown(); // with all its connections
  }
}
