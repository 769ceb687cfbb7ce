package io.osier.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import io.osier.core.net.Ports;
import io.osier.datacenter.server.Datacenter;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.csc.Cache;
import redis.clients.jedis.csc.CacheConfig;
import redis.clients.jedis.csc.CacheFactory;

/** Caches of clients as they are: what changes at another datacenter is not read from them. */
final class ClientCachesTest {
  private static Datacenter start(String dc, int port, String peers, int partitions) {
    return RedisDatacenter.start(
        dc,
        port,
        "peers { %s }, keyspaces { shop { partitions = %d } }".formatted(peers, partitions));
  }

  private static RedisClient lettuce(Datacenter at) {
    return RedisDatacenter.client(RedisDatacenter.uri(at), ProtocolVersion.RESP3);
  }

  private static redis.clients.jedis.RedisClient jedis(Datacenter at, Cache cache) {
    return redis.clients.jedis.RedisClient.builder()
        .hostAndPort(new HostAndPort("127.0.0.1", at.redisPort().orElseThrow()))
        .clientConfig(
            DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP3)
                .timeoutMillis(Patience.MILLIS)
                .build())
        .cache(cache)
        .build();
  }

  /**
   * Whether one of several tries is right. Lettuce puts what it has read into its cache in another
   * thread than the one that takes out what has changed. If the former is later, what it has put
   * there stays for ever, and whoever tells it cannot help that.
   */
  private static boolean oneOfSeveral(IntPredicate tried) {
    return IntStream.range(0, 20).anyMatch(tried);
  }

  private static boolean comes(Callable<Boolean> condition) {
    try {
      await().atMost(Duration.ofSeconds(10)).until(condition);
      return true;
    } catch (ConditionTimeoutException e) {
      return false;
    }
  }

  private static boolean showsChanges(
      CacheFrontend<String, String> lettuce,
      Map<String, String> kept,
      RedisCommands<String, String> there,
      int tried) {
    String key = "try" + tried;
    for (String value : List.of("1", "2", "3")) {
      there.set(key, value);
      if (!comes(() -> value.equals(lettuce.get(key)) && value.equals(kept.get(key)))) {
        return false;
      }
    }
    return true;
  }

  /** What expires is removed seconds later, and nobody reads it by then. */
  private static boolean endsInTime(
      CacheFrontend<String, String> lettuce,
      Map<String, String> kept,
      RedisCommands<String, String> there,
      int tried) {
    String key = "brief" + tried;
    there.set(key, "v", SetArgs.Builder.px(400L << Math.min(4, tried))); // for a busy machine
    return comes(() -> "v".equals(lettuce.get(key)))
        && comes(() -> !kept.containsKey(key) && lettuce.get(key) == null);
  }

  @Test
  void jedisAndLettuce_whatChangesElsewhereOrExpires_isReadAnew() {
    int euPort = Ports.free();
    int usPort = Ports.free();
    Cache cache = CacheFactory.getCache(CacheConfig.builder().maxSize(1_000).build());
    Map<String, String> kept = new ConcurrentHashMap<>();
    try (Datacenter eu = start("eu", euPort, "us = \"127.0.0.1:" + usPort + '"', 2);
        Datacenter us = start("us", usPort, "eu = \"127.0.0.1:" + euPort + '"', 2);
        RedisClient atUs = lettuce(us);
        RedisClient atEu = lettuce(eu);
        redis.clients.jedis.RedisClient jedis = jedis(eu, cache);
        StatefulRedisConnection<String, String> caching = atEu.connect()) {
      RedisCommands<String, String> there = atUs.connect().sync();
      CacheFrontend<String, String> lettuce =
          ClientSideCaching.enable(
              CacheAccessor.forMap(kept), caching, TrackingArgs.Builder.enabled());
      await() // it takes no updates before it has heard from eu
          .ignoreExceptionsInstanceOf(RedisLoadingException.class)
          .until(() -> "OK".equals(there.set("k", "1")));
      await().until(() -> "1".equals(jedis.get("k")));
      for (int i = 2; i < 12; i++) {
        String next = String.valueOf(i);
        assertThat(jedis.get("k")).isNotNull();
        there.set("k", next);
        await().until(() -> next.equals(jedis.get("k")));
      }
      assertThat(cache.getStats().getHitCount()).as("what was read from the cache").isPositive();

      assertThat(oneOfSeveral(i -> showsChanges(lettuce, kept, there, i))).isTrue();
      assertThat(oneOfSeveral(i -> endsInTime(lettuce, kept, there, i))).isTrue();

      await().until(() -> "11".equals(lettuce.get("k")));
      jedis.flushAll(); // of which Lettuce's cache understands no more than each key's deletion
      await().until(() -> lettuce.get("k") == null);
    }
  }

  @Test
  void tracking_ofWhatAConnectionChangesItself_isAsItsOptionsSay() {
    try (Datacenter eu = start("eu", 0, "", 1);
        RedisClient client = lettuce(eu);
        StatefulRedisConnection<String, String> tracking = client.connect()) {
      List<String> heard = new CopyOnWriteArrayList<>();
      tracking.addListener(
          message -> heard.add(String.valueOf(message.getContent(StringCodec.UTF8::decodeValue))));
      RedisCommands<String, String> own = tracking.sync();
      RedisCommands<String, String> other = client.connect().sync();
      own.clientTracking(TrackingArgs.Builder.enabled());
      own.set("k", "1");
      own.get("k");
      own.set("k", "2");
      own.ping(); // what is told by then has come
      assertThat(heard).containsExactly("[invalidate, [k]]");
      heard.clear();

      own.clientTracking(TrackingArgs.Builder.enabled().noloop());
      own.mget("k", "l");
      own.set("k", "3");
      own.multi();
      own.incr("k");
      own.sadd("l", "x");
      own.exec();
      own.expire("k", 1_000);
      own.del("l");
      own.ping();
      assertThat(heard).isEmpty();
      other.incr("k"); // it still has what it has written
      own.ping();
      assertThat(heard).containsExactly("[invalidate, [k]]");
      heard.clear();

      own.clientTracking(TrackingArgs.Builder.enabled(false));
      own.clientTracking(TrackingArgs.Builder.enabled().bcast().prefixes("a:", "b:"));
      other.mset(Map.of("a:1", "1"));
      other.set("c:1", "1");
      other.set("b:1", "1");
      own.ping();
      assertThat(heard).containsExactly("[invalidate, [a:1]]", "[invalidate, [b:1]]");
      heard.clear();
      other.flushall();
      own.ping();
      assertThat(heard.getFirst()).isEqualTo("[invalidate, null]");
    }
  }
}
