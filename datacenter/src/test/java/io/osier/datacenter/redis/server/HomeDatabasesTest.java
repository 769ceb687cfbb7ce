package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A database of Redis is one home of a keyspace that has homes. */
final class HomeDatabasesTest {
  private static final String CONFIG =
      """
      osier {
        dc = eu, store.dir = ""
        redis.databases { 0 = carts, 1 = "carts@eu" }
        listen { client-port = 0, peer-port = 0, redis-port = 0 }
      }
      """;

  private final Datacenter datacenter = Datacenter.start(ConfigReader.read("eu", CONFIG, Map.of()));

  @AutoClose private final Opened open = new Opened();

  @AfterEach
  void stop() {
    TestCluster.inAHurry(datacenter::close);
  }

  @Test
  void commands_findTheKeysOfTheirHome_andAreRefusedThoseOfOthersByName() throws Exception {
    OsierClient client = open.add(PatientClients.of("eu", datacenter.clientPort()).build());
    client.awaitConnected(Patience.LIMIT);
    client.admin().createKeyspace("carts", k -> k.homes("eu", "us").partitions(1));
    RawRedis redis = open.add(new RawRedis(datacenter.redisPort().orElseThrow()));
    await().atMost(Patience.LIMIT).until(() -> redis.ask("SET a 1").equals("+OK"));
    refused(redis, "eu:a", "carts", "SET eu:a 1", "GET eu:a", "MSET a 1 eu:a 1", "DEL a eu:a");
    refused(redis, "eu:a", "carts", "INCR eu:a", "RENAME a eu:a", "EXISTS eu:a");
    assertThat(redis.ask("SELECT 1")).isEqualTo("+OK");
    assertThat(redis.ask("MSET eu:a 2 us:{eu}b 3")).isEqualTo("+OK");
    refused(redis, "a", "carts@eu", "SET a 1", "HSET a f 1", "COPY eu:a a");
    assertThat(redis.ask("MULTI")).isEqualTo("+OK");
    redis.ask("INCR eu:a");
    redis.ask("INCR us:a");
    assertThat(redis.ask("EXEC")).contains("its home is 'carts@us'");
    assertThat(redis.ask("GET eu:a")).as("nothing of it was done").isEqualTo("2");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":2");
    assertThat(redis.ask("KEYS *")).isEqualTo("[eu:a, us:{eu}b]");
    Keyspace carts = client.session().keyspace("carts");
    assertThat(carts.getAll(List.of("a", "eu:a", "us:{eu}b")).values())
        .allMatch(Keyspace.Found::exists);
  }

  private static void refused(RawRedis redis, String key, String keyspace, String... commands)
      throws Exception {
    for (String command : commands) {
      assertThat(redis.ask(command))
          .as(command)
          .startsWith("-ERR")
          .contains("with key '" + key + "': it is not in keyspace '" + keyspace + "'");
    }
  }
}
