package io.osier.bench.systems;

import com.typesafe.config.Config;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Starts what a scenario names as its target. */
public final class Targets {
  /** Their calls have their answers when they return. */
  private static final Set<String> BLOCKING =
      Set.of("osier-embedded", "pekko", "hazelcast", "rocksdb");

  static final String REDIS = "redis-server";

  private Targets() {}

  /** Whether a call at a target returns only when it is done, so that threads must call. */
  public static boolean isBlocking(String target) {
    return BLOCKING.contains(target);
  }

  /**
   * Starts it, and waits until it serves.
   *
   * @param cluster a scenario's cluster block
   * @throws ScenarioException if there is no such target
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
        yield new OsierPeer(sla);
      }
      case "hazelcast", "pekko", "redis", "osier-redis" -> otherSystem(cluster);
      case "echo" -> new EchoTarget();
      case "rocksdb" -> new RocksTarget(cluster);
      default ->
          throw new ScenarioException("there is no cluster.target " + name + "; see defaults.conf");
    };
  }

  /**
   * What to say where something is asked for that the launcher's own build leaves out.
   *
   * @param what its name
   */
  public static String onlyInFullBuild(String what) {
    return what + " is not in this build; this makes one with it: mvn -B -DskipTests package";
  }

  /** By name: the launcher's own build, with Maven's -Dquick, leaves the other systems out. */
  private static Target otherSystem(Config cluster) throws IOException {
    Starter starter;
    try {
      starter =
          Class.forName("io.osier.bench.systems.OtherSystems")
              .asSubclass(Starter.class)
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new ScenarioException(onlyInFullBuild(cluster.getString("target")), e);
    }
    return starter.start(cluster);
  }

  /** Starts what a scenario's cluster block asks for. */
  interface Starter {
    Target start(Config cluster) throws IOException;
  }

  /**
   * A value of a scenario's that must be one of some words.
   *
   * @throws ScenarioException if it is none of them
   */
  public static <E extends Enum<E>> E oneOf(Class<E> words, Config config, String path) {
    String given = config.getString(path);
    try {
      return Enum.valueOf(words, given.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new ScenarioException(
          path + " is one of " + EnumSet.allOf(words) + ", not " + given, e);
    }
  }

  /** Whether what it needs is on this machine. */
  public static boolean isInstalled(String target) {
    return !target.equals("redis")
        || Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> new File(folder, REDIS).canExecute());
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
