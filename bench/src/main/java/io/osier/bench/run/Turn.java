package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One turn of a variant: starts its loads, executes and measures its steps, and stops its loads.
 */
final class Turn implements AutoCloseable {

  private final Target target;
  private final Config config;
  private final Map<String, Config> specifications;
  private final Config first;
  private final List<Load> loads = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private @Nullable Audit audit;
  private @Nullable WatchAudit told;
  private @Nullable Readers read;
  private @Nullable Prober prober;

  interface Rows {
    void add(String row, String figure, double value);
  }

  Turn(Target target, Scenario.Part variant) {
    this.target = target;
    this.config = variant.config();
    this.specifications = variant.loads();
    this.first = specifications.values().iterator().next();
  }

  /** Runs the loads without measuring, and waits until the nodes show an audited load alike. */
  void warmUp(double seconds) throws IOException, InterruptedException {
    begin();
    Thread.sleep((long) (seconds * 1_000));
    end();
    if (audit != null) {
      atAll(audit::settle);
    }
  }

  private double atAll(ToDoubleFunction<List<Calls>> what) throws IOException {
    List<Calls> nodes = new ArrayList<>();
    try {
      for (int node = 0; node < target.nodes(); node++) {
        nodes.add(target.calls(node, first));
      }
      return what.applyAsDouble(nodes);
    } finally {
      nodes.forEach(Calls::close);
    }
  }

  private void begin() throws IOException {
    int watchers = first.getInt("watchers");
    List<Load.Observer> observers = new ArrayList<>();
    if (first.getBoolean("audit")) {
      audit = new Audit(first, Time.REAL);
      observers.add(audit);
      try (Calls calls = target.calls(0, first)) {
        audit.startFrom(calls);
      }
    }
    if (watchers != 0) {
      Calls watching = target.calls(target.nodes() - 1, first);
      open.add(watching);
      WatchAudit account =
          new WatchAudit(first.getInt("keys"), watching.tellsEachUpdate(), Time.REAL);
      told = account;
      observers.add(account);
      open.add(watching.watch(watchers, account::told));
    }
    if (first.getBoolean("probe")) {
      prober = new Prober(target, first);
      open.add(prober);
    }
    Config readers = config.getConfig("readers");
    if (!readers.getString("path").isEmpty()) {
      read = new Readers(target.cluster().orElseThrow(), readers);
      open.add(read);
    }
    for (Config one : specifications.values()) {
      Load load = new Load(target, one, observers, Time.REAL);
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

  void run(String row, Rows rows) throws IOException, InterruptedException {
    List<Config> steps = Steps.of(config);
    List<Meter> meters = new ArrayList<>();
    begin();
    if (Load.areIdle(specifications.values())) {
      target.cluster().ifPresent(LocalCluster::disconnect); // nobody asks
    }
    Thread.sleep((long) (config.getDouble("lead") * 1_000));
    try (Steps does = new Steps(target, loads)) {
      for (Config step : steps) {
        meters.add(step(does, step, steps.size() > 1));
      }
    }
    end();
    check(row, rows, meters.getLast(), System.nanoTime());
    if (!Load.areIdle(specifications.values())) {
      Thread.sleep((long) (config.getDouble("settle") * 1_000));
    }
    meters.getLast().settled();
    for (int i = 0; i < meters.size(); i++) {
      String name = steps.get(i).getString("name");
      if (steps.size() == 1 || !name.isEmpty()) {
        meters.get(i).add(name.isEmpty() ? row : row.isEmpty() ? name : row + ", " + name, rows);
      }
    }
  }

  private Meter step(Steps does, Config step, boolean isOneOfSeveral)
      throws IOException, InterruptedException {
    try (Meter meter =
        new Meter(target, config, List.copyOf(specifications.keySet()), loads, isOneOfSeveral)) {
      meter.begin(prober);
      long start = System.nanoTime();
      does.run(step);
      boolean isLong = !step.getString("do").isEmpty() && !step.getString("do").equals("shift");
      meter.took(isLong ? (System.nanoTime() - start) / 1e9 : -1);
      if (step.getString("do").equals("join")) {
        does.awaitServing(step.getString("dc")); // its figures are read next
      }
      if (!step.getString("do").equals("expire")) { // its seconds are the next step's
        Thread.sleep((long) (step.getDouble("seconds") * 1_000));
      }
      meter.end(prober);
      return meter;
    }
  }

  /** Checks what watchers were told, that acknowledged updates are there, and the readers. */
  private void check(String row, Rows rows, Meter meter, long ended) throws IOException {
    if (told != null) {
      int watchers = first.getInt("watchers");
      told.await(watchers < 0 ? 1 : first.getInt("keys") / watchers);
      rows.add(row, "told/s", told.changes() / meter.secondsSinceStart(ended));
      rows.add(row, "lag ms", told.lagSince(ended) / 1e6);
    }
    if (audit != null) {
      rows.add(row, "equal s", atAll(audit::await));
      System.out.printf(
          Locale.ROOT,
          "%,d acknowledged, none missing, none counted twice, all equal%n",
          audit.acknowledged());
    }
    if (read != null) {
      read.check();
    }
  }

  /** Closes everything that the turn has opened, and throws the first failure. */
  @Override
  public void close() {
    @Nullable RuntimeException failure = null;
    for (AutoCloseable one : open.reversed()) {
      try {
        one.close();
      } catch (Exception e) {
        failure =
            failure != null
                ? failure
                : e instanceof RuntimeException unchecked
                    ? unchecked
                    : new IllegalStateException(e);
      }
    }
    open.clear();
    if (failure != null) {
      throw failure;
    }
  }
}
