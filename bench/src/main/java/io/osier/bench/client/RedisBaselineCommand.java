package io.osier.bench.client;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.osier.bench.client.OsierProcess.Durability;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LiveHeap;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One datacenter beside a redis-server, with the same loads by the same kind of client. */
@Command(
    name = "redis-baseline",
    mixinStandardHelpOptions = true,
    description = {
      "Measures one datacenter process beside redis-server, which must be installed: increments"
          + " (INCR),",
      "reads of 100 bytes (GET), assignments of 100 bytes (SET), and additions to sets of at most"
          + " 100",
      "elements (SADD), with 1, 16 and 256 calls in flight over one connection each; they take"
          + " turns.",
      "Redis's client, Lettuce, flushes commands together, as Osier's does; with 1 in flight each"
          + " by itself."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class RedisBaselineCommand extends Experiment {
  private static final String KEYSPACE = "redis";

  private static final int UNIFORM_KEYS = 100_000;
  private static final int SKEWED_KEYS = 1_000;
  private static final int VALUE_BYTES = 100;
  private static final int ELEMENTS = 100;
  private static final List<Integer> IN_FLIGHT = List.of(1, 16, 256);
  private static final String RATE = "operations/s";
  private static final String CPU = "server's µs/operation";

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description =
          "memory; async, with Redis's appendonly everysec; sync, with always; ${DEFAULT-VALUE}"
              + " unless given")
  private Durability durability = Durability.MEMORY;

  @Option(
      names = "--uniform",
      description = "100,000 keys, all alike, instead of 1,000 by zipfian 0.99")
  private boolean uniform;

  @Option(
      names = "--keys",
      paramLabel = "N",
      description =
          "measure instead what so many counters, values of 20 bytes and elements of sets take in"
              + " memory")
  private int memoryKeys;

  /** For picocli. */
  public RedisBaselineCommand() {}

  /** One call on a key. */
  private interface Call {
    CompletionStage<?> make(int key);
  }

  /** One command on a key. */
  private interface RedisCall {
    CompletionStage<?> make(RedisAsyncCommands<String, byte[]> redis, int key);
  }

  /** One kind of call, at both. */
  private record Kind(String name, Call osier, RedisCall redis) {
    /** Redis's with so many in flight: gathering one command alone would cost it a little. */
    Call redis(RedisProcess server, int inFlight) {
      RedisAsyncCommands<String, byte[]> plain = server.connection().async();
      GatheredRedis gathered = server.gathered();
      return inFlight == 1
          ? k -> redis.make(plain, k)
          : k -> gathered.send(commands -> redis.make(commands, k));
    }
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-redis");
    System.out.println("logs and data in " + directory);
    String heap = memoryKeys > 0 ? "-Xmx4g" : "-Xmx512m";
    try (OsierProcess server =
            OsierProcess.start(directory, KEYSPACE, durability, List.of(), heap);
        RedisProcess redis = RedisProcess.start(directory, durability);
        OsierClient client =
            OsierClient.builder()
                .name("bench")
                .endpoint("one", "127.0.0.1:" + server.port())
                .build()) {
      client.awaitConnected(Duration.ofSeconds(30));
      results.note("durability", durability.label());
      results.note("redis", redis.version());
      Keyspace keyspace = client.session().keyspace(KEYSPACE);
      if (memoryKeys > 0) {
        memory(results, keyspace, server, redis);
      } else {
        results.note("keys", uniform ? UNIFORM_KEYS + " uniform" : "zipfian " + DrawnKeys.SKEW);
        loads(results, kinds(keyspace, redis.connection().async()), server, redis);
      }
    }
    Directories.delete(directory);
  }

  // ---------------------------------------------------------------- loads

  private int keys() {
    return uniform ? UNIFORM_KEYS : SKEWED_KEYS;
  }

  private List<Kind> kinds(Keyspace osier, RedisAsyncCommands<String, byte[]> filled) {
    byte[] bytes = new byte[VALUE_BYTES];
    Value value = Value.of(bytes);
    for (int i = 0; i < keys(); i++) {
      osier.register("v" + i).assignAsync(value);
      filled.set("v" + i, bytes);
    }
    AtomicIntegerArray added = new AtomicIntegerArray(keys());
    AtomicIntegerArray sadded = new AtomicIntegerArray(keys());
    return List.of(
        new Kind(
            "INCR",
            k -> osier.counter("c" + k).incrementAsync(1),
            (redis, k) -> redis.incr("c" + k)),
        new Kind("GET", k -> osier.register("v" + k).getAsync(), (redis, k) -> redis.get("v" + k)),
        new Kind(
            "SET",
            k -> osier.register("v" + k).assignAsync(value),
            (redis, k) -> redis.set("v" + k, bytes)),
        new Kind(
            "SADD",
            k -> {
              int n = added.getAndIncrement(k) % (ELEMENTS + 1);
              return n == ELEMENTS
                  ? osier.set("s" + k).clearAsync()
                  : osier.set("s" + k).addAsync(List.of(Value.of(element(n))));
            },
            (redis, k) -> {
              int n = sadded.getAndIncrement(k) % (ELEMENTS + 1);
              return n == ELEMENTS
                  ? redis.del("s" + k)
                  : redis.sadd("s" + k, element(n).getBytes(StandardCharsets.US_ASCII));
            }));
  }

  /** Of ten bytes. */
  private static String element(int n) {
    return String.format(Locale.ROOT, "elem%06d", n);
  }

  private Driver.Target target(Call call) {
    DrawnKeys keys = uniform ? DrawnKeys.uniform(UNIFORM_KEYS) : DrawnKeys.skewed(SKEWED_KEYS);
    return done ->
        call.make(keys.getAsInt()).whenComplete((result, error) -> done.done(error == null));
  }

  private void loads(Results results, List<Kind> kinds, OsierProcess server, RedisProcess redis)
      throws InterruptedException {
    double seconds = quick() ? 2 : 8;
    System.out.println("warming up");
    for (Kind kind : kinds) {
      Driver.run(target(kind.osier), 256, 0, quick() ? 3 : 30.0 / kinds.size() + 3);
      Driver.run(target(kind.redis(redis, 256)), 256, 0, 2);
    }
    for (int n : IN_FLIGHT) {
      String workload = n + " in flight";
      for (int round = 0; round < rounds(); round++) {
        for (Kind kind : kinds) {
          double osier =
              run(
                  results,
                  workload,
                  "osier " + kind.name,
                  kind.osier,
                  server.process(),
                  n,
                  seconds);
          double other =
              run(
                  results,
                  workload,
                  "redis " + kind.name,
                  kind.redis(redis, n),
                  redis.process(),
                  n,
                  seconds);
          System.out.printf(
              Locale.ROOT, "%s, %s: %,.0f/s, redis %,.0f/s%n", workload, kind.name, osier, other);
        }
      }
      System.out.println();
      System.out.println(results.table(workload));
    }
  }

  private double run(
      Results results,
      String workload,
      String alternative,
      Call call,
      Process process,
      int inFlight,
      double seconds)
      throws InterruptedException {
    Duration before = OsierProcess.cpu(process);
    Driver.Outcome outcome = Driver.run(target(call), inFlight, 0, seconds);
    Histogram nanos = outcome.nanos();
    double micros =
        OsierProcess.cpu(process).minus(before).toNanos()
            / 1e3
            / Math.max(1, nanos.getTotalCount());
    results.add(workload, alternative, RATE, outcome.perSecond());
    results.add(workload, alternative, CPU, micros);
    results.add(workload, alternative, "p50 us", nanos.getValueAtPercentile(50) / 1e3);
    results.add(workload, alternative, "p99 us", nanos.getValueAtPercentile(99) / 1e3);
    if (outcome.failures() > 0) {
      System.out.printf("%s: %,d calls failed%n", alternative, outcome.failures());
    }
    return outcome.perSecond();
  }

  // ---------------------------------------------------------------- memory

  private void memory(Results results, Keyspace keyspace, OsierProcess server, RedisProcess other) {
    byte[] bytes = new byte[20];
    Value value = Value.of(bytes);
    List<Kind> kinds =
        List.of(
            new Kind(
                "counter",
                k -> keyspace.counter("c" + k).incrementAsync(1),
                (redis, k) -> redis.incr("c" + k)),
            new Kind(
                "value of 20 bytes",
                k -> keyspace.register("v" + k).assignAsync(value),
                (redis, k) -> redis.set("v" + k, bytes)),
            new Kind(
                "element of a set of 10",
                k -> keyspace.set("s" + k / 10).addAsync(List.of(Value.of(element(k)))),
                (redis, k) ->
                    redis.sadd("s" + k / 10, element(k).getBytes(StandardCharsets.US_ASCII))));
    for (Kind kind : kinds) {
      double osier = perItem(kind.osier, () -> liveHeap(server.process()));
      double redisBytes = perItem(kind.redis(other, 1), other::usedMemory);
      results.add("memory", "osier " + kind.name, "bytes with key", osier);
      results.add("memory", "redis " + kind.name, "bytes with key", redisBytes);
    }
    System.out.println(results.table("memory"));
  }

  /** What is in use, in bytes. */
  private interface Used {
    long bytes();
  }

  private double perItem(Call call, Used used) {
    long before = used.bytes();
    List<CompletionStage<?>> open = new ArrayList<>();
    for (int i = 0; i < memoryKeys; i++) {
      open.add(call.make(i));
      if (open.size() == 10_000 || i == memoryKeys - 1) {
        open.forEach(c -> c.toCompletableFuture().join());
        open.clear();
      }
    }
    return (double) (used.bytes() - before) / memoryKeys;
  }

  /** What a process's objects take, after a collection. */
  private static long liveHeap(Process process) {
    return LiveHeap.bytes(process.pid())
        .orElseThrow(
            () -> new OsierException(ErrorCode.UNAVAILABLE, "the datacenter tells no heap"));
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("redis-rate", "One datacenter beside redis-server", RATE);
    plots.bars("redis-cpu", "Processor time of the server", CPU);
  }
}
