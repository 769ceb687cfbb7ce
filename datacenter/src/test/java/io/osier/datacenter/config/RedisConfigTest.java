package io.osier.datacenter.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of the port for clients of Redis. */
final class RedisConfigTest {
  private static DatacenterConfig read(String more) {
    return ConfigReader.read("f", "osier { dc = eu, " + more + " }", Map.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"queue = 100", "listen.redis-port = off", "listen.redis-port = false"})
  void redisPort_offOrNotSet_isNone(String more) {
    assertThat(read(more).redis()).isEmpty();
  }

  @Test
  void redisPort_withDatabases_isRead() {
    DatacenterConfig config =
        read("listen.redis-port = 6379, redis { databases { 0 = shop, 12 = carts } }");
    assertThat(config.redis()).contains(new RedisSettings(6379, Map.of(0, "shop", 12, "carts")));
    assertThat(config.toString()).contains("listen.redis-port = 6379", "redis.databases");
  }

  @Test
  void redisPort_byTheEnvironment_isRead() {
    DatacenterConfig config =
        ConfigReader.read("f", "osier.dc = eu", Map.of("OSIER_LISTEN_REDIS_PORT", "6379"));
    assertThat(config.redis()).contains(new RedisSettings(6379, Map.of()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "listen.redis-port = 7400          | another port than osier.listen.client-port",
        "listen.redis-port = 65536         | osier.listen.redis-port must be",
        "listen.redis-port = yes           | osier.listen.redis-port must be",
        "redis { databases { a = shop } }  | under a number from 0 to 1023",
        "redis { databases { 01 = shop } } | under a number from 0 to 1023",
        "redis { databases { 1024 = x } }  | under a number from 0 to 1023",
        "redis { databases { 0 = \"-\" } } | must be a keyspace's name",
        "redis { database { 0 = shop } }   | did you mean",
      })
  void wrongSetting_isNamed(String more, String error) {
    assertThatThrownBy(() -> read(more))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining(error);
  }

  @Test
  void redisPort_beyondLoopback_needsTlsAndUsers() {
    assertThatThrownBy(() -> read("listen { redis-port = 6379, host = 0.0.0.0 }"))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("without osier.tls and osier.users");
  }
}
