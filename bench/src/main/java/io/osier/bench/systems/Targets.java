package io.osier.bench.systems;

import com.typesafe.config.Config;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Starts what a scenario names as its target. */
public final class Targets {
  private Targets() {}

  /**
   * Starts it, and waits until it serves.
   *
   * @param cluster a scenario's cluster block
   * @throws IllegalArgumentException if there is no such target
   */
  public static Target start(Config cluster) throws IOException {
    String name = cluster.getString("target");
    return switch (name) {
      case "osier" -> new OsierTarget(cluster);
      case "osier-embedded" -> {
        Duration sla =
            cluster.hasPath("keyspaces.k.sla")
                ? cluster.getDuration("keyspaces.k.sla")
                : Duration.ofMillis(100);
        yield new PeerTarget(new OsierPeer(sla), OsierPeer.SETTINGS);
      }
      case "hazelcast" -> new PeerTarget(new HazelcastPeer(), HazelcastPeer.SETTINGS);
      case "pekko" -> new PeerTarget(new PekkoPeer(), PekkoPeer.SETTINGS);
      case "redis" -> new RedisTarget(cluster);
      case "echo" -> new EchoTarget();
      case "rocksdb" -> new RocksTarget(cluster);
      default -> throw new IllegalArgumentException("there is no cluster.target " + name);
    };
  }

  /** Whether what it needs is on this machine. */
  public static boolean isInstalled(String target) {
    return !target.equals("redis")
        || Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> new File(folder, RedisProcess.PROGRAM).canExecute());
  }

  /** Options of Java that the system's documentation asks for, if it runs in this process. */
  public static List<String> javaOptions(String target) {
    if (!target.equals("hazelcast")) {
      return List.of();
    }
    return List.of(
        "--add-modules=java.se",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-opens=java.management/sun.management=ALL-UNNAMED",
        "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED");
  }
}
