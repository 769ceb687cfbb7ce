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

/** Starts the system that a scenario names as its target. */
public final class Targets {
  /** Systems whose calls return when they are done. */
  private static final Set<String> BLOCKING =
      Set.of("osier-embedded", "pekko", "hazelcast", "rocksdb");

  static final String REDIS = "redis-server";

  private Targets() {}

  /** Returns whether a target's calls block, so that load.threads must be 1 or more. */
  public static boolean isBlocking(String target) {
    return BLOCKING.contains(target);
  }

  /**
   * Starts a system, and waits until it serves.
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
   * Returns the message for something that the launcher's own build leaves out.
   *
   * @param what the name of the missing part
   */
  public static String onlyInFullBuild(String what) {
    return what + " is not in this build; this makes one with it: mvn -B -DskipTests package";
  }

  /** Loads OtherSystems by its name: the launcher's own build, with -Dquick, leaves it out. */
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

  /** Starts the system of a scenario's cluster block. */
  interface Starter {
    Target start(Config cluster) throws IOException;
  }

  /**
   * Returns a scenario's value as a constant of an enum.
   *
   * @throws ScenarioException if the enum has no such constant
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

  /** Returns whether this machine has the programs that a target needs. */
  public static boolean isInstalled(String target) {
    return !target.equals("redis")
        || Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> new File(folder, REDIS).canExecute());
  }

  /** Returns the options of Java that a target's documentation asks for. */
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
