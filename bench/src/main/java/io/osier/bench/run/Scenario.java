package io.osier.bench.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigValue;
import io.osier.bench.systems.ScenarioException;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A scenario as its file describes it; defaults.conf explains every key.
 *
 * @param config the file's content over the defaults
 * @param wanted the changes of the command line, which also override the file's cases and variants
 */
record Scenario(String name, Config config, Config wanted) {
  /** The scenarios that come with the program. */
  static final List<String> NAMES =
      List.of(
          ("propagation sla size mixed-sla shift replicas peers client programs redis redis-port"
                  + " memory replicated storage contention cache rocksdb bigset bigset-away"
                  + " bigset-beside growth partitions datacenters placement membership watch ttl"
                  + " causal causal-simulated transactions snapshots idle dashboard scrape"
                  + " tls trace")
              .split(" "));

  private static final Config DEFAULTS = resource("defaults");

  /**
   * Reads a scenario.
   *
   * @param name one of {@link #NAMES}, or a file
   * @param changes PATH=VALUE each; they override the file, its cases and its variants
   * @param quick whether the file's quick block overrides the rest of the file
   * @throws ScenarioException if there is no such scenario, or its file has a mistake
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
      Config wanted = ConfigFactory.empty();
      for (String change : changes) {
        wanted = parsed(change).withFallback(wanted);
      }
      Config all = wanted.withFallback(file).withFallback(DEFAULTS).resolve();
      Rules.known("", all.root(), DEFAULTS.root());
      return new Scenario(isFile ? new File(name).getName() : name, all, wanted.resolveWith(all));
    } catch (ConfigException e) {
      throw new ScenarioException(name + ": " + e.getMessage(), e);
    }
  }

  private static Config parsed(String change) {
    try {
      Config parsed = ConfigFactory.parseString(change);
      if (!parsed.root().isEmpty()) {
        return parsed;
      }
    } catch (ConfigException e) {
      // The exception below describes a change.
    }
    throw new ScenarioException("--set takes PATH=VALUE, such as load.in-flight=16, not " + change);
  }

  private static ConfigParseOptions strict() {
    return ConfigParseOptions.defaults().setAllowMissing(false);
  }

  private static Config resource(String name) {
    return ConfigFactory.parseResources(Scenario.class, name + ".conf", strict());
  }

  /** Returns the cases in their order; each has its own keys over those of the file. */
  List<Part> cases() {
    return parts("cases", config, wanted);
  }

  /**
   * A case or a variant.
   *
   * @param name as tables show it
   * @param config its own keys over all that it inherits
   */
  record Part(String name, Config config, Config wanted) {
    /**
     * Returns the variants of a case in their order; each has its own keys over those of the case.
     */
    List<Part> variants() {
      return parts("variants", config, wanted);
    }

    /** Returns the loads that run at once, by name; one with an empty name if none is named. */
    Map<String, Config> loads() {
      Config one = config.getConfig("load");
      Map<String, Config> loads = new LinkedHashMap<>();
      Config named = config.getConfig("loads");
      for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(named.root()).entrySet()) {
        String name = entry.getKey();
        if (!(entry.getValue() instanceof ConfigObject own)) {
          throw new ScenarioException("loads." + name + " must be a block { ... }");
        }
        Config load = own.toConfig().withFallback(one);
        if (wanted.hasPath("load")) {
          load = wanted.getConfig("load").withFallback(load);
        }
        Rules.known("load", load.root(), DEFAULTS.getConfig("load").root());
        loads.put(name, load);
      }
      if (loads.isEmpty()) {
        loads.put("", one);
      }
      return loads;
    }
  }

  private static List<Part> parts(String list, Config base, Config wanted) {
    List<Part> parts = new ArrayList<>();
    for (Config own : base.getConfigList(list)) {
      String name = own.hasPath("name") ? own.getString("name") : "";
      Config all = wanted.withFallback(own.withoutPath("name")).withFallback(base);
      Rules.known("", all.root(), DEFAULTS.root());
      parts.add(new Part(name, all, wanted));
    }
    if (parts.isEmpty() || parts.stream().map(Part::name).distinct().count() < parts.size()) {
      throw new ScenarioException(list + " must be one or more, each with a name of its own");
    }
    return parts;
  }
}
