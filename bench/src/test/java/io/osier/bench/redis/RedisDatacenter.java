package io.osier.bench.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.testing.Patience;
import java.util.Map;

/** A datacenter in memory that clients of Redis reach, and such a client. */
final class RedisDatacenter {
  private RedisDatacenter() {}

  static Datacenter start(String dc, int peerPort, String more) {
    return Datacenter.start(
        ConfigReader.read(
            "f",
            """
            osier {
              dc = %s
              listen { client-port = 0, peer-port = %d, redis-port = 0 }
              store { dir = "" }
              shutdown-timeout = 0s
              %s
            }
            """
                .formatted(dc, peerPort, more),
            Map.of()));
  }

  static RedisURI uri(Datacenter datacenter) {
    return RedisURI.builder()
        .withHost("127.0.0.1")
        .withPort(datacenter.redisPort().orElseThrow())
        .withTimeout(Patience.LIMIT)
        .build();
  }

  static RedisClient client(RedisURI uri, ProtocolVersion version) {
    RedisClient client = RedisClient.create(uri);
    client.setOptions(
        ClientOptions.builder().protocolVersion(version).autoReconnect(false).build());
    return client;
  }
}
