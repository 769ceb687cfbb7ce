package io.osier.bench.client;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.ServerOptions;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Range;
import io.osier.proxy.SetHandle;
import io.osier.proxy.Transaction;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How the insertion of one element depends on the size of the set that it is inserted into. */
@Command(
    name = "bigset",
    mixinStandardHelpOptions = true,
    description = {
      "Measures inserts of one element each (10 bytes, in random order) into one add-wins set of a"
          + " growing",
      "size, through the client library, as Table 1 of Brown, Lakhani, Place, \"Big(ger) sets\""
          + " (2016) does:",
      "inserts a second and how long each takes, the servers' processor time, bytes of the store"
          + " and of",
      "the links, and single reads of the same set. At each size the set grows by a quarter while"
          + " it is",
      "measured, and is made smaller again by one request while it is not. What an object cannot"
          + " hold is",
      "said, and ends the run."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured, as far as an object can hold so many elements",
      "1:it could not be run",
      "2:wrong usage"
    })
public final class BigSetCommand extends Experiment {
  private static final String KEYSPACE = "sets";
  private static final String WORKLOAD = "elements in the set";
  private static final String CITED = "cited: Big(ger) sets, table 1";
  private static final String RATE = "inserts/s";
  private static final String P50 = "p50 us";
  private static final String P99 = "p99 us";
  private static final int WARM_UP_ELEMENTS = 1_000;
  private static final int PAGE = 1_000;

  /** So often all of the set is read. */
  private static final int READS = 3;

  private static final Duration SETTLE_MAX = Duration.ofMinutes(2);
  private static final Duration START_MAX = Duration.ofMinutes(1);

  @Option(
      names = "--sizes",
      paramLabel = "N,N,…",
      split = ",",
      description = "elements in the set, growing; ${DEFAULT-VALUE} unless given")
  private List<Long> sizes = List.of(1_000L, 10_000L, 100_000L);

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "of inserts at each size; 15, with --quick 3")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds of inserts before anything is measured; 30, with --quick 6")
  private @Nullable Double warmUp;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "inserts under way at a time; ${DEFAULT-VALUE} unless given")
  private int inFlight = 16;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description = "memory, or of a store: none, async, sync; ${DEFAULT-VALUE} unless given")
  private Durability durability = Durability.ASYNC;

  @Option(
      names = "--consistency",
      paramLabel = "KIND",
      description = "of the keyspace: session or causal; session unless given")
  private KeyspacePolicy.Consistency consistency = KeyspacePolicy.Consistency.SESSION;

  @Option(
      names = "--datacenters",
      paramLabel = "N",
      description =
          "1 to 10 processes, with emulated links between them; the inserts are made at the first;"
              + " ${DEFAULT-VALUE} unless given")
  private int datacenters = 1;

  @Option(
      names = "--away",
      paramLabel = "N",
      description =
          "with several datacenters and a store: at each size the last one is stopped, N elements are"
              + " added, the first one is started again, so that it has no joined updates any more,"
              + " and then the last one; how long it takes until all are equal, and bytes on the"
              + " links. ${DEFAULT-VALUE} unless given: not done")
  private int away;

  @Option(
      names = "--narrow",
      description =
          "with --away: the last datacenter's links have 1 Mbit/s and 500 ms when it comes back")
  private boolean narrow;

  @Option(
      names = "--beside",
      description =
          "at the largest size: how long increments of another object of the same partition take at"
              + " most while all of the set is read, in a causal keyspace also by a transaction; and,"
              + " with several datacenters, while the first one clears it and the last one adds to"
              + " it, at both")
  private boolean beside;

  @Option(
      names = "--limit",
      paramLabel = "SIZE",
      description =
          "what an object may take, encoded; ${DEFAULT-VALUE} unless given. Of each element of 10"
              + " bytes that is 17 bytes; beyond 64MiB the heap must be eight times as much")
  private String limit = "64MiB";

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      description = "of each datacenter, as -Xmx has it; ${DEFAULT-VALUE} unless given")
  private String heap = "1g";

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  /** For picocli. */
  public BigSetCommand() {}

  private double seconds() {
    return seconds != null ? seconds : quick() ? 3 : 15;
  }

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 6 : 30;
  }

  private String consistency() {
    return consistency.name().toLowerCase(Locale.ROOT);
  }

  private void check() {
    boolean grows = sizes.getFirst() >= 1;
    for (int i = 1; i < sizes.size(); i++) {
      grows &= sizes.get(i) > sizes.get(i - 1);
    }
    if (!grows) {
      throw wrongUsage("--sizes must be 1 or more and grow, not " + sizes);
    }
    if (seconds() <= 0 || warmUp() < 0 || inFlight < 1) {
      throw wrongUsage("--seconds and --in-flight must be more than 0, --warm-up not less");
    }
    if (away < 0 || (away > 0 && (datacenters < 2 || durability == Durability.MEMORY))) {
      throw wrongUsage("--away needs 2 datacenters or more, and a durability with a store");
    }
    if (narrow && away == 0) {
      throw wrongUsage("--narrow needs --away");
    }
    if (datacenters < 1 || datacenters > Topology.DCS_MAX) {
      throw wrongUsage("--datacenters must be 1 to " + Topology.DCS_MAX + ", not " + datacenters);
    }
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    check();
    Path directory = Files.createTempDirectory("osier-bigset");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.toString());
    results.note("consistency", consistency());
    results.note("datacenters", Integer.toString(datacenters));
    results.note("inserts in flight", Integer.toString(inFlight));
    results.note("bytes of an element", Integer.toString(SetInserts.ELEMENT_BYTES));
    try (LocalCluster cluster =
            new ClusterSettings(
                    directory,
                    // One partition, so that another object is of the same one.
                    "    %s { consistency = %s, sla = 2s, partitions = 1, limits { object = %s } }\n"
                        .formatted(KEYSPACE, consistency(), limit))
                .dcs(Topology.names(datacenters))
                .store(durability.setting())
                .heap("-Xmx" + heap)
                .javaOptions(serverOptions.list())
                .admin()
                .start();
        HttpClient http = HttpClient.newHttpClient()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      String dc = cluster.dcs().getFirst();
      try (OsierClient client = cluster.client(dc)) {
        Keyspace keyspace = client.session().keyspace(KEYSPACE);
        warmUp(keyspace.set("warm"));
        for (int round = 0; round < rounds(1); round++) {
          new Round(results, cluster, http, keyspace, "set-" + round).run();
        }
      }
    }
    System.out.println();
    System.out.println(results.table(WORKLOAD));
    cite(results);
    Directories.delete(directory);
  }

  private void warmUp(SetHandle set) throws InterruptedException {
    System.out.println("warming up");
    SetInserts inserts = new SetInserts(set, inFlight, 0);
    while (inserts.seconds() < warmUp()) {
      inserts.resize(WARM_UP_ELEMENTS);
      burst(inserts, WARM_UP_ELEMENTS, warmUp());
    }
  }

  /** Inserts until the set is a quarter larger, or has been inserted into for so long in all. */
  private static void burst(SetInserts inserts, long elements, double secondsMax)
      throws InterruptedException {
    long left = (long) ((secondsMax - inserts.seconds()) * 1e9);
    inserts.insert(elements + Math.max(1, elements / 4), System.nanoTime() + left);
  }

  /** One set that grows. */
  private final class Round {
    private final Results results;
    private final LocalCluster cluster;
    private final HttpClient http;
    private final Keyspace keyspace;
    private final String key;
    private final SetHandle set;
    private final CounterHandle another;

    Round(Results results, LocalCluster cluster, HttpClient http, Keyspace keyspace, String key) {
      this.results = results;
      this.cluster = cluster;
      this.http = http;
      this.keyspace = keyspace;
      this.key = key;
      this.set = keyspace.set(key);
      this.another = keyspace.counter("another");
    }

    void run() throws IOException, InterruptedException {
      long size = 0;
      for (long elements : sizes) {
        SetInserts inserts = new SetInserts(set, inFlight, size);
        try {
          inserts.resize(elements);
          measure(elements, inserts);
          if (away > 0) {
            away(elements, inserts);
          }
          size = inserts.size();
          if (elements == sizes.getLast()) {
            if (beside) {
              beside(elements, inserts);
            }
            clear(elements);
          }
        } catch (OsierException e) {
          if (e.code() != ErrorCode.VALUE_TOO_LARGE) {
            throw e;
          }
          String row = String.format(Locale.ROOT, "%,d: more than an object holds", elements);
          System.out.println(row + " (" + e.getMessage() + "); the run ends here");
          results.add(WORKLOAD, row, "it holds, about", (double) inserts.size());
          return;
        }
      }
    }

    private void measure(long elements, SetInserts inserts)
        throws IOException, InterruptedException {
      String row = String.format(Locale.ROOT, "%,d", elements);
      settle();
      Written storeBefore = written();
      long wanBefore = cluster.wanBytes();
      long cpuNanos = 0;
      while (inserts.seconds() < seconds()) {
        Duration before = cluster.cpu();
        burst(inserts, elements, seconds());
        cpuNanos += cluster.cpu().minus(before).toNanos();
        if (inserts.seconds() < seconds()) {
          inserts.resize(elements);
        }
      }
      settle();
      Histogram nanos = inserts.nanos();
      double count = Math.max(1, nanos.getTotalCount());
      results.add(WORKLOAD, row, RATE, count / inserts.seconds());
      results.add(WORKLOAD, row, P50, nanos.getValueAtPercentile(50) / 1e3);
      results.add(WORKLOAD, row, P99, nanos.getValueAtPercentile(99) / 1e3);
      results.add(WORKLOAD, row, "servers' µs/insert", cpuNanos / 1e3 / count);
      if (durability != Durability.MEMORY) {
        Written store = written().minus(storeBefore);
        results.add(WORKLOAD, row, "log bytes/insert", store.logBytes / count);
        results.add(WORKLOAD, row, "table bytes/insert", store.tableBytes / count);
      }
      if (datacenters > 1) {
        double wan = cluster.wanBytes() - wanBefore;
        results.add(WORKLOAD, row, "link bytes/insert", wan / count);
      }
      SplittableRandom random = new SplittableRandom(1);
      double reading = seconds() / 5;
      Histogram contains =
          SetInserts.readNanos(
              () -> set.contains(SetInserts.element(random.nextLong(2 * elements))), reading);
      Histogram size = SetInserts.readNanos(set::size, reading);
      Histogram page =
          SetInserts.readNanos(
              () -> set.get(Range.from(SetInserts.element(random.nextLong(elements))).limit(PAGE)),
              reading);
      results.add(WORKLOAD, row, "contains p50 us", contains.getValueAtPercentile(50) / 1e3);
      results.add(WORKLOAD, row, "size p50 us", size.getValueAtPercentile(50) / 1e3);
      results.add(WORKLOAD, row, "page of 1,000, p50 us", page.getValueAtPercentile(50) / 1e3);
      System.out.printf(
          Locale.ROOT,
          "%s elements: %,.0f inserts/s, p50 %,.0f us, p99 %,.0f us%n",
          row,
          count / inserts.seconds(),
          nanos.getValueAtPercentile(50) / 1e3,
          nanos.getValueAtPercentile(99) / 1e3);
    }

    /** What it costs until a datacenter that was away has what it lacks. */
    private void away(long elements, SetInserts inserts) {
      String row = String.format(Locale.ROOT, "%,d", elements);
      String first = cluster.dcs().getFirst();
      String last = cluster.dcs().getLast();
      cluster.stop(last);
      inserts.resize(inserts.size() + away);
      cluster.stop(first);
      cluster.start(first);
      cluster.awaitReady(first, START_MAX);
      List<String> others = cluster.dcs().stream().filter(dc -> !dc.equals(last)).toList();
      if (narrow) {
        others.forEach(dc -> cluster.narrow(dc, last));
      }
      long bytesBefore = cluster.wanBytes();
      cluster.start(last);
      cluster.awaitReady(last, START_MAX);
      long begin = System.nanoTime();
      awaitEqual();
      results.add(WORKLOAD, row, "equal after away, s", (System.nanoTime() - begin) / 1e9);
      results.add(WORKLOAD, row, "link MB", (cluster.wanBytes() - bytesBefore) / 1e6);
      if (narrow) {
        others.forEach(dc -> cluster.widen(dc, last));
      }
    }

    /** How long others wait at most while something is done with all of the set. */
    private void beside(long elements, SetInserts inserts) throws InterruptedException {
      String row = String.format(Locale.ROOT, "%,d", elements);
      settle();
      try (Bystander here = new Bystander(another)) {
        for (int i = 0; i < READS; i++) {
          long begin = System.nanoTime();
          results.add(
              WORKLOAD,
              row,
              "read of all: others' longest ms",
              here.longestMillis(() -> require(set.get().size() == inserts.size())));
          results.add(WORKLOAD, row, "read of all ms", (System.nanoTime() - begin) / 1e6);
        }
        for (int i = 0; i < READS && consistency == KeyspacePolicy.Consistency.CAUSAL; i++) {
          results.add(
              WORKLOAD,
              row,
              "by a transaction: others' longest ms",
              here.longestMillis(this::readByTransaction));
        }
        if (datacenters > 1) {
          clearBesideAdditions(row, here);
        }
      }
      if (datacenters > 1) {
        settle();
        set.clear();
        new SetInserts(set, inFlight, 0).resize(inserts.size());
        settle();
      }
    }

    private void readByTransaction() {
      try (Transaction transaction = keyspace.begin()) {
        require(!transaction.set(key).get().isEmpty());
        transaction.commit();
      }
    }

    private void clearBesideAdditions(String row, Bystander here) throws InterruptedException {
      try (OsierClient there = cluster.only(cluster.dcs().getLast());
          Bystander atOther = new Bystander(there.session().keyspace(KEYSPACE).counter("there"))) {
        SetHandle theirs = there.session().keyspace(KEYSPACE).set(key);
        AtomicBoolean added = new AtomicBoolean();
        Thread adder =
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (long number = -1; !added.get(); number--) {
                        theirs.add(List.of(SetInserts.element(number)));
                      }
                    });
        String column = "clear beside additions: others' longest ms ";
        try {
          Thread.sleep(1_000);
          results.add(
              WORKLOAD,
              row,
              column + "at the first",
              here.longestMillis(
                  () ->
                      results.add(
                          WORKLOAD,
                          row,
                          column + "at the last",
                          atOther.longestMillis(() -> clearEverywhere(theirs)))));
        } finally {
          added.set(true);
          adder.join();
        }
      }
    }

    private void clearEverywhere(SetHandle theirs) {
      long before = theirs.size();
      set.clear();
      while (theirs.size() > before / 2) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    private static void require(boolean holds) {
      if (!holds) {
        throw new OsierException(ErrorCode.INTERNAL, "the set has not what was added to it");
      }
    }

    /** How long the clearing of the set takes, and what others notice of it. */
    private void clear(long elements) {
      String row = String.format(Locale.ROOT, "%,d", elements);
      Histogram before = SetInserts.readNanos(this::updateAnother, seconds() / 5);
      long begin = System.nanoTime();
      set.clear();
      results.add(WORKLOAD, row, "clear ms", (System.nanoTime() - begin) / 1e6);
      Histogram after = SetInserts.readNanos(this::updateAnother, seconds() / 5);
      results.add(WORKLOAD, row, "another's p99 us", before.getValueAtPercentile(99) / 1e3);
      results.add(WORKLOAD, row, "after the clear", after.getValueAtPercentile(99) / 1e3);
    }

    private void updateAnother() {
      another.increment(1);
    }

    /** Until all have what was inserted, and the datacenter's figures, of each second, tell it. */
    private void settle() throws InterruptedException {
      awaitEqual();
      Thread.sleep(1_500);
    }

    private void awaitEqual() {
      Duration atMost = narrow ? SETTLE_MAX.multipliedBy(10) : SETTLE_MAX;
      if (datacenters > 1 && !cluster.fleet().awaitEqual(atMost, System.out::println)) {
        throw new OsierException(ErrorCode.UNAVAILABLE, "the datacenters did not become equal");
      }
    }

    /** What the store of the first datacenter has written so far. */
    private Written written() throws IOException, InterruptedException {
      String url = cluster.dashboard(cluster.dcs().getFirst()) + "metrics";
      HttpRequest get = HttpRequest.newBuilder(URI.create(url)).build();
      return Written.of(http.send(get, HttpResponse.BodyHandlers.ofString()).body());
    }
  }

  /**
   * Bytes that a store has written.
   *
   * @param logBytes to the write-ahead log
   * @param tableBytes to tables, for the first time and by compaction
   */
  record Written(double logBytes, double tableBytes) {
    /** As the metrics tell it. */
    static Written of(String metrics) {
      return new Written(
          value(metrics, "osier_store_log_bytes_total"),
          value(metrics, "osier_store_flushed_bytes_total")
              + value(metrics, "osier_store_compaction_written_bytes_total"));
    }

    private static double value(String metrics, String name) {
      return metrics
          .lines()
          .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    }

    Written minus(Written before) {
      return new Written(logBytes - before.logBytes, tableBytes - before.tableBytes);
    }
  }

  /** What the paper measured, on another machine and with one call in flight. */
  private static void cite(Results results) {
    cite(results, "5,000", 81.57, 48.81, 7_094.66);
    cite(results, "10,000", 45.58, 26.79, 1_040.00);
    cite(results, "45,000", 6.89, 12.61, 1_060.67);
    System.out.println(results.table(CITED));
  }

  private static void cite(
      Results results, String elements, double sets, double deltas, double bigsets) {
    results.add(CITED, elements, "Riak sets, " + RATE, sets);
    results.add(CITED, elements, "Riak deltas, " + RATE, deltas);
    results.add(CITED, elements, "bigsets, " + RATE, bigsets);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("bigset-rate", "Inserts into one set", RATE, List.of(WORKLOAD));
    plots.bars("bigset-p50", "Half of the inserts take, at most", P50, List.of(WORKLOAD));
  }
}
