package io.osier.bench.systems;

import com.typesafe.config.Config;
import java.io.IOException;

/** The systems that Osier is measured beside, whose libraries only a full build has. */
final class OtherSystems implements Targets.Starter {
  @Override
  public Target start(Config cluster) throws IOException {
    String name = cluster.getString("target");
    return switch (name) {
      case "hazelcast" -> new HazelcastPeer();
      case "pekko" -> new PekkoPeer();
      case "redis" -> new RedisTarget(new RedisServer(cluster));
      case "osier-redis" -> new RedisTarget(new OsierRedisServer(cluster));
      default -> throw new IllegalArgumentException(name);
    };
  }
}
