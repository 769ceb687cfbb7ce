package io.osier.bench.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.Directories;
import io.osier.core.Value;
import io.osier.datacenter.cli.Table;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the durable store: one datacenter in this process, the client library on loopback. */
@Command(
    name = "storage",
    mixinStandardHelpOptions = true,
    description = {
      "Measures one durable datacenter in this process through the client library on loopback:",
      "  mixes       reads and updates from 99/1 to 1/99, for none, async and sync, in turn",
      "  raw         RocksDB alone, writing batches of the same size and bytes with sync",
      "  contention  75/25 on 1 to 10,000 keys",
      "  cache       75/25, uniform, on data that fits the cache and on ten times as much",
      "  recovery    from the start to the first answer, by objects and by log records",
      "  memory      of a key in memory: counters, registers, sets of ten elements"
    })
public final class StorageCommand implements Callable<Integer> {
  private static final List<String> PARTS =
      List.of("mixes", "raw", "contention", "cache", "recovery", "memory");
  private static final List<String> MODES = List.of("none", "async", "sync");
  private static final int[] UPDATE_PERCENTS = {1, 10, 25, 50, 99};
  private static final int MIX_KEYS = 100_000;
  private static final double PARETO_LIKE = 0.8;

  @Spec private CommandSpec spec;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PART",
      description = "only these parts (default: all)")
  private List<String> only = PARTS;

  @Option(names = "--quick", description = "short runs: a look, not a result")
  private boolean quick;

  @Option(
      names = "--in-flight",
      defaultValue = "512",
      paramLabel = "N",
      description = "requests under way (default: ${DEFAULT-VALUE})")
  private int inFlight;

  @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
  private File jsonFile;

  private final ObjectMapper mapper = new ObjectMapper();
  private final ObjectNode results = mapper.createObjectNode();

  /** For picocli. */
  public StorageCommand() {}

  /** A datacenter with a directory of its own, and a client of it. */
  private static final class Rig implements AutoCloseable {
    final Datacenter datacenter;
    final OsierClient client;

    Rig(Path dir, String durability, String cache) {
      this(dir, durability, cache, "");
    }

    Rig(Path dir, String durability, String cache, String peers) {
      String config =
          """
          osier {
            dc = bench
            store { dir = "%s", durability = %s, cache = %s }
            listen { client-port = 0, peer-port = 0 }
            peers { %s }
            keyspaces { bench { sla = 1s, partitions = 2 } }
          }
          """
              .formatted(dir, durability, cache, peers);
      this.datacenter = Datacenter.start(ConfigReader.read("bench", config, Map.of()));
      this.client =
          OsierClient.builder()
              .endpoint("bench", "127.0.0.1:" + datacenter.clientPort())
              .timeout(Duration.ofSeconds(60))
              .build();
      client.awaitConnected(Duration.ofSeconds(20));
      await(datacenter);
    }

    private static void await(Datacenter datacenter) {
      while (!datacenter.isReady()) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    /** Updates made and writes to the disk, so far. */
    long[] updatesAndWrites() {
      try {
        JsonNode stat =
            new ObjectMapper()
                .readTree(
                    client.inspectAsync("bench", Request.Topic.STAT, Optional.empty(), 0).join());
        return new long[] {
          stat.at("/keyspaces/bench/updates").asLong(), stat.at("/store/writes").asLong()
        };
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(e);
      }
    }

    Keyspace space() {
      return client.session().keyspace("bench");
    }

    @Override
    public void close() {
      client.close();
      datacenter.close();
    }
  }

  @Override
  public Integer call() throws Exception {
    if (!Set.copyOf(PARTS).containsAll(only)) {
      throw new ParameterException(
          spec.commandLine(), "--only must be some of " + PARTS + ", not " + only);
    }
    if (inFlight < 2) {
      throw new ParameterException(spec.commandLine(), "--in-flight must be at least 2");
    }
    Path dir = Files.createTempDirectory("osier-storage");
    try {
      for (String part : only) {
        switch (part) {
          case "mixes" -> mixes(dir.resolve("mixes"));
          case "raw" -> raw(dir.resolve("raw"));
          case "contention" -> contention(dir.resolve("contention"));
          case "cache" -> cache(dir.resolve("cache"));
          case "recovery" -> recovery(dir.resolve("recovery"));
          case "memory" -> memory(dir.resolve("memory"));
          default -> throw new IllegalStateException(part);
        }
      }
    } finally {
      Directories.delete(dir);
    }
    if (jsonFile != null) {
      mapper.writerWithDefaultPrettyPrinter().writeValue(jsonFile, results);
    }
    return 0;
  }

  private double seconds() {
    return quick ? 2 : 8;
  }

  private static double median(List<Driver.Outcome> runs) {
    double[] sorted =
        runs.stream()
            .flatMapToDouble(r -> DoubleStream.of(r.operationsPerSecond()))
            .sorted()
            .toArray();
    return sorted[sorted.length / 2];
  }

  private static void print(String title, Table table) {
    System.out.println();
    System.out.println(title);
    System.out.println(table);
  }

  // ---------------------------------------------------------------- mixes

  private void mixes(Path dir) throws InterruptedException {
    Table table =
        new Table(
            "reads/updates",
            "durability",
            "ops/s (median)",
            "spread",
            "read p50 µs",
            "p99",
            "update p50 µs",
            "p99",
            "updates a write");
    ArrayNode json = results.putArray("mixes");
    Map<String, Rig> rigs =
        MODES.stream().collect(Collectors.toMap(m -> m, m -> new Rig(dir.resolve(m), m, "256MiB")));
    try {
      for (Rig rig : rigs.values()) {
        new Driver(rig.client, inFlight, MIX_KEYS, 50, PARETO_LIKE).run(seconds(), 1);
      }
      for (int percent : UPDATE_PERCENTS) {
        Map<String, List<Driver.Outcome>> runs = new TreeMap<>();
        Map<String, Double> group = new TreeMap<>();
        for (int round = 0; round < (quick ? 1 : 3); round++) {
          for (String mode : MODES) {
            Driver driver =
                new Driver(rigs.get(mode).client, inFlight, MIX_KEYS, percent, PARETO_LIKE);
            long[] before = rigs.get(mode).updatesAndWrites();
            runs.computeIfAbsent(mode, m -> new ArrayList<>())
                .add(driver.run(seconds(), 10 + round));
            long[] after = rigs.get(mode).updatesAndWrites();
            group.put(mode, (double) (after[0] - before[0]) / Math.max(1, after[1] - before[1]));
          }
        }
        for (String mode : MODES) {
          List<Driver.Outcome> of = runs.get(mode);
          Driver.Outcome last = of.getLast();
          double low = of.stream().mapToDouble(Driver.Outcome::operationsPerSecond).min().orElse(0);
          double high =
              of.stream().mapToDouble(Driver.Outcome::operationsPerSecond).max().orElse(0);
          String name = (100 - percent) + "/" + percent;
          table.add(
              name,
              mode,
              String.format(Locale.ROOT, "%,.0f", median(of)),
              String.format(Locale.ROOT, "%,.0f-%,.0f", low, high),
              Long.toString(last.readMicros().getValueAtPercentile(50)),
              Long.toString(last.readMicros().getValueAtPercentile(99)),
              Long.toString(last.updateMicros().getValueAtPercentile(50)),
              Long.toString(last.updateMicros().getValueAtPercentile(99)),
              String.format(Locale.ROOT, "%.0f", group.get(mode)));
          json.addObject()
              .put("mix", name)
              .put("updates_a_write", group.get(mode))
              .put("durability", mode)
              .put("ops_per_s", Math.round(median(of)))
              .put("failures", of.stream().mapToLong(Driver.Outcome::failures).sum())
              .put("read_p50_us", last.readMicros().getValueAtPercentile(50))
              .put("read_p99_us", last.readMicros().getValueAtPercentile(99))
              .put("update_p50_us", last.updateMicros().getValueAtPercentile(50))
              .put("update_p99_us", last.updateMicros().getValueAtPercentile(99));
        }
      }
    } finally {
      rigs.values().forEach(Rig::close);
    }
    print("mixes: " + inFlight + " in flight, " + MIX_KEYS + " counters", table);
  }

  // ---------------------------------------------------------------- raw

  /** What an update of a counter writes, roughly: an operation and an entry of the log. */
  private static final int RAW_KEY = 36;

  private static final int RAW_VALUE = 14;
  private static final int RAW_LOG_KEY = 11;
  private static final int RAW_LOG_VALUE = 8;

  private void raw(Path dir) throws IOException, RocksDBException {
    Table table = new Table("updates a batch", "updates/s with sync", "without");
    ArrayNode json = results.putArray("raw");
    Files.createDirectories(dir);
    RocksDB.loadLibrary();
    for (int size : new int[] {16, 64, 256, 512}) {
      double sync = raw(dir.resolve("s" + size), size, true);
      double async = raw(dir.resolve("a" + size), size, false);
      table.add(
          Integer.toString(size),
          String.format(Locale.ROOT, "%,.0f", sync),
          String.format(Locale.ROOT, "%,.0f", async));
      json.addObject()
          .put("batch", size)
          .put("sync_updates_per_s", Math.round(sync))
          .put("async_updates_per_s", Math.round(async));
    }
    print("raw: RocksDB alone, one thread, two records an update", table);
  }

  private double raw(Path dir, int size, boolean sync) throws RocksDBException {
    java.util.Random random = new java.util.Random(1);
    byte[] key = new byte[RAW_KEY];
    byte[] value = new byte[RAW_VALUE];
    byte[] logKey = new byte[RAW_LOG_KEY];
    byte[] logValue = new byte[RAW_LOG_VALUE];
    long updates = 0;
    try (Options options = new Options().setCreateIfMissing(true).setWriteBufferSize(32L << 20);
        RocksDB db = RocksDB.open(options, dir.toString());
        WriteOptions write = new WriteOptions().setSync(sync)) {
      long began = System.nanoTime();
      while (System.nanoTime() - began < seconds() * 1e9) {
        try (WriteBatch batch = new WriteBatch()) {
          for (int i = 0; i < size; i++) {
            random.nextBytes(key);
            random.nextBytes(value);
            batch.put(key, value);
            java.nio.ByteBuffer.wrap(logKey).putLong(3, updates + i);
            batch.put(logKey, logValue);
          }
          db.write(write, batch);
          updates += size;
        }
      }
      return updates / ((System.nanoTime() - began) / 1e9);
    }
  }

  // ---------------------------------------------------------------- contention

  private void contention(Path dir) throws InterruptedException {
    Table table = new Table("keys", "ops/s", "update p50 µs", "p99");
    ArrayNode json = results.putArray("contention");
    try (Rig rig = new Rig(dir, "sync", "256MiB")) {
      new Driver(rig.client, inFlight, 100, 25, 0).run(seconds(), 1);
      for (int keys : new int[] {1, 10, 100, 1_000, 10_000}) {
        Driver.Outcome o = new Driver(rig.client, inFlight, keys, 25, 0).run(seconds(), 2);
        table.add(
            Integer.toString(keys),
            String.format(Locale.ROOT, "%,.0f", o.operationsPerSecond()),
            Long.toString(o.updateMicros().getValueAtPercentile(50)),
            Long.toString(o.updateMicros().getValueAtPercentile(99)));
        json.addObject()
            .put("keys", keys)
            .put("ops_per_s", Math.round(o.operationsPerSecond()))
            .put("update_p50_us", o.updateMicros().getValueAtPercentile(50))
            .put("update_p99_us", o.updateMicros().getValueAtPercentile(99));
      }
    }
    print("contention: 75/25, sync, uniform over the keys", table);
  }

  // ---------------------------------------------------------------- cache

  /** What a counter weighs in the cache, about. */
  private static final int COUNTER_WEIGHT = 360;

  private void cache(Path dir) throws InterruptedException {
    Table table =
        new Table("keys", "fit the cache", "ops/s", "read p50 µs", "p99", "update p50 µs", "p99");
    ArrayNode json = results.putArray("cache");
    int keys = quick ? 100_000 : 1_000_000;
    for (int times : new int[] {1, 10}) {
      // Room for all, with a margin, or for a tenth.
      long bytes = Math.max(2 << 20, (long) keys * COUNTER_WEIGHT * 3 / 2 / (times == 1 ? 1 : 15));
      try (Rig rig = new Rig(dir.resolve("x" + times), "sync", bytes + "B")) {
        fill(rig, keys, keys);
        Driver.Outcome o = new Driver(rig.client, inFlight, keys, 25, 0).run(seconds(), 3);
        table.add(
            String.format(Locale.ROOT, "%,d", keys),
            times == 1 ? "all" : "a tenth",
            String.format(Locale.ROOT, "%,.0f", o.operationsPerSecond()),
            Long.toString(o.readMicros().getValueAtPercentile(50)),
            Long.toString(o.readMicros().getValueAtPercentile(99)),
            Long.toString(o.updateMicros().getValueAtPercentile(50)),
            Long.toString(o.updateMicros().getValueAtPercentile(99)));
        json.addObject()
            .put("keys", keys)
            .put("times_the_cache", times)
            .put("ops_per_s", Math.round(o.operationsPerSecond()))
            .put("read_p50_us", o.readMicros().getValueAtPercentile(50))
            .put("read_p99_us", o.readMicros().getValueAtPercentile(99));
      }
    }
    print("cache: 75/25, sync, uniform over the counters", table);
  }

  // ---------------------------------------------------------------- recovery

  /** A peer that is never there: all of the log is kept for it. */
  private static final String AWAY = "away = \"127.0.0.1:1\"";

  private void recovery(Path dir) {
    Table table = new Table("objects", "log records", "start to first answer, ms");
    ArrayNode json = results.putArray("recovery");
    int[][] cases =
        quick
            ? new int[][] {{10_000, 10_000}, {100_000, 100_000}}
            : new int[][] {{100_000, 100_000}, {100_000, 1_000_000}, {1_000_000, 1_000_000}};
    for (int[] c : cases) {
      Path own = dir.resolve(c[0] + "-" + c[1]);
      try (Rig rig = new Rig(own, "async", "64MiB", AWAY)) {
        fill(rig, c[0], c[1]);
      }
      List<Double> times = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        long began = System.nanoTime();
        try (Rig rig = new Rig(own, "sync", "64MiB", AWAY)) {
          rig.space().counter("k" + (c[0] / 2)).get();
          times.add((System.nanoTime() - began) / 1e6);
        }
      }
      times.sort(Comparator.naturalOrder());
      table.add(
          String.format(Locale.ROOT, "%,d", c[0]),
          String.format(Locale.ROOT, "%,d", c[1]),
          String.format(Locale.ROOT, "%.0f", times.get(1)));
      json.addObject()
          .put("objects", c[0])
          .put("log_records", c[1])
          .put("millis", Math.round(times.get(1)));
    }
    print(
        "recovery: opening the store, listening, connecting, reading one object (median of 3)",
        table);
  }

  /** Updates each object in turn until so many updates were made. */
  private static void fill(Rig rig, int objects, int updates) {
    Semaphore room = new Semaphore(2_000);
    Keyspace space = rig.space();
    for (int i = 0; i < updates; i++) {
      room.acquireUninterruptibly();
      var unused =
          space
              .counter("k" + i % objects)
              .incrementAsync(1)
              .whenComplete(
                  (v, e) -> {
                    room.release();
                    if (e != null) {
                      throw new IllegalStateException(e);
                    }
                  });
    }
    room.acquireUninterruptibly(2_000);
  }

  // ---------------------------------------------------------------- memory

  /** A type, the bytes of its value, and what writes one object of it. */
  private record Kind(
      String name, int valueBytes, BiFunction<Keyspace, String, CompletableFuture<Void>> write) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("counter", 8, (s, k) -> s.counter(k).incrementAsync(1)),
          new Kind("register", 20, (s, k) -> s.register(k).assignAsync(Value.of("v".repeat(20)))),
          new Kind("set of 10", 100, (s, k) -> s.set(k).addAsync(tenElements())));

  private static List<Value> tenElements() {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      elements.add(Value.of("element-" + i + "-"));
    }
    return elements;
  }

  private void memory(Path dir) throws InterruptedException {
    int keys = quick ? 100_000 : 1_000_000;
    Table table =
        new Table("type", "keys", "key and value", "heap a key, hot", "metadata", "heap, evicted");
    ArrayNode json = results.putArray("memory");
    for (Kind kind : KINDS) {
      long hot = heapOfKey(dir.resolve(kind.name + "-hot"), kind, keys, "4GiB");
      long evicted = heapOfKey(dir.resolve(kind.name + "-cold"), kind, keys, "1MiB");
      int payload = kind.valueBytes + KEY_BYTES;
      table.add(
          kind.name,
          String.format(Locale.ROOT, "%,d", keys),
          Integer.toString(payload),
          Long.toString(hot),
          Long.toString(hot - payload),
          Long.toString(evicted));
      json.addObject()
          .put("type", kind.name)
          .put("keys", keys)
          .put("payload_bytes", payload)
          .put("heap_bytes_per_key_hot", hot)
          .put("heap_bytes_per_key_evicted", evicted);
    }
    print("memory: heap of one datacenter, after garbage collection, by the key", table);
  }

  private static final int KEY_BYTES = 10;

  private static long heapOfKey(Path dir, Kind kind, int keys, String cache)
      throws InterruptedException {
    try (Rig rig = new Rig(dir, "async", cache)) {
      Keyspace space = rig.space();
      kind.write.apply(space, "first").join();
      long before = heap();
      Semaphore room = new Semaphore(UNDER_WAY);
      for (int i = 0; i < keys; i++) {
        room.acquireUninterruptibly();
        var unused =
            kind.write
                .apply(space, String.format(Locale.ROOT, "key%07d", i))
                .whenComplete((v, e) -> room.release());
      }
      room.acquireUninterruptibly(UNDER_WAY);
      Thread.sleep(SETTLE_MILLIS);
      return Math.max(0, heap() - before) / keys;
    }
  }

  private static final int UNDER_WAY = 1_000;

  /** Lets what is written in the background be written, and what the cache dropped be dropped. */
  private static final long SETTLE_MILLIS = 3_000;

  private static long heap() throws InterruptedException {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(100);
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }
}
