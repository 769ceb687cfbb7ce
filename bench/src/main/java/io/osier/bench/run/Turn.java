package io.osier.bench.run;

import static java.util.Objects.requireNonNull;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One turn of a variant: its loads begin, its steps are done and measured, its loads end. */
final class Turn {
  private static final Config STEP =
      ConfigFactory.parseString("{ name = \"\", do = \"\", seconds = 0 }");

  private final Target target;
  private final Config config;
  private final Map<String, Config> specifications;
  private final List<Load> loads = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private @Nullable Audit audit;
  private @Nullable Prober prober;

  /** Takes figures of a row. */
  interface Rows {
    /** Adds one. */
    void add(String row, String figure, double value);
  }

  Turn(Target target, Scenario.Part variant) {
    this.target = target;
    this.config = variant.config();
    this.specifications = variant.loads();
  }

  /** Runs its loads for so long, and measures nothing. */
  void warmUp(double seconds) throws IOException, InterruptedException {
    try {
      begin();
      Thread.sleep((long) (seconds * 1_000));
      end();
    } finally {
      close();
    }
  }

  private void begin() throws IOException {
    Config first = specifications.values().iterator().next();
    int watchers = first.getInt("watchers");
    if (first.getBoolean("audit") || watchers != 0) {
      boolean sets = first.getConfig("mix").hasPath("add");
      audit = new Audit(first.getInt("keys"), sets ? first.getInt("elements") : 1, watchers != 0);
    }
    if (first.getBoolean("audit") && !first.getConfig("mix").hasPath("add")) {
      try (Calls calls = target.calls(0, first)) {
        requireNonNull(audit).startFrom(calls);
      }
    }
    if (watchers != 0) {
      Calls watching = target.calls(target.nodes() - 1, first);
      open.add(watching);
      open.add(watching.watch(watchers, requireNonNull(audit)::told));
    }
    if (first.getBoolean("probe")) {
      prober = new Prober(target, first, new Draw(first).operations().getFirst());
      open.add(prober);
    }
    Config readers = config.getConfig("readers");
    if (!readers.getString("path").isEmpty()) {
      open.add(new Readers(target.cluster().orElseThrow(), readers));
    }
    for (Config one : specifications.values()) {
      Load load = new Load(target, one, loads.isEmpty() ? audit : null);
      loads.add(load);
      open.add(load);
    }
    loads.forEach(Load::start);
  }

  private void end() throws InterruptedException {
    for (Load load : loads) {
      load.stop();
    }
  }

  /** Runs all of it. */
  void run(String row, Rows rows) throws IOException, InterruptedException {
    List<Config> steps = new ArrayList<>();
    config.getConfigList("steps").forEach(step -> steps.add(step.withFallback(STEP)));
    if (steps.isEmpty()) {
      steps.add(
          ConfigFactory.parseMap(Map.of("seconds", config.getDouble("seconds")))
              .withFallback(STEP));
    }
    List<Meter> meters = new ArrayList<>();
    try {
      begin();
      if (loads.stream().allMatch(load -> load.config().getConfig("mix").isEmpty())) {
        target.cluster().ifPresent(cluster -> cluster.fleet().disconnect()); // nobody asks
      }
      Thread.sleep((long) (config.getDouble("lead") * 1_000));
      try (Steps does = new Steps(target, loads)) {
        for (Config step : steps) {
          meters.add(step(does, step, steps.size() > 1));
        }
      }
      long ended = System.nanoTime();
      end();
      audit(row, rows, meters.getLast(), ended);
      if (!specifications.values().stream().allMatch(one -> one.getConfig("mix").isEmpty())) {
        Thread.sleep((long) (config.getDouble("settle") * 1_000));
      }
      meters.getLast().settled();
      for (int i = 0; i < meters.size(); i++) {
        String name = steps.get(i).getString("name");
        if (steps.size() == 1 || !name.isEmpty()) {
          meters.get(i).add(name.isEmpty() ? row : row.isEmpty() ? name : row + ", " + name, rows);
        }
      }
    } finally {
      close();
    }
  }

  private Meter step(Steps does, Config step, boolean isOneOfSeveral)
      throws IOException, InterruptedException {
    Meter meter =
        new Meter(target, config, List.copyOf(specifications.keySet()), loads, isOneOfSeveral);
    meter.begin(prober);
    long start = System.nanoTime();
    does.run(step);
    boolean isLong = !step.getString("do").isEmpty() && !step.getString("do").equals("shift");
    meter.took(isLong ? (System.nanoTime() - start) / 1e9 : -1);
    if (!step.getString("do").equals("expire")) { // its seconds are the next step's
      Thread.sleep((long) (step.getDouble("seconds") * 1_000));
    }
    meter.end(prober);
    return meter;
  }

  /** What was told and acknowledged is there. */
  private void audit(String row, Rows rows, Meter meter, long ended) throws IOException {
    Audit kept = audit;
    if (kept == null) {
      return;
    }
    Config first = specifications.values().iterator().next();
    int watchers = first.getInt("watchers");
    if (watchers != 0) {
      kept.awaitTold(watchers < 0 ? 1 : first.getInt("keys") / watchers);
      rows.add(row, "told/s", kept.told() / meter.secondsSinceStart(ended));
      rows.add(row, "lag ms", Math.max(0, kept.lastToldNanos() - ended) / 1e6);
    }
    if (first.getBoolean("audit")) {
      String operation = loads.getFirst().draw().operations().getFirst();
      rows.add(row, "equal s", kept.awaitEverywhere(target, first, operation));
      System.out.printf(
          "%,d acknowledged, none missing, none counted twice%n", kept.acknowledged());
    }
  }

  private void close() {
    for (AutoCloseable one : open.reversed()) {
      try {
        one.close();
      } catch (Exception e) {
        throw new IllegalStateException(e.getMessage(), e);
      }
    }
    open.clear();
    loads.clear();
  }
}
