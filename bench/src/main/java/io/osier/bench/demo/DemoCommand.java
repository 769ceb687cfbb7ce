package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.Query;
import io.osier.datacenter.cli.Table;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the main job, end to end, and proves that nothing was lost. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Runs three datacenters (eu, us, ap) as processes on loopback with emulated links of 40 to 120 ms",
      "there and back, and writes to all of them with YCSB (workload A, zipfian) and with counters and",
      "sets. Half way the link between eu and us is cut for a while and healed; later ap is killed (as by",
      "kill -9) and started again. At the end it compares every object of all three and checks that no",
      "acknowledged update is missing."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:all datacenters are equal and nothing is missing",
      "1:they differ, something is missing, or it could not be run",
      "2:wrong usage"
    })
public final class DemoCommand implements Callable<Integer> {
  private static final String YCSB = "ycsb";
  private static final String COUNTERS = "counters";
  private static final int RECORDS = 1_000;
  private static final double CUT_FROM = 0.45;
  private static final double CUT_TO = 0.60;
  private static final double KILL_AT = 0.75;
  private static final double RESTART_AT = 0.80;
  private static final String VICTIM = "ap";
  private static final int SETTLE_SECONDS_MAX = 60;

  @Option(
      names = "--seconds",
      defaultValue = "60",
      paramLabel = "N",
      description = "how long the load runs (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--keyspace-sla",
      defaultValue = "2s",
      paramLabel = "DURATION",
      description = "the staleness bound, for example 500ms or 2s (default: ${DEFAULT-VALUE})")
  private String sla;

  @Option(
      names = "--target",
      defaultValue = "4000",
      paramLabel = "OPS",
      description = "operations per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(names = "--json", paramLabel = "FILE", description = "write the result as JSON")
  private File jsonFile;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "seed of keys and jitter (default: ${DEFAULT-VALUE})")
  private long seed;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "keep the data there; must be empty (default: a temporary directory)")
  private Path data;

  @Option(names = "--keep-logs", description = "keep the processes' logs and configurations")
  private boolean keepLogs;

  /** Whether a person looks on: the launcher knows, Java before 22 does not. */
  private final boolean live = Boolean.getBoolean("osier.terminal");

  private long startNanos;

  /** For picocli. */
  public DemoCommand() {}

  @Override
  public Integer call() throws IOException {
    if (seconds < 5 || target < 10) {
      System.err.println("--seconds must be at least 5, and --target at least 10");
      return 2;
    }
    if (!sla.matches("\\d+(ms|s|m)")) {
      System.err.println("--keyspace-sla must be a duration like 500ms or 2s, not '" + sla + "'");
      return 2;
    }
    if (jsonFile != null) {
      try {
        Files.writeString(jsonFile.toPath(), ""); // now, not after the whole run
      } catch (IOException e) {
        System.err.println("--json: cannot write " + jsonFile + ": " + e.getMessage());
        return 2;
      }
    }
    if (data != null && Files.exists(data) && !isEmpty(data)) {
      System.err.println("--data: " + data + " must be an empty directory, or none yet");
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-demo");
    String keyspaces =
        "    %s { sla = %s }\n    %s { sla = %s }\n".formatted(YCSB, sla, COUNTERS, sla);
    startNanos = System.nanoTime();
    say("starting three datacenters; logs in " + directory);
    Path store = data == null ? directory.resolve("data") : data;
    LocalCluster cluster = new ClusterSettings(directory, keyspaces).data(store).seed(seed).start();
    Thread cleanUp = new Thread(() -> cleanUp(cluster, directory), "demo-clean-up");
    Runtime.getRuntime().addShutdownHook(cleanUp);
    boolean good = false;
    try {
      cluster.awaitReady(Duration.ofSeconds(60));
      good = run(cluster, directory);
      return good ? 0 : 1;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    } finally {
      cluster.close();
      try {
        Runtime.getRuntime().removeShutdownHook(cleanUp);
      } catch (IllegalStateException e) {
        // Interrupted from the keyboard: the hook is at work already.
      }
      if (good && !keepLogs) {
        Directories.delete(directory);
      } else {
        say("logs are kept in " + directory);
      }
    }
  }

  private void say(String line) {
    System.out.printf(Locale.ROOT, "%5.1f s  %s%n", (System.nanoTime() - startNanos) / 1e9, line);
  }

  private boolean run(LocalCluster cluster, Path directory) throws IOException {
    say("loading " + RECORDS + " YCSB records");
    Path loadLog = directory.resolve("ycsb-load.log");
    await(cluster.owns("ycsb load", ycsb(cluster, loadLog, true)), 60);
    say("running the load for " + seconds + " s");
    long loadStart = System.nanoTime();
    CounterLoad load = new CounterLoad(cluster, COUNTERS, target / 2, seed);
    Path ycsbLog = directory.resolve("ycsb.log");
    Process ycsb = cluster.owns("ycsb", ycsb(cluster, ycsbLog, false));
    watch(cluster, load, loadStart);
    say("the load ends; waiting for the answers that are still due");
    load.stop();
    double countersSeconds = (System.nanoTime() - loadStart) / 1e9;
    if (ycsb.isAlive()) {
      say("waiting for YCSB, which began a little later");
    }
    await(ycsb, 30);
    long ycsbReads = ok(ycsbLog, "READ");
    long ycsbUpdates = ok(ycsbLog, "UPDATE");
    if (ycsbReads == 0 || ycsbUpdates == 0) {
      say("YCSB did no operation; see " + ycsbLog);
    }
    long wanUnderLoad = cluster.wanBytes();
    say("waiting until " + VICTIM + " and the others serve");
    cluster.awaitReady(Duration.ofSeconds(60));
    say("waiting until the datacenters are equal");
    boolean equal = settle(cluster);
    say("reading every object at every datacenter");
    Comparison comparison = compare(cluster, load);
    long missing = Math.max(comparison.missing, RECORDS - comparison.ycsbRecords);
    long surplus = comparison.surplus;
    double ycsbSeconds = Math.max(1e-3, summary(ycsbLog, "[OVERALL], RunTime(ms),") / 1e3);
    load.close();
    Outcome outcome =
        new Outcome(
            equal && comparison.different == 0,
            comparison,
            missing,
            surplus,
            load.done() + ok(loadLog, "INSERT") + ycsbUpdates,
            load.failures() + failed(ycsbLog),
            (ycsbReads + ycsbUpdates) / ycsbSeconds + load.done() / countersSeconds,
            wanUnderLoad);
    report(cluster, outcome);
    return outcome.isGood() && ycsbReads > 0 && ycsbUpdates > 0;
  }

  /**
   * What the demo found.
   *
   * @param acknowledged updates, as the clients count them
   * @param throughput operations per second of YCSB and of the counters, each while it ran
   * @param wanUnderLoad bytes on the links when the load had ended
   */
  private record Outcome(
      boolean converged,
      Comparison comparison,
      long missing,
      long surplus,
      long acknowledged,
      long failed,
      double throughput,
      long wanUnderLoad) {
    boolean isGood() {
      return converged && missing == 0 && surplus == 0;
    }
  }

  private Process ycsb(LocalCluster cluster, Path log, boolean loading) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(YCSB);
    command.add(loading ? "-load" : "-t");
    command.addAll(List.of("-threads", "24", "-p", "workload=site.ycsb.workloads.CoreWorkload"));
    for (String property :
        List.of(
            "table=" + YCSB,
            "recordcount=" + RECORDS,
            "operationcount=" + 100_000_000,
            "readproportion=0.5",
            "updateproportion=0.5",
            "scanproportion=0",
            "insertproportion=0",
            "requestdistribution=zipfian",
            "fieldcount=10",
            "fieldlength=20",
            "osier.endpoints=" + cluster.endpoints(),
            "osier.dc=" + String.join(",", Topology.DCS))) {
      command.addAll(List.of("-p", property));
    }
    if (!loading) {
      command.addAll(
          List.of("-target", Integer.toString(target / 2), "-p", "maxexecutiontime=" + seconds));
    }
    return Jvm.start(log, "-Xmx256m", command.toArray(new String[0]));
  }

  private static void await(Process process, int secondsMax) {
    try {
      if (!process.waitFor(secondsMax, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Operations that YCSB's summary counts as done. */
  private static long ok(Path log, String operation) throws IOException {
    return summary(log, "[" + operation + "], Return=OK,");
  }

  /** Operations that YCSB's summary counts as failed. */
  private static long failed(Path log) throws IOException {
    return summary(log, "[READ-FAILED], Operations,")
        + summary(log, "[UPDATE-FAILED], Operations,");
  }

  private static long summary(Path log, String prefix) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .filter(l -> l.startsWith(prefix))
          .mapToLong(l -> (long) Double.parseDouble(l.substring(prefix.length()).trim()))
          .sum();
    }
  }

  // ---------------------------------------------------------------- while it runs

  private void watch(LocalCluster cluster, CounterLoad load, long loadStart) {
    boolean cut = false;
    boolean healed = false;
    boolean killed = false;
    boolean restarted = false;
    long lastUpdates = 0;
    long lastNanos = loadStart;
    while (true) {
      double at = (System.nanoTime() - loadStart) / 1e9 / seconds;
      if (!cut && at >= CUT_FROM) {
        cluster.cut("eu", "us");
        cut = true;
        say("--- the link eu - us is cut ---");
      }
      if (!healed && at >= CUT_TO) {
        cluster.heal("eu", "us");
        healed = true;
        say("--- the link eu - us is healed ---");
      }
      if (!killed && at >= KILL_AT) {
        cluster.kill(VICTIM);
        killed = true;
        say("--- " + VICTIM + " is killed ---");
      }
      if (!restarted && at >= RESTART_AT) {
        cluster.start(VICTIM);
        restarted = true;
        say("--- " + VICTIM + " is started again ---");
      }
      if (at >= 1) {
        return; // only here, so that even slow reports cannot leave the link cut
      }
      LockSupport.parkNanos(1_000_000_000L);
      Figures figures = Figures.of(cluster);
      long now = System.nanoTime();
      double rate = (figures.updates() - lastUpdates) / ((now - lastNanos) / 1e9);
      lastUpdates = figures.updates();
      lastNanos = now;
      show(cluster, figures, rate, load, cut && !healed);
    }
  }

  private void show(LocalCluster cluster, Figures f, double rate, CounterLoad load, boolean isCut) {
    long wan = cluster.wanBytes();
    String line =
        String.format(
            Locale.ROOT,
            "%,.0f updates/s | %d objects in state mode | WAN %.2f MB, as operations %.2f MB (%.0f %%)"
                + " | visible after p50 %.0f, p99 %.0f, max %.0f ms, SLA %s%s",
            rate,
            f.stateObjects(),
            wan / 1e6,
            f.wanBytesIfOps(wan) / 1e6,
            100.0 * wan / Math.max(1, f.wanBytesIfOps(wan)),
            f.visibilityMillis(50),
            f.visibilityMillis(99),
            f.visibilityMicros().getMaxValue() / 1e3,
            sla,
            isCut ? " | eu - us CUT" : "");
    if (!live) {
      say(line);
      return;
    }
    Table table = new Table("at", "key", "type", "mode", "updates/s", "object B");
    for (String dc : Topology.DCS) {
      for (JsonNode keyspace : hot(cluster, dc)) {
        keyspace
            .get("hot")
            .forEach(
                h ->
                    table.add(
                        dc,
                        h.get("key").asText(),
                        h.get("type").asText(),
                        h.get("mode").asText(),
                        h.get("updates_per_s").asText(),
                        h.get("object_bytes").asText()));
      }
    }
    System.out.print("\033[H\033[2J");
    say(line.replace(" | ", "\n         "));
    System.out.println("         acknowledged by counters and sets: " + load.done());
    System.out.println();
    System.out.println(table);
  }

  private static JsonNode hot(LocalCluster cluster, String dc) {
    try {
      return cluster.inspect(dc, Request.Topic.HOT, 4).get("keyspaces");
    } catch (OsierException e) {
      return NullNode.getInstance(); // it is being started again
    }
  }

  // ---------------------------------------------------------------- at the end

  /** Waits until all datacenters give the same digests. */
  private boolean settle(LocalCluster cluster) {
    long deadline = System.nanoTime() + SETTLE_SECONDS_MAX * 1_000_000_000L;
    int asked = 0;
    while (System.nanoTime() < deadline) {
      Set<JsonNode> digests = new HashSet<>();
      for (String dc : Topology.DCS) {
        digests.add(cluster.inspect(dc, Request.Topic.DIGEST, 0).get("keyspaces"));
      }
      if (digests.size() == 1) {
        return true;
      }
      if (++asked % 20 == 0) {
        say("not equal yet");
      }
      LockSupport.parkNanos(250_000_000L);
    }
    return false;
  }

  private record Comparison(
      long objects, long different, long ycsbRecords, long missing, long surplus) {}

  /** Compares every object of all datacenters, and with what was acknowledged. */
  private Comparison compare(LocalCluster cluster, CounterLoad load) {
    long missing = 0;
    long surplus = 0;
    long objects = 0;
    long different = 0;
    long records = 0;
    for (String keyspace : List.of(YCSB, COUNTERS)) {
      List<List<Keyspace.Row>> all = new ArrayList<>();
      for (String dc : Topology.DCS) {
        try (OsierClient client = cluster.only(dc)) {
          all.add(rows(client.session().keyspace(keyspace)));
        }
      }
      if (keyspace.equals(COUNTERS)) {
        for (List<Keyspace.Row> rows : all) {
          CounterLoad.Audit audit = load.audit(rows);
          missing = Math.max(missing, audit.missing());
          surplus = Math.max(surplus, audit.surplus());
        }
      }
      Set<Keyspace.Row> union = new HashSet<>();
      all.forEach(union::addAll);
      Set<Key> odd = new HashSet<>();
      for (List<Keyspace.Row> rows : all) {
        Set<Keyspace.Row> own = new HashSet<>(rows);
        union.stream().filter(r -> !own.contains(r)).forEach(r -> odd.add(r.key()));
      }
      odd.stream().sorted().limit(10).forEach(k -> say("differs: " + keyspace + "/" + k));
      objects += all.getFirst().size();
      different += odd.size();
      records += keyspace.equals(YCSB) ? all.stream().mapToInt(List::size).min().orElse(0) : 0;
    }
    return new Comparison(objects, different, records, missing, surplus);
  }

  private static List<Keyspace.Row> rows(Keyspace keyspace) {
    List<Keyspace.Row> rows = new ArrayList<>();
    Optional<Key> from = Optional.empty();
    do {
      Keyspace.Page page = keyspace.scan(from, Optional.empty(), new Query.Whole(), 1_000);
      rows.addAll(page.rows());
      from = page.next();
    } while (from.isPresent());
    return rows;
  }

  private void report(LocalCluster cluster, Outcome outcome) throws IOException {
    Comparison comparison = outcome.comparison;
    Figures f = Figures.of(cluster);
    long wan = cluster.wanBytes();
    JsonNode stat = cluster.inspect(Topology.DCS.getFirst(), Request.Topic.STAT, 0);
    long slaMillis = stat.get("keyspaces").get(YCSB).get("sla_ms").asLong();
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode result = mapper.createObjectNode();
    result.put("converged", outcome.converged);
    result.put("objects_compared", comparison.objects);
    result.put("objects_different", comparison.different);
    result.put("missing_acknowledged", outcome.missing);
    result.put("surplus_updates", outcome.surplus);
    result.put("acknowledged_updates", outcome.acknowledged);
    result.put("committed_updates", f.updates());
    result.put("failed_or_unknown", outcome.failed);
    result.put("throughput_ops_per_s", Math.round(outcome.throughput));
    result.put("wan_bytes", wan);
    result.put("wan_bytes_after_load", wan - outcome.wanUnderLoad);
    result.put("wan_bytes_if_ops", f.wanBytesIfOps(wan));
    ObjectNode visibility = result.putObject("visibility_ms");
    visibility.put("p50", f.visibilityMillis(50));
    visibility.put("p99", f.visibilityMillis(99));
    visibility.put("max", f.visibilityMicros().getMaxValue() / 1e3);
    result.put("sla_ms", slaMillis);
    result.put("sla_violations", f.slaViolations());
    result.put("late_after_outage", f.lateAfterOutage());
    result.put("mode_switches", f.modeSwitches());
    result.put("state_mode_objects", f.stateObjects());
    result.put("gaps_seen", f.gaps());
    result.put("healed_through_third", f.healed());
    result.put("seconds", seconds);
    if (jsonFile != null) {
      mapper.writerWithDefaultPrettyPrinter().writeValue(jsonFile, result);
    }
    System.out.println();
    summary(outcome, f, wan, slaMillis).forEach(line -> System.out.println("  " + line));
    System.out.println();
    Table table = new Table("in numbers", "");
    result.properties().forEach(e -> table.add(e.getKey(), e.getValue().toString()));
    System.out.println(table);
    System.out.println();
    say(
        outcome.isGood()
            ? comparison.objects + " objects are equal at eu, us and ap; nothing is missing"
            : "FAILED: %d objects differ, %d updates missing, %d too many"
                .formatted(comparison.different, outcome.missing, outcome.surplus));
  }

  /** What a person wants to know, in the order in which they want it. */
  private List<String> summary(Outcome outcome, Figures f, long wan, long slaMillis) {
    Comparison comparison = outcome.comparison;
    return List.of(
        outcome.isGood()
            ? String.format(
                Locale.ROOT,
                "Nothing was lost: all %,d acknowledged updates are there, each once, after a cut link"
                    + " and a kill -9.",
                outcome.acknowledged)
            : String.format(
                Locale.ROOT,
                "FAILED: of %,d acknowledged updates %,d are missing and %,d too many are there.",
                outcome.acknowledged,
                outcome.missing,
                outcome.surplus),
        String.format(
            Locale.ROOT,
            "All three datacenters %s: %,d objects compared, %,d differ.",
            outcome.converged ? "are equal" : "are NOT equal",
            comparison.objects,
            comparison.different),
        String.format(
            Locale.ROOT,
            "The links carried %.1f MB; had every update travelled by itself it were %.1f MB (%.0f %%).",
            wan / 1e6,
            f.wanBytesIfOps(wan) / 1e6,
            100.0 * wan / Math.max(1, f.wanBytesIfOps(wan))),
        String.format(
            Locale.ROOT,
            "Elsewhere an update was visible after %.0f ms (half of them) to %.0f ms (99 %%); the bound is"
                + " %,d ms.",
            f.visibilityMillis(50),
            f.visibilityMillis(99),
            slaMillis),
        String.format(
            Locale.ROOT,
            "Later than that: %,d with the links up (this machine was too slow), %,d because of the cut"
                + " and the kill.",
            f.slaViolations(),
            f.lateAfterOutage()),
        String.format(
            Locale.ROOT,
            "%,.0f of %,d operations a second were done; %,d failed or have an unknown outcome (of calls"
                + " under way at the kill).",
            outcome.throughput,
            target,
            outcome.failed));
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.findAny().isEmpty();
    }
  }

  /** After Ctrl-C: nobody will look at the logs of a run that was broken off. */
  private void cleanUp(LocalCluster cluster, Path directory) {
    cluster.close();
    if (!keepLogs) {
      try {
        Directories.delete(directory);
      } catch (IOException e) {
        System.err.println("could not delete " + directory + ": " + e.getMessage());
      }
    }
  }
}
