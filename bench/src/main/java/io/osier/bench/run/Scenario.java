package io.osier.bench.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.osier.bench.systems.ScenarioException;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is run, as its file says it; defaults.conf lists every key.
 *
 * @param config the file's content over the defaults
 */
record Scenario(String name, Config config) {
  /** The scenarios that come with the program. */
  static final List<String> NAMES =
      List.of(
          "propagation",
          "sla",
          "size",
          "mixed-sla",
          "shift",
          "replicas",
          "peers",
          "client",
          "redis",
          "memory",
          "replicated",
          "storage",
          "contention",
          "cache",
          "rocksdb",
          "bigset",
          "bigset-away",
          "bigset-beside",
          "growth",
          "partitions",
          "datacenters",
          "membership",
          "watch",
          "ttl",
          "causal",
          "causal-simulated",
          "transactions",
          "snapshots",
          "idle",
          "dashboard",
          "scrape",
          "tls",
          "trace",
          "users");

  private static final Config DEFAULTS = resource("defaults");

  /** Keys whose content is passed on, or checked elsewhere. */
  private static final List<String> FREE =
      List.of("cluster.keyspaces", "cluster.settings", "load.mix", "loads", "quick");

  /**
   * Reads a scenario.
   *
   * @param name one of {@link #NAMES}, or a file
   * @param changes PATH=VALUE each, over the file's content
   * @param quick whether what the file's quick block says holds, too
   * @throws ScenarioException if there is no such scenario, or something in it is wrong
   */
  static Scenario read(String name, List<String> changes, boolean quick) {
    boolean isFile = !NAMES.contains(name);
    if (isFile && !new File(name).isFile()) {
      throw new ScenarioException(
          "there is no scenario and no file "
              + name
              + "; scenarios are "
              + String.join(" ", NAMES));
    }
    try {
      Config file = isFile ? ConfigFactory.parseFile(new File(name), strict()) : resource(name);
      if (quick && file.hasPath("quick")) {
        file = file.getConfig("quick").withFallback(file);
      }
      for (String change : changes) {
        file = ConfigFactory.parseString(change).withFallback(file);
      }
      Config all = file.withFallback(DEFAULTS).resolve();
      check("", all.root(), DEFAULTS.root());
      return new Scenario(isFile ? new File(name).getName() : name, all);
    } catch (ConfigException e) {
      throw new ScenarioException(name + ": " + e.getMessage(), e);
    }
  }

  private static ConfigParseOptions strict() {
    return ConfigParseOptions.defaults().setAllowMissing(false);
  }

  private static Config resource(String name) {
    return ConfigFactory.parseResources(Scenario.class, name + ".conf", strict());
  }

  private static void check(String path, ConfigObject given, ConfigObject known) {
    for (String key : given.keySet()) {
      String at = path.isEmpty() ? key : path + "." + key;
      if (!known.containsKey(key)) {
        throw new ScenarioException(
            "unknown key " + at + "; known here: " + String.join(", ", known.keySet()));
      }
      if (!FREE.contains(at)
          && known.get(key) instanceof ConfigObject inner
          && given.get(key) instanceof ConfigObject content) {
        check(at, content, inner);
      }
    }
  }

  /** The cases in their order, each over what holds for all. */
  List<Part> cases() {
    return parts("cases", config);
  }

  /** The variants of a case in their order, each over the case. */
  static List<Part> variants(Config of) {
    return parts("variants", of);
  }

  /**
   * A case or a variant.
   *
   * @param name as tables show it
   * @param config all that holds for it
   */
  record Part(String name, Config config) {
    /** The loads that run at once, by name; one without a name if the file names none. */
    Map<String, Config> loads() {
      Config one = config.getConfig("load");
      Map<String, Config> loads = new LinkedHashMap<>();
      Config named = config.getConfig("loads");
      for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(named.root()).entrySet()) {
        String name = entry.getKey();
        if (entry.getValue().valueType() == ConfigValueType.OBJECT) {
          Config load = named.getConfig("\"" + name + "\"").withFallback(one);
          check("load", load.root(), DEFAULTS.getConfig("load").root());
          loads.put(name, load);
        }
      }
      if (loads.isEmpty()) {
        loads.put("", one);
      }
      return loads;
    }
  }

  private static List<Part> parts(String list, Config base) {
    List<Part> parts = new ArrayList<>();
    for (Config own : base.getConfigList(list)) {
      String name = own.hasPath("name") ? own.getString("name") : "";
      Config all = own.withoutPath("name").withFallback(base);
      check("", all.root(), DEFAULTS.root());
      parts.add(new Part(name, all));
    }
    return parts;
  }
}
