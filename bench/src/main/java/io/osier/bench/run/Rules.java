package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Topology;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Targets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a variant's keys must be to each other, so that a mistake is told before anything starts.
 */
final class Rules {
  private static final String HEAP = "[1-9][0-9]{0,9}[kKmMgG]";

  private final Config config;
  private final Config cluster;
  private final String target;
  private final boolean isOsier;

  private Rules(Config config) {
    this.config = config;
    this.cluster = config.getConfig("cluster");
    this.target = cluster.getString("target");
    this.isOsier = target.equals("osier");
  }

  /**
   * Checks a variant.
   *
   * @param all names of its case's variants
   * @throws ScenarioException that names what is wrong, and what would be right
   */
  static void check(Scenario.Part variant, List<String> all) {
    Rules rules = new Rules(variant.config());
    Collection<Config> loads = variant.loads().values();
    loads.forEach(rules::load);
    rules.cluster();
    rules.steps();
    boolean isForOneLoad =
        loads.stream().anyMatch(load -> isAccounted(load) || load.getInt("watchers") != 0);
    require(
        !isForOneLoad || loads.size() == 1,
        "load.audit, probe and watchers are for one load alone, not for " + loads.size());
    String base = variant.config().getString("base");
    if (!base.isEmpty()) {
      requireOneOf("base", all, base);
    }
    if (variant.config().getBoolean("heap-of-fill")) {
      require(
          loads.stream().noneMatch(load -> load.getString("fill").isEmpty()),
          "heap-of-fill needs load.fill, the operation by which the objects are made");
      require(
          rules.isOsier || rules.target.equals("redis"),
          "heap-of-fill is of cluster.target osier or redis, not " + rules.target);
    }
  }

  private static boolean isAccounted(Config load) {
    return load.getBoolean("audit") || load.getBoolean("probe");
  }

  private static void require(boolean isRight, String why) {
    if (!isRight) {
      throw new ScenarioException(why);
    }
  }

  /** Refuses what is none of some words, and names these. */
  static void requireOneOf(String what, Collection<String> right, String given) {
    require(
        right.contains(given),
        what + " is one of " + String.join(", ", new TreeSet<>(right)) + ", not " + given);
  }

  private void load(Config load) {
    Set<String> operations = Targets.operations(target);
    String what = "an operation of cluster.target " + target;
    Set<String> called = Draw.weights(load).keySet();
    called.forEach(operation -> requireOneOf(what, operations, operation));
    String fill = load.getString("fill");
    if (!fill.isEmpty()) {
      requireOneOf(what, operations, fill);
    }
    if (isAccounted(load)) {
      Audit.operation(load);
    }
    long most = isAccounted(load) || fill.equals("add") ? Integer.MAX_VALUE / 4 : Long.MAX_VALUE;
    require(
        (long) load.getInt("keys") * load.getInt("elements") <= most,
        "load.keys times load.elements must be at most " + most);
    require(
        load.getInt("watchers") <= load.getInt("keys"),
        "load.watchers must be at most load.keys, " + load.getInt("keys"));
    require(
        !Targets.isBlocking(target) || load.getInt("threads") > 0,
        "load.threads must be 1 or more for cluster.target " + target);
    require(
        load.getInt("hot") == 0 || tellsFigures(),
        "load.hot needs datacenters that tell their figures");
    Set<String> keyspaces = cluster.getConfig("keyspaces").root().keySet();
    if (isOsier) {
      requireOneOf(
          "load.keyspace",
          keyspaces.isEmpty() ? Set.of("k") : keyspaces,
          load.getString("keyspace"));
      at(load.getValue("at").unwrapped());
    }
    if (target.equals("simulated")) {
      boolean isMixed = called.contains("mixed");
      require(cluster.getInt("dcs") > 1, "cluster.dcs must be 2 or more for target simulated");
      require(
          isMixed || !keyspaces.isEmpty(),
          "cluster.target simulated needs one of cluster.keyspaces");
      require(
          isMixed || load.getInt("rate") > 0,
          "load.rate must be 1 or more for cluster.target simulated");
      require(
          !isMixed || config.getDouble("seconds") >= 1,
          "seconds must be 1 or more for the operation mixed");
    }
  }

  private void at(Object at) {
    if (at instanceof List<?> names && !names.isEmpty()) {
      names.forEach(name -> requireOneOf("a name in load.at", dcs(), String.valueOf(name)));
    } else {
      require(
          at.equals("all") || at.equals("first"),
          "load.at is all, first or a list of names, not " + at);
    }
  }

  private boolean tellsFigures() {
    return isOsier && cluster.getString("tls").equals("off");
  }

  /** The datacenters there are, or will be. */
  private List<String> dcs() {
    List<String> dcs = new ArrayList<>(Topology.names(cluster.getInt("dcs")));
    dcs.addAll(cluster.getStringList("later"));
    return dcs;
  }

  private void cluster() {
    require(
        cluster.getString("heap").matches(HEAP),
        "cluster.heap is a size such as 512m or 2g, not " + cluster.getString("heap"));
    List<String> further =
        Topology.names(Topology.DCS_MAX).subList(cluster.getInt("dcs"), Topology.DCS_MAX);
    cluster
        .getStringList("later")
        .forEach(name -> requireOneOf("a name in cluster.later", further, name));
    require(
        config.getString("readers.path").isEmpty()
            || (cluster.getBoolean("admin") && tellsFigures()),
        "readers need cluster.admin = true, and datacenters that tell their figures");
  }

  private void steps() {
    boolean hasDeadlines = false;
    for (Config step : Steps.of(config)) {
      String what = step.getString("do");
      require(
          tellsFigures() || Steps.ANYWHERE.contains(what),
          "a step that does " + what + " needs datacenters that tell their figures");
      for (String end : List.of("dc", "to")) {
        if (step.hasPath(end)) {
          requireOneOf("a step's " + end, dcs(), step.getString(end));
        }
      }
      hasDeadlines |= what.equals("expire");
      require(
          hasDeadlines || !List.of("removed", "forgotten").contains(what),
          "a step that does expire must be before one that does " + what);
    }
  }
}
