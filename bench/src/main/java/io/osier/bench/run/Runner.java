package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Target;
import io.osier.bench.systems.Targets;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Runs a scenario's cases one after the other, and the variants of a case in turn, round by round;
 * each round begins with another variant, so that a machine that becomes slower or faster affects
 * all variants alike. Variants, and cases that follow one another, share the processes if their
 * cluster blocks are equal.
 */
final class Runner {
  private static final String RATE = "operations/s";

  private final String onlyCase;
  private final String onlyVariant;
  private final List<String> arguments;
  private final Results results;
  private final Map<Config, Target> targets = new LinkedHashMap<>();

  /** Keys that name what was filled and what was warmed up already. */
  private final Set<Object> prepared = new HashSet<>();

  /** Lines that were printed already and are printed once only. */
  private final Set<String> said = new HashSet<>();

  /**
   * Creates the runner of one command.
   *
   * @param onlyCase the name of the only case that is run; empty for all
   * @param onlyVariant the name of the only variant that is run; empty for all
   * @param arguments the command's arguments, by which another process runs one turn
   */
  Runner(String onlyCase, String onlyVariant, List<String> arguments, Results results) {
    this.onlyCase = onlyCase;
    this.onlyVariant = onlyVariant;
    this.arguments = arguments;
    this.results = results;
  }

  private static boolean isWanted(Scenario.Part part, String only, List<String> some) {
    return only.isEmpty() ? some.isEmpty() || some.contains(part.name()) : only.equals(part.name());
  }

  private void sayOnce(String line) {
    if (said.add(line)) {
      System.out.println(line);
    }
  }

  /**
   * A case, and the variants of it that are measured.
   *
   * @param name the name of the case's table
   */
  private record Planned(String name, Scenario.Part of, List<Scenario.Part> variants) {}

  /**
   * Runs a scenario.
   *
   * @throws ScenarioException if no case or variant has the name that was asked for, or the
   *     scenario has a mistake; thrown before a process is started
   */
  void run(Scenario scenario) throws IOException, InterruptedException {
    List<Planned> plan = plan(scenario);
    try {
      for (Planned one : plan) {
        run(one);
      }
    } finally {
      targets.values().forEach(Target::close);
    }
  }

  private List<Planned> plan(Scenario scenario) {
    List<String> only = scenario.config().getStringList("only");
    List<Planned> plan = new ArrayList<>();
    Set<String> cases = new TreeSet<>();
    Set<String> variants = new TreeSet<>();
    boolean isWanted = false;
    for (Scenario.Part of : scenario.cases()) {
      cases.add(of.name());
      List<Scenario.Part> installed = new ArrayList<>();
      List<Scenario.Part> all = of.variants();
      all.forEach(variant -> variants.add(variant.name()));
      for (Scenario.Part variant : all) {
        if (isWanted(of, onlyCase, only) && isWanted(variant, onlyVariant, List.of())) {
          isWanted = true;
          Rules.check(variant);
          if (isInstalled(variant)) {
            installed.add(variant);
          }
        }
      }
      if (!installed.isEmpty()) {
        plan.add(new Planned(of.name().isEmpty() ? scenario.name() : of.name(), of, installed));
      }
    }
    if (!isWanted || !cases.containsAll(only)) {
      throw new ScenarioException(
          "there is no such case or variant; cases are "
              + quoted(cases)
              + "; variants are "
              + quoted(variants));
    }
    return plan;
  }

  private static String quoted(Set<String> names) {
    return names.stream()
        .map(name -> name.isEmpty() ? "one without a name" : '"' + name + '"')
        .collect(Collectors.joining(", "));
  }

  private void run(Planned planned) throws IOException, InterruptedException {
    String name = planned.name;
    Config config = planned.of.config();
    List<Scenario.Part> variants = planned.variants;
    boolean forks = config.getBoolean("fork") && onlyVariant.isEmpty();
    if (!forks) {
      start(variants);
    }
    int rounds = config.getInt("rounds");
    try {
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < variants.size(); i++) {
          Scenario.Part variant = variants.get((i + round) % variants.size());
          if (forks) {
            fork(planned.of, variant);
          } else {
            turn(name, variant, round);
          }
        }
        for (Scenario.Part variant : variants) {
          share(name, variant);
        }
      }
    } finally {
      System.out.println("\n" + results.table(name) + "\n");
    }
  }

  private static Config cluster(Scenario.Part variant) {
    return variant.config().getConfig("cluster");
  }

  private boolean isInstalled(Scenario.Part variant) {
    String target = cluster(variant).getString("target");
    boolean isInstalled = Targets.isInstalled(target);
    if (!isInstalled) {
      sayOnce(variant.name() + ": not measured, since " + target + " is not installed");
    }
    return isInstalled;
  }

  private static boolean isSimulated(Scenario.Part variant) {
    return cluster(variant).getString("target").equals("simulated");
  }

  /** Returns whether a variant runs on processes that are started before its turn. */
  private static boolean isPrepared(Scenario.Part variant) {
    return !isSimulated(variant) && !variant.config().getBoolean("heap-of-fill");
  }

  /** Starts, fills and warms up the systems that the variants need, and closes all others. */
  private void start(List<Scenario.Part> variants) throws IOException, InterruptedException {
    List<Config> wanted =
        variants.stream().filter(Runner::isPrepared).map(Runner::cluster).toList();
    for (Iterator<Map.Entry<Config, Target>> i = targets.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<Config, Target> one = i.next();
      if (!wanted.contains(one.getKey())) {
        one.getValue().close();
        i.remove();
      }
    }
    for (Scenario.Part variant : variants) {
      if (isPrepared(variant)) {
        prepare(variant);
      }
    }
  }

  private Target target(Scenario.Part variant) throws IOException {
    Config cluster = cluster(variant);
    Target target = targets.get(cluster);
    if (target == null) {
      target = started(variant);
      targets.put(cluster, target);
    }
    return target;
  }

  private Target started(Scenario.Part variant) throws IOException {
    Target target = Targets.start(cluster(variant));
    if (!target.notes().isEmpty()) {
      sayOnce(variant.name() + ": " + target.notes());
    }
    return target;
  }

  private void prepare(Scenario.Part variant) throws IOException, InterruptedException {
    Target target = target(variant);
    boolean filled = false;
    for (Config load : variant.loads().values()) {
      String fill = load.getString("fill");
      List<Object> what =
          List.of(
              target,
              fill,
              load.getString("keyspace"),
              load.getInt("keys"),
              load.getInt("elements"),
              load.getInt("bytes"));
      if (!fill.isEmpty() && prepared.add(what)) {
        System.out.println("filling " + load.getString("keyspace"));
        try (Calls calls = target.calls(0, load)) {
          calls.fill(fill, load.getInt("keys"));
        }
        filled = true;
      }
    }
    double settle = variant.config().getDouble("settle");
    if (filled) {
      Thread.sleep((long) (settle * 1_000));
    }
    double seconds = variant.config().getDouble("warm-up");
    Map<String, Object> mixes = new LinkedHashMap<>();
    variant
        .loads()
        .forEach((n, load) -> mixes.put(n + load.getString("keyspace"), load.getConfig("mix")));
    if (seconds > 0 && prepared.add(List.of(target, mixes))) {
      System.out.println("warming up " + variant.name());
      try (Turn turn = new Turn(target, variant)) {
        turn.warmUp(seconds);
      }
      Thread.sleep((long) (settle * 1_000));
    }
  }

  private void turn(String name, Scenario.Part variant, int round)
      throws IOException, InterruptedException {
    String row =
        variant.name().isEmpty() ? variant.loads().size() > 1 ? "" : "all" : variant.name();
    Turn.Rows rows = (of, figure, value) -> results.add(name, of, figure, value);
    if (isSimulated(variant)) {
      Simulated.run(variant.config(), round + 1, row, rows);
    } else if (variant.config().getBoolean("heap-of-fill")) {
      memory(name, row, variant);
    } else {
      try (Turn turn = new Turn(target(variant), variant)) {
        turn.run(row, rows);
      }
    }
    List<Double> rates = results.rounds(name, row, RATE);
    System.out.printf(
        Locale.ROOT,
        "%s, round %d, %s%s%n",
        name,
        round + 1,
        row,
        rates.isEmpty() ? "" : String.format(Locale.ROOT, ": %,.0f/s", rates.getLast()));
  }

  /**
   * Measures the memory that filled objects take, with processes of its own, so that no objects of
   * other variants are counted.
   */
  private void memory(String name, String row, Scenario.Part variant)
      throws IOException, InterruptedException {
    Config load = variant.loads().values().iterator().next();
    try (Target target = started(variant);
        Calls calls = target.calls(0, load)) {
      long before = bytes(target);
      calls.fill(load.getString("fill"), load.getInt("keys"));
      Thread.sleep(3_000); // until background writes have ended
      results.add(
          name, row, "heap bytes/object", (double) (bytes(target) - before) / load.getInt("keys"));
    }
  }

  private static long bytes(Target target) {
    return target
        .memoryBytes()
        .orElseThrow(
            () -> new OsierException(ErrorCode.UNAVAILABLE, "jcmd does not tell the heap's size"));
  }

  private void share(String name, Scenario.Part variant) {
    String base = variant.config().getString("base");
    List<Double> own = results.rounds(name, variant.name(), RATE);
    List<Double> others = results.rounds(name, base, RATE);
    if (!base.isEmpty() && !own.isEmpty() && !others.isEmpty() && !base.equals(variant.name())) {
      results.add(name, variant.name(), "% of " + base, 100 * own.getLast() / others.getLast());
    }
  }

  /** Runs one turn in another JVM, and adds its results. */
  private void fork(Scenario.Part of, Scenario.Part variant)
      throws IOException, InterruptedException {
    Path json = Files.createTempFile("osier-run", ".json");
    Path log = Files.createTempFile("osier-run", ".log");
    List<String> command = new ArrayList<>(List.of("bench", "run"));
    command.addAll(arguments);
    command.addAll(
        List.of(
            "--case=" + of.name(), "--variant=" + variant.name(), "--rounds=1", "--json=" + json));
    List<String> java = new ArrayList<>(List.of("-Xmx" + cluster(variant).getString("heap")));
    java.addAll(Targets.javaOptions(cluster(variant).getString("target")));
    Process process =
        Jvm.command(java, command.toArray(String[]::new))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (process.waitFor() != 0) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE, variant.name() + " failed; its log is " + log);
      }
    } finally {
      process.destroy();
    }
    results.addJson(json);
    System.out.println(of.name() + ", " + variant.name() + ": measured");
    Files.delete(json);
    Files.delete(log);
  }
}
