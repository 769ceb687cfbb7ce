package io.osier.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.server.Datacenter;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.ScanResult;

/** Jedis as it is, at a datacenter. */
final class JedisTest {
  private static Datacenter start() {
    return RedisDatacenter.start("eu", 0, "keyspaces { shop { partitions = 1 } }");
  }

  private static HostAndPort at(Datacenter datacenter) {
    return new HostAndPort("127.0.0.1", datacenter.redisPort().orElseThrow());
  }

  private static DefaultJedisClientConfig how(RedisProtocol protocol) {
    return DefaultJedisClientConfig.builder()
        .protocol(protocol)
        .timeoutMillis(Patience.MILLIS)
        .build();
  }

  private static RedisClient client(Datacenter datacenter, RedisProtocol protocol) {
    return RedisClient.builder().hostAndPort(at(datacenter)).clientConfig(how(protocol)).build();
  }

  @ParameterizedTest
  @EnumSource
  void commandsAndPipelines_areServed(RedisProtocol protocol) {
    try (Datacenter datacenter = start();
        RedisClient redis = client(datacenter, protocol)) {
      assertThat(redis.set("text", "v", SetParams.setParams().nx().ex(1_000))).isEqualTo("OK");
      assertThat(redis.get("text")).isEqualTo("v");
      assertThat(redis.ttl("text")).isBetween(1L, 1_000L);
      assertThat(redis.incrBy("count", 41)).isEqualTo(41);
      assertThat(redis.incrByFloat("count", 0.5)).isEqualTo(41.5);
      assertThat(redis.hset("hash", Map.of("a", "1", "b", "2"))).isEqualTo(2);
      assertThat(redis.hgetAll("hash")).isEqualTo(Map.of("a", "1", "b", "2"));
      assertThat(redis.sadd("set", "x", "y")).isEqualTo(2);
      assertThat(redis.sunion("set", "absent")).containsExactlyInAnyOrder("x", "y");
      assertThat(redis.del("text", "absent")).isEqualTo(1);
      List<Response<Long>> sums = new ArrayList<>();
      try (Pipeline pipeline = redis.pipelined()) {
        for (int i = 0; i < 300; i++) {
          sums.add(pipeline.incr("sum:" + i % 3));
        }
      }
      for (int i = 0; i < 300; i++) {
        assertThat(sums.get(i).get()).isEqualTo(i / 3 + 1);
      }
      Set<String> found = new TreeSet<>();
      String cursor = ScanParams.SCAN_POINTER_START;
      do {
        ScanResult<String> page = redis.scan(cursor, new ScanParams().match("sum:*").count(1));
        found.addAll(page.getResult());
        cursor = page.getCursor();
      } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
      assertThat(found).containsExactly("sum:0", "sum:1", "sum:2");
    }
  }

  @ParameterizedTest
  @EnumSource
  void transaction_isDoneWholeOrNotAtAll(RedisProtocol protocol) {
    try (Datacenter datacenter = start();
        Jedis redis = new Jedis(at(datacenter), how(protocol));
        RedisClient other = client(datacenter, protocol)) {
      try (AbstractTransaction transaction = redis.multi()) {
        Response<String> set = transaction.set("a", "1");
        Response<Long> sum = transaction.incr("a");
        Response<String> read = transaction.get("a");
        assertThat(transaction.exec()).containsExactly("OK", 2L, "2");
        assertThat(List.of(set.get(), sum.get(), read.get())).containsExactly("OK", 2L, "2");
      }
      redis.watch("a");
      other.set("a", "other");
      try (Transaction transaction = new Transaction(redis.getConnection(), false)) {
        transaction.multi();
        transaction.set("a", "lost");
        assertThat(transaction.exec()).isNull();
      }
      assertThat(redis.get("a")).isEqualTo("other");
    }
  }

  @ParameterizedTest
  @EnumSource
  void subscriber_hearsWhatIsPublished(RedisProtocol protocol) {
    List<String> heard = new ArrayList<>();
    try (Datacenter datacenter = start();
        Jedis subscriber = new Jedis(at(datacenter), how(protocol));
        RedisClient publisher = client(datacenter, protocol)) {
      subscriber.subscribe(
          new JedisPubSub() {
            @Override
            public void onSubscribe(String channel, int subscribed) {
              heard.add(publisher.publish(channel, "one") + " hears it");
            }

            @Override
            public void onMessage(String channel, String message) {
              heard.add(channel + ": " + message);
              unsubscribe();
            }
          },
          "news");
      assertThat(heard).containsExactly("1 hears it", "news: one");
      assertThat(subscriber.ping()).isEqualTo("PONG");
    }
  }
}
