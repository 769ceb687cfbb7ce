package io.osier.bench.client;

import io.osier.bench.client.OsierProcess.Durability;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.ServerOptions;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The client library and one datacenter, beside a plain echo of the same bytes. */
@Command(
    name = "client",
    mixinStandardHelpOptions = true,
    description = {
      "Measures reads and updates of counters through the client library, at one datacenter process"
          + " on",
      "loopback, with 1, 16 and 256 calls in flight, beside a plain Netty echo of frames of the"
          + " same",
      "sizes. Each is a process of its own, reached by one connection; they take turns."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class ClientCommand extends Experiment {
  private static final String KEYSPACE = "counters";
  private static final int COUNTERS = 1_000;

  private static final List<Integer> IN_FLIGHT = List.of(1, 16, 256);
  private static final String RATE = "operations/s";
  private static final String CPU = "server's µs/operation";
  private static final String SHARE = "% of the echo";
  private static final String ANSWERS = "answers";

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "how many threads make the calls; 0, as if not given: whoever hears an answer makes the"
              + " next call")
  private int threads;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description = "memory, or of a store: none, async, sync; ${DEFAULT-VALUE} unless given")
  private Durability durability = Durability.MEMORY;

  @Option(
      names = "--only",
      paramLabel = "WHAT",
      split = ",",
      description =
          "measure only 'reads', 'updates' or 'answers' (updates that tell the new value), some of"
              + " them in turn, with 256 in flight")
  private List<String> only = List.of();

  @Option(
      names = "--skewed",
      description =
          "some keys are asked for much more often than others (zipfian, 0.99), not in turn")
  private boolean skewed;

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  /** For picocli. */
  public ClientCommand() {}

  /** One kind of call. */
  private record Kind(String name, Driver.Target osier, Driver.Target echo) {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-client");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.label());
    results.note("keys", skewed ? "zipfian " + DrawnKeys.SKEW : "in turn");
    results.note("threads", threads == 0 ? "the client's own" : Integer.toString(threads));
    int echoPort = Ports.free();
    Process echo =
        Jvm.start(directory.resolve("echo.log"), "-Xmx512m", "bench", "echo", "--port=" + echoPort);
    try (OsierProcess server =
            OsierProcess.start(directory, KEYSPACE, durability, serverOptions.list(), "-Xmx512m");
        OsierClient client =
            OsierClient.builder()
                .name("bench")
                .endpoint("one", "127.0.0.1:" + server.port())
                .build();
        EchoClient plain = connect(echoPort)) {
      client.awaitConnected(Duration.ofSeconds(30));
      measure(results, kinds(client, plain), server.process());
    } finally {
      OsierProcess.stop(echo);
    }
    Directories.delete(directory);
  }

  private static EchoClient connect(int port) throws IOException, InterruptedException {
    for (int i = 0; ; i++) {
      try {
        return new EchoClient(port);
      } catch (IOException e) {
        if (i == 300) {
          throw e;
        }
        Thread.sleep(100); // it is starting
      }
    }
  }

  private List<Kind> kinds(OsierClient client, EchoClient plain) {
    Keyspace space = client.session().keyspace(KEYSPACE);
    List<CounterHandle> counters = new ArrayList<>();
    for (int i = 0; i < COUNTERS; i++) {
      counters.add(space.counter("counter-" + i));
    }
    counters.stream().map(c -> c.incrementAsync(1)).toList().forEach(CompletableFuture::join);
    IntSupplier next = skewed ? DrawnKeys.skewed(COUNTERS) : turns();
    // The frames as they are on the way: their sizes are what the echo sends and answers.
    long id = 1_000_000;
    Key key = Key.of("counter-555");
    Optional<CrdtType> type = Optional.of(CrdtType.PN_COUNTER);
    Dot dot = new Dot(new ReplicaId("one", System.currentTimeMillis()), 1_000_000);
    VersionVector seen = VersionVector.of(dot.replica(), dot.number());
    Request read =
        new Request.Read(KEYSPACE, key, type, new Query.Whole(), VersionVector.EMPTY, false, 5_000);
    Reply answer = new Reply.Answer(type, Optional.of(new Reading.Count(1_000)), true, seen);
    Request write =
        new Request.Write(
            KEYSPACE,
            key,
            CrdtType.PN_COUNTER,
            new Operation.Increment(1),
            VersionVector.EMPTY,
            5_000);
    Reply done = new Reply.Done(dot);
    Request asking =
        new Request.Write(
            KEYSPACE,
            key,
            CrdtType.PN_COUNTER,
            new Operation.Increment(1),
            VersionVector.EMPTY,
            5_000,
            Optional.of(new Request.Ask(false, new Query.Whole())));
    Reply told = new Reply.Done(dot, Optional.of((Reply.Answer) answer));
    Map<String, Kind> all = new LinkedHashMap<>();
    all.put(
        "reads",
        new Kind(
            "reads",
            target(() -> counters.get(next.getAsInt()).getAsync()),
            plain.target(
                ProtocolCodec.encode(id, read).length, ProtocolCodec.encode(id, answer).length)));
    all.put(
        "updates",
        new Kind(
            "updates",
            target(() -> counters.get(next.getAsInt()).incrementAsync(1)),
            plain.target(
                ProtocolCodec.encode(id, write).length, ProtocolCodec.encode(id, done).length)));
    all.put(
        ANSWERS,
        new Kind(
            ANSWERS,
            target(() -> counters.get(next.getAsInt()).incrementAndGetAsync(1)),
            plain.target(
                ProtocolCodec.encode(id, asking).length, ProtocolCodec.encode(id, told).length)));
    if (!all.keySet().containsAll(only)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "--only must be some of " + all.keySet() + ", not " + only);
    }
    all.keySet().removeIf(name -> only.isEmpty() ? name.equals(ANSWERS) : !only.contains(name));
    return List.copyOf(all.values());
  }

  private static IntSupplier turns() {
    AtomicInteger next = new AtomicInteger();
    return () -> Math.floorMod(next.getAndIncrement(), COUNTERS);
  }

  /** A call of the client library. */
  private interface Call {
    CompletableFuture<?> make();
  }

  private static Driver.Target target(Call call) {
    return done -> call.make().whenComplete((result, error) -> done.done(error == null));
  }

  private void measure(Results results, List<Kind> kinds, Process server)
      throws InterruptedException {
    List<Integer> inFlight = only.isEmpty() ? IN_FLIGHT : List.of(256);
    double seconds = quick() ? 2 : 5;
    System.out.println("warming up");
    for (Kind kind : kinds) {
      for (int i = 0; i < 2; i++) {
        Driver.run(kind.osier, 256, threads, quick() ? 4 : 8);
        Driver.run(kind.echo, 256, threads, quick() ? 2 : 4);
      }
    }
    for (int n : inFlight) {
      String workload = n + " in flight";
      for (int round = 1; round <= (quick() ? 2 : 5); round++) {
        for (Kind kind : kinds) {
          Duration before = OsierProcess.cpu(server);
          Driver.Outcome osier = Driver.run(kind.osier, n, threads, seconds);
          double micros =
              OsierProcess.cpu(server).minus(before).toNanos()
                  / 1e3
                  / osier.nanos().getTotalCount();
          add(results, workload, "osier " + kind.name, osier);
          results.add(workload, "osier " + kind.name, CPU, micros);
          Driver.Outcome echo = Driver.run(kind.echo, n, threads, seconds);
          add(results, workload, "echo " + kind.name, echo);
          double share = 100 * osier.perSecond() / echo.perSecond();
          results.add(workload, "osier " + kind.name, SHARE, share);
          System.out.printf(
              Locale.ROOT,
              "%s, %-7s %,10.0f/s, %.2f µs of the server; echo %,10.0f/s; %.1f %%%n",
              workload,
              kind.name,
              osier.perSecond(),
              micros,
              echo.perSecond(),
              share);
        }
      }
      System.out.println();
      System.out.println(results.table(workload));
    }
  }

  private static void add(
      Results results, String workload, String alternative, Driver.Outcome outcome) {
    Histogram nanos = outcome.nanos();
    results.add(workload, alternative, RATE, outcome.perSecond());
    results.add(workload, alternative, "p50 us", nanos.getValueAtPercentile(50) / 1e3);
    results.add(workload, alternative, "p99 us", nanos.getValueAtPercentile(99) / 1e3);
    results.add(workload, alternative, "p99.9 us", nanos.getValueAtPercentile(99.9) / 1e3);
    if (outcome.failures() > 0) {
      System.out.printf("%s: %,d calls failed%n", alternative, outcome.failures());
    }
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("client-rate", "The client library beside an echo of the same bytes", RATE);
    plots.bars("client-p99", "99 % of the calls are answered within", "p99 us");
  }
}
