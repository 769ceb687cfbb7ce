package io.osier.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.server.Datacenter;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client of Redis, as it is, at a datacenter. */
final class LettuceTest {
  private static Datacenter start(String more) {
    return RedisDatacenter.start(
        "eu",
        0,
        """
        redis { databases { 0 = shop, 1 = carts } }
        keyspaces { shop { partitions = 3 }, carts { partitions = 1 } }
        """
            + more);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void commands_ofAllFamilies_areServed(ProtocolVersion version) {
    try (Datacenter datacenter = start("");
        RedisClient client = RedisDatacenter.client(RedisDatacenter.uri(datacenter), version);
        StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertThat(redis.ping()).isEqualTo("PONG");
      assertThat(redis.set("text", "v")).isEqualTo("OK");
      assertThat(redis.get("text")).isEqualTo("v");
      assertThat(redis.get("absent")).isNull();
      assertThat(redis.incr("count")).isEqualTo(1);
      assertThat(redis.incrby("count", 41)).isEqualTo(42);
      assertThat(redis.hset("hash", Map.of("a", "1", "b", "2"))).isEqualTo(2);
      assertThat(redis.hgetall("hash")).isEqualTo(Map.of("a", "1", "b", "2"));
      assertThat(redis.sadd("set", "x", "y", "x")).isEqualTo(2);
      assertThat(redis.smembers("set")).containsExactlyInAnyOrder("x", "y");
      assertThat(redis.mset(Map.of("m1", "1", "m2", "2"))).isEqualTo("OK");
      assertThat(redis.mget("m1", "m2", "m3").stream().map(v -> v.getValueOrElse("-")))
          .containsExactly("1", "2", "-");
      assertThat(redis.expire("text", 100)).isTrue();
      assertThat(redis.ttl("text")).isBetween(1L, 100L);
      assertThat(redis.type("hash")).isEqualTo("hash");
      assertThat(redis.dbsize()).isEqualTo(6);
      assertThat(redis.keys("m*")).containsExactlyInAnyOrder("m1", "m2");
      assertThat(redis.del("text", "absent", "m1")).isEqualTo(2);
      assertThat(redis.commandCount()).isGreaterThan(100);
      assertThat(redis.info("server")).contains("redis_version:");
      assertThatThrownBy(() -> redis.incr("hash"))
          .isInstanceOf(RedisCommandExecutionException.class)
          .hasMessageStartingWith("WRONGTYPE");
      assertThatThrownBy(() -> redis.zadd("z", 1, "a")).hasMessageContaining("not served");
      assertThat(redis.select(1)).isEqualTo("OK");
      assertThat(redis.get("count")).isNull();
      redis.set("cart", "c");
      assertThat(redis.flushall()).isEqualTo("OK");
      assertThat(redis.dbsize()).isZero();
      redis.select(0);
      assertThat(redis.dbsize()).isZero();
    }
  }

  @Test
  void scan_bySmallSteps_showsAllThatIsThereAllTheTime() {
    try (Datacenter datacenter = start("");
        RedisClient client =
            RedisDatacenter.client(RedisDatacenter.uri(datacenter), ProtocolVersion.RESP3);
        StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      Set<String> all = new TreeSet<>();
      for (int i = 0; i < 300; i++) {
        all.add("key:" + i);
        redis.set("key:" + i, "v");
      }
      Set<String> found = new TreeSet<>();
      KeyScanCursor<String> cursor = redis.scan(ScanArgs.Builder.limit(7));
      while (true) {
        found.addAll(cursor.getKeys());
        redis.set("other", "x");
        redis.del("other");
        if (cursor.isFinished()) {
          break;
        }
        cursor = redis.scan(cursor, ScanArgs.Builder.limit(7));
      }
      found.remove("other");
      assertThat(found).isEqualTo(all);
      KeyScanCursor<String> unknown = redis.scan(ScanCursor.of("12345"), ScanArgs.Builder.limit(9));
      assertThat(unknown.getKeys()).hasSize(9); // from the beginning
    }
  }

  /** On its own connection a pipeline reads what it wrote, whatever the commands need of steps. */
  @Test
  void pipeline_ofAnyCommands_readsItsOwnWrites() throws Exception {
    try (Datacenter datacenter = start("");
        RedisClient client =
            RedisDatacenter.client(RedisDatacenter.uri(datacenter), ProtocolVersion.RESP3);
        StatefulRedisConnection<String, String> connection = client.connect()) {
      connection.setAutoFlushCommands(false);
      RedisAsyncCommands<String, String> redis = connection.async();
      List<RedisFuture<String>> texts = new ArrayList<>();
      List<RedisFuture<Long>> sums = new ArrayList<>();
      for (int i = 1; i <= 200; i++) {
        redis.append("text" + i % 7, "x");
        texts.add(redis.get("text" + i % 7));
        sums.add(redis.incr("sum"));
        redis.sadd("set", "m" + i);
        sums.add(redis.scard("set"));
      }
      RedisFuture<List<String>> keys = redis.keys("*");
      connection.flushCommands();
      for (int i = 1; i <= 200; i++) {
        assertThat(texts.get(i - 1).get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isEqualTo("x".repeat((i - 1) / 7 + 1));
        assertThat(sums.get(2 * i - 2).get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isEqualTo(i);
        assertThat(sums.get(2 * i - 1).get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isEqualTo(i);
      }
      assertThat(keys.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).hasSize(9);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void transactions_areDoneAsAWhole_orNotAtAll(ProtocolVersion version) {
    try (Datacenter datacenter = start("");
        RedisClient client = RedisDatacenter.client(RedisDatacenter.uri(datacenter), version);
        StatefulRedisConnection<String, String> one = client.connect();
        StatefulRedisConnection<String, String> other = client.connect()) {
      RedisCommands<String, String> redis = one.sync();
      redis.select(1);
      other.sync().select(1);
      assertThat(redis.multi()).isEqualTo("OK");
      redis.set("text", "v");
      redis.append("text", "w");
      redis.incr("text");
      redis.get("text");
      TransactionResult done = redis.exec();
      assertThat(done.wasDiscarded()).isFalse();
      assertThat(done.<Object>get(1)).isEqualTo(2L);
      assertThat(done.<Object>get(2)).isInstanceOf(RedisCommandExecutionException.class);
      assertThat(done.<Object>get(3)).isEqualTo("vw");
      redis.watch("text");
      other.sync().append("text", "x");
      redis.multi();
      redis.del("text");
      assertThat(redis.exec().wasDiscarded()).isTrue();
      assertThat(redis.get("text")).isEqualTo("vwx");
    }
  }

  @Test
  void user_withAPassword_logsInAndHasItsRights() {
    String credential =
        ScramCredential.of(
                "secret".toCharArray(),
                new byte[ScramCredential.SALT_BYTES],
                ScramCredential.ITERATIONS_MIN)
            .line();
    String users =
        "users { cart { credential = \"" + credential + "\", rights = [\"read shop cart:\"] } }";
    try (Datacenter datacenter = start(users)) {
      RedisURI right = RedisDatacenter.uri(datacenter);
      right.setCredentialsProvider(
          RedisCredentialsProvider.from(() -> RedisCredentials.just("cart", "secret")));
      try (RedisClient client = RedisDatacenter.client(right, ProtocolVersion.RESP3);
          StatefulRedisConnection<String, String> connection = client.connect()) {
        assertThat(connection.sync().aclWhoami()).isEqualTo("cart");
        assertThat(connection.sync().get("cart:1")).isNull();
        assertThatThrownBy(() -> connection.sync().get("other")).hasMessageStartingWith("NOPERM");
        assertThatThrownBy(() -> connection.sync().set("cart:1", "v"))
            .hasMessageStartingWith("NOPERM");
      }
      try (RedisClient client =
          RedisDatacenter.client(RedisDatacenter.uri(datacenter), ProtocolVersion.RESP3)) {
        assertThatThrownBy(() -> client.connect().close())
            .rootCause()
            .hasMessageStartingWith("NOAUTH");
      }
    }
  }
}
