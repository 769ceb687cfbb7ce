package io.osier.bench.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Targets;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Refuses mistakes in a scenario before a process is started. */
final class Rules {
  /** Blocks whose keys are checked elsewhere, or passed on to the datacenters. */
  private static final Set<String> FREE =
      Set.of(
          "cluster.keyspaces", "cluster.created", "cluster.settings", "load.mix", "loads", "quick");

  private Rules() {}

  /**
   * Refuses unknown keys.
   *
   * @param path of the block; empty for a scenario's own keys
   * @param known the defaults, which have every key
   */
  static void known(String path, ConfigObject given, ConfigObject known) {
    given.forEach(
        (key, value) -> {
          String at = path.isEmpty() ? key : path + "." + key;
          ConfigValue like = known.get(key);
          if (like == null) {
            throw new ScenarioException(
                "unknown key " + at + "; known here: " + words(known.keySet()));
          }
          if (like instanceof ConfigObject block && !FREE.contains(at)) {
            require(
                value instanceof ConfigObject,
                at + " must be a block { ... }, not " + value.unwrapped());
            known(at, (ConfigObject) value, block);
          }
        });
  }

  static void check(Scenario.Part variant) {
    Config config = variant.config();
    List.of("rounds", "cluster.dcs").forEach(path -> atLeast(1, "", config, path));
    List.of("warm-up", "lead", "seconds", "settle").forEach(path -> atLeast(0, "", config, path));
    requireOneOf("cluster.tls", List.of("off", "server", "both"), config.getString("cluster.tls"));
    Collection<Config> loads = variant.loads().values();
    loads.forEach(load -> load(config.getConfig("cluster"), load));
    require(
        loads.size() == 1
            || loads.stream().noneMatch(l -> isAccounted(l) || l.getInt("watchers") != 0),
        "load.audit, probe and watchers are for one load alone, not for " + loads.size());
  }

  private static void load(Config cluster, Config load) {
    List.of("keys", "in-flight", "sessions", "elements", "objects")
        .forEach(path -> atLeast(1, "load.", load, path));
    requireOneOf("load.draw", List.of("zipfian", "uniform", "turns"), load.getString("draw"));
    String target = cluster.getString("target");
    if (isAccounted(load)) {
      Audit.operation(load);
    }
    require(
        load.getInt("watchers") <= load.getInt("keys"),
        "load.watchers must be at most load.keys, " + load.getInt("keys"));
    require(
        !Targets.isBlocking(target) || load.getInt("threads") > 0,
        "load.threads must be 1 or more for cluster.target " + target);
    int homes = load.getStringList("homes").size();
    require(
        homes == 0 || (homes > 1 && load.getInt("keys") % homes == 0),
        "load.homes must be two or more, and load.keys so many for each of them");
    Set<String> keyspaces = new TreeSet<>(cluster.getConfig("keyspaces").root().keySet());
    keyspaces.addAll(cluster.getObject("created").keySet());
    if (target.equals("osier")) {
      requireOneOf(
          "load.keyspace",
          keyspaces.isEmpty() ? Set.of("k") : keyspaces,
          load.getString("keyspace"));
    }
  }

  private static boolean isAccounted(Config load) {
    return load.getBoolean("audit") || load.getBoolean("probe");
  }

  private static void atLeast(int least, String block, Config config, String path) {
    require(
        config.getDouble(path) >= least,
        block + path + " must be " + least + " or more, not " + config.getDouble(path));
  }

  private static void require(boolean isRight, String why) {
    if (!isRight) {
      throw new ScenarioException(why);
    }
  }

  private static void requireOneOf(String what, Collection<String> right, String given) {
    require(right.contains(given), what + " is one of " + words(right) + ", not " + given);
  }

  private static String words(Collection<String> words) {
    return String.join(", ", new TreeSet<>(words));
  }
}
