package io.osier.bench.causal;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.KeyspaceCounts;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.bench.cluster.Zipf;
import io.osier.bench.sim.SimComparison;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What causality costs: the same load on a causal and a session keyspace, in turn. */
@Command(
    name = "causal",
    mixinStandardHelpOptions = true,
    description = {
      "Compares a causal with a session keyspace of the same policy (SLA 1 s, adaptive, one"
          + " partition):",
      "throughput, bytes on the links and visibility with three datacenter processes, in turn in"
          + " one run,",
      "and in virtual time with 3, 5 and 7; then the latency of transactions of 1, 4 and 16"
          + " objects, and",
      "snapshots that are held open under load."
    })
public final class CausalCommand implements Callable<Integer> {
  private static final int KEYS = 1_000;
  private static final int IN_FLIGHT = 64;
  private static final int UPDATE_PERCENT = 50;
  private static final int SNAPSHOTS = 1_000;
  private static final List<String> KEYSPACES = List.of("session", "causal");

  @Option(names = "--quick", description = "shorter parts: under two minutes")
  private boolean quick;

  @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
  private Path jsonFile;

  private final ObjectMapper mapper = new ObjectMapper();
  private final ObjectNode results = mapper.createObjectNode();

  /** For picocli. */
  public CausalCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-causal");
    System.out.println("logs and data in " + directory);
    try (LocalCluster cluster =
        new ClusterSettings(
                directory,
                """
                    session { sla = 1s, partitions = 1 }
                    causal { consistency = causal, sla = 1s }
                """)
            .store("durability = async")
            .start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      try (Load load = new Load(cluster)) {
        System.out.println("warming up");
        for (String keyspace : KEYSPACES) {
          load.run(keyspace, quick ? 4 : 15);
        }
        throughput(cluster, load);
        latency(load);
        snapshots(cluster, load);
      }
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
    Directories.delete(directory);
    simulated();
    if (jsonFile != null) {
      mapper.writerWithDefaultPrettyPrinter().writeValue(jsonFile.toFile(), results);
    }
    return 0;
  }

  // ---------------------------------------------------------------- the load

  /** A client at each datacenter, each with requests in flight. */
  private static final class Load implements AutoCloseable {
    private final List<OsierClient> clients = new ArrayList<>();
    private final Zipf zipf = new Zipf(KEYS, 0.99);
    private long runs;

    Load(LocalCluster cluster) {
      for (String dc : Topology.DCS) {
        clients.add(cluster.client(dc));
      }
    }

    OsierClient first() {
      return clients.getFirst();
    }

    /** Runs for so long; returns operations a second. */
    double run(String keyspace, double seconds) throws InterruptedException {
      LongAdder done = new LongAdder();
      long began = System.nanoTime();
      long until = began + (long) (seconds * 1e9);
      List<Thread> threads = new ArrayList<>();
      for (OsierClient client : clients) {
        SplittableRandom random = new SplittableRandom(++runs);
        threads.add(Thread.ofPlatform().start(() -> drive(client, keyspace, random, until, done)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      return done.sum() / ((System.nanoTime() - began) / 1e9);
    }

    private void drive(
        OsierClient client, String keyspace, SplittableRandom random, long until, LongAdder done) {
      Semaphore room = new Semaphore(IN_FLIGHT);
      List<Keyspace> sessions = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        sessions.add(client.session().keyspace(keyspace));
      }
      int next = 0;
      while (System.nanoTime() < until) {
        room.acquireUninterruptibly();
        Keyspace session = sessions.get(next++ & 7);
        String key = "k" + zipf.next(random);
        var reply =
            random.nextInt(100) < UPDATE_PERCENT
                ? session.counter(key).incrementAsync(1).thenApply(v -> 0L)
                : session.counter(key).getAsync();
        var unused =
            reply.whenComplete(
                (value, error) -> {
                  room.release();
                  if (error == null) {
                    done.increment();
                  }
                });
      }
      room.acquireUninterruptibly(IN_FLIGHT);
    }

    @Override
    public void close() {
      clients.forEach(OsierClient::close);
    }
  }

  // ---------------------------------------------------------------- throughput, bytes, visibility

  private void throughput(LocalCluster cluster, Load load) throws InterruptedException {
    int rounds = quick ? 2 : 5;
    double seconds = quick ? 5 : 15;
    Map<String, List<Double>> rates = new TreeMap<>();
    Map<String, List<Double>> bytes = new TreeMap<>();
    Map<String, Histogram> visibility = new TreeMap<>();
    Map<String, Long> violations = new TreeMap<>();
    for (int round = 1; round <= rounds; round++) {
      // Each is first in turn, since the machine is not the same twice.
      for (String keyspace : round % 2 == 1 ? KEYSPACES : KEYSPACES.reversed()) {
        LockSupport.parkNanos(2_500_000_000L);
        KeyspaceCounts before = KeyspaceCounts.of(cluster, keyspace);
        long wan = cluster.wanBytes();
        double rate = load.run(keyspace, seconds);
        LockSupport.parkNanos(2_000_000_000L); // what is held is shipped
        KeyspaceCounts after = KeyspaceCounts.of(cluster, keyspace);
        double perUpdate =
            (cluster.wanBytes() - wan) / (double) Math.max(1, after.updates() - before.updates());
        Histogram seen = after.visibilitySince(before);
        rates.computeIfAbsent(keyspace, k -> new ArrayList<>()).add(rate);
        bytes.computeIfAbsent(keyspace, k -> new ArrayList<>()).add(1_000 * perUpdate);
        visibility.computeIfAbsent(keyspace, k -> new Histogram(3_600_000_000L, 2)).add(seen);
        violations.merge(keyspace, after.violations() - before.violations(), Long::sum);
        System.out.printf(
            Locale.ROOT,
            "round %d of %d, %-7s %,9.0f operations/s, %,9.0f bytes per 1000 updates%n",
            round,
            rounds,
            keyspace,
            rate,
            1_000 * perUpdate);
      }
    }
    System.out.println();
    System.out.println(
        "keyspace   operations/s (least, most)    bytes/1000 updates   visible after ms p50   p99  "
            + " max   violations");
    ObjectNode node = results.putObject("throughput");
    for (String keyspace : KEYSPACES) {
      List<Double> sorted = of(rates, keyspace).stream().sorted().toList();
      Histogram h = of(visibility, keyspace);
      System.out.printf(
          Locale.ROOT,
          "%-9s %,12.0f (%,.0f, %,.0f) %,18.0f %22.0f %6.0f %6.0f %9d%n",
          keyspace,
          median(of(rates, keyspace)),
          sorted.getFirst(),
          sorted.getLast(),
          median(of(bytes, keyspace)),
          h.getValueAtPercentile(50) / 1e3,
          h.getValueAtPercentile(99) / 1e3,
          h.getMaxValue() / 1e3,
          violations.get(keyspace));
      ObjectNode side = node.putObject(keyspace);
      side.put("operations_per_s", median(of(rates, keyspace)));
      side.put("bytes_per_1000_updates", median(of(bytes, keyspace)));
      side.put("visibility_ms_p50", h.getValueAtPercentile(50) / 1e3);
      side.put("visibility_ms_p99", h.getValueAtPercentile(99) / 1e3);
      side.put("visibility_ms_max", h.getMaxValue() / 1e3);
      side.put("sla_violations", violations.get(keyspace));
    }
    double cost = 1 - median(of(rates, "causal")) / median(of(rates, "session"));
    System.out.printf(Locale.ROOT, "causal costs %.1f %% of session's throughput%n", 100 * cost);
    node.put("cost", cost);
  }

  /** What was measured of a keyspace. */
  private static <T> T of(Map<String, T> measured, String keyspace) {
    return requireNonNull(measured.get(keyspace), keyspace);
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  // ---------------------------------------------------------------- latency of transactions

  private interface Step {
    void run(Keyspace keyspace, int size, long i);
  }

  private void latency(Load load) {
    int iterations = quick ? 500 : 3_000;
    Map<String, Step> kinds = new TreeMap<>();
    kinds.put("reads, one request", (k, n, i) -> k.readTogether(gets(n, i)));
    kinds.put("updates, one request", (k, n, i) -> k.updateTogether(changes(n, i)));
    kinds.put("begin, reads, updates, commit", CausalCommand::interactive);
    System.out.println();
    System.out.println("latency in microseconds        objects     p50     p99     max");
    ArrayNode node = results.putArray("latency");
    Keyspace keyspace = load.first().session().keyspace("causal");
    for (Map.Entry<String, Step> kind : kinds.entrySet()) {
      for (int size : new int[] {1, 4, 16}) {
        Histogram h = new Histogram(60_000_000, 3);
        for (int i = -iterations / 5; i < iterations; i++) {
          long began = System.nanoTime();
          kind.getValue().run(keyspace, size, i + iterations);
          if (i >= 0) {
            h.recordValue(Math.max(1, (System.nanoTime() - began) / 1_000));
          }
        }
        System.out.printf(
            Locale.ROOT,
            "%-30s %7d %7d %7d %7d%n",
            kind.getKey(),
            size,
            h.getValueAtPercentile(50),
            h.getValueAtPercentile(99),
            h.getMaxValue());
        ObjectNode row = node.addObject();
        row.put("kind", kind.getKey());
        row.put("objects", size);
        row.put("p50_us", h.getValueAtPercentile(50));
        row.put("p99_us", h.getValueAtPercentile(99));
        row.put("max_us", h.getMaxValue());
      }
    }
  }

  private static String key(int j, long i) {
    return "k" + (i * 16 + j) % KEYS;
  }

  private static List<Keyspace.Get> gets(int size, long i) {
    List<Keyspace.Get> gets = new ArrayList<>();
    for (int j = 0; j < size; j++) {
      gets.add(new Keyspace.Get(key(j, i), CrdtType.PN_COUNTER));
    }
    return gets;
  }

  private static List<Keyspace.Change> changes(int size, long i) {
    List<Keyspace.Change> changes = new ArrayList<>();
    for (int j = 0; j < size; j++) {
      changes.add(new Keyspace.Change(key(j, i), CrdtType.PN_COUNTER, new Operation.Increment(1)));
    }
    return changes;
  }

  private static void interactive(Keyspace keyspace, int size, long i) {
    try (Transaction tx = keyspace.begin()) {
      tx.readTogether(gets(size, i));
      for (int j = 0; j < size; j++) {
        tx.counter(key(j, i)).increment(1);
      }
      tx.commit();
    }
  }

  // ---------------------------------------------------------------- snapshots under load

  private void snapshots(LocalCluster cluster, Load load) throws InterruptedException {
    double window = quick ? 4 : 15;
    int windows = quick ? 2 : 4;
    System.out.println();
    System.out.println("snapshots   operations/s   former versions   memory of eu, MiB");
    ArrayNode node = results.putArray("snapshots");
    window(cluster, load, 0, window, node);
    List<Transaction> held = new ArrayList<>();
    Keyspace keyspace = load.first().session().keyspace("causal");
    TransactionOptions options = TransactionOptions.DEFAULT.limit(Duration.ofMinutes(5));
    for (int i = 0; i < SNAPSHOTS; i++) {
      held.add(keyspace.begin(options));
    }
    for (int i = 0; i < windows; i++) {
      window(cluster, load, SNAPSHOTS, window, node);
    }
    held.forEach(Transaction::abort);
    window(cluster, load, 0, window, node);
  }

  private static void window(
      LocalCluster cluster, Load load, int open, double seconds, ArrayNode node)
      throws InterruptedException {
    double rate = load.run("causal", seconds);
    JsonNode stat = cluster.inspect("eu", Request.Topic.STAT, 0).get("keyspaces").get("causal");
    long versions = stat.get("former_versions").asLong();
    long memory = cluster.residentMebibytes("eu");
    System.out.printf(Locale.ROOT, "%9d %,14.0f %,17d %19d%n", open, rate, versions, memory);
    ObjectNode row = node.addObject();
    row.put("snapshots", open);
    row.put("operations_per_s", rate);
    row.put("former_versions", versions);
    row.put("resident_mib", memory);
  }

  // ---------------------------------------------------------------- in virtual time

  private void simulated() {
    int seconds = quick ? 60 : 300;
    System.out.println();
    System.out.println(
        "virtual time: DCs   keyspace   updates   bytes/update   visible after ms p50   p99    max "
            + "  violations");
    ArrayNode node = results.putArray("simulated");
    for (int dcs : new int[] {3, 5, 7}) {
      for (SimComparison.Side side : SimComparison.run(dcs, seconds, 1)) {
        Histogram h = side.visibilityMicros();
        double perUpdate = side.bytes() / (double) side.updates();
        System.out.printf(
            Locale.ROOT,
            "%17d   %-8s %9d %14.0f %22.0f %6.0f %6.0f %9d%n",
            dcs,
            side.keyspace(),
            side.updates(),
            perUpdate,
            h.getValueAtPercentile(50) / 1e3,
            h.getValueAtPercentile(99) / 1e3,
            h.getMaxValue() / 1e3,
            side.slaViolations());
        ObjectNode row = node.addObject();
        row.put("dcs", dcs);
        row.put("keyspace", side.keyspace());
        row.put("updates", side.updates());
        row.put("bytes_per_update", perUpdate);
        row.put("visibility_ms_p50", h.getValueAtPercentile(50) / 1e3);
        row.put("visibility_ms_p99", h.getValueAtPercentile(99) / 1e3);
        row.put("visibility_ms_max", h.getMaxValue() / 1e3);
        row.put("sla_violations", side.slaViolations());
      }
    }
  }
}
