package io.osier.bench.growth;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.bench.client.Driver;
import io.osier.bench.client.OsierProcess;
import io.osier.bench.client.OsierProcess.Durability;
import io.osier.bench.cluster.FirstAnswer;
import io.osier.bench.cluster.LiveHeap;
import io.osier.bench.experiment.Results;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/** A datacenter's process with so many counters, and a client that increments them, all alike. */
final class Counters implements AutoCloseable {
  static final String KEYSPACE = "counters";

  private static final int FILLED_AT_ONCE = 10_000;
  private static final Duration CONNECT_MAX = Duration.ofSeconds(30);

  private final OsierProcess server;
  private final OsierClient client;
  private final Keyspace keyspace;
  private final int count;
  private final double startSeconds;

  private Counters(OsierProcess server, int count, double startSeconds) {
    this.server = server;
    this.count = count;
    this.startSeconds = startSeconds;
    this.client = server.client("growth");
    this.keyspace = client.session().keyspace(KEYSPACE);
  }

  /**
   * Starts a process, and waits until it serves.
   *
   * @param directory of its log and its data: it goes on with what it has stored there
   * @param cache how much it may keep in memory, as a file has it
   * @param settings of their keyspace, as a file has them
   * @param heap its limit, as an option of Java
   * @param count how many counters there are, or will be
   * @throws OsierException UNAVAILABLE if it does not start
   */
  static Counters start(Path directory, String cache, String settings, String heap, int count)
      throws IOException {
    long began = System.nanoTime();
    OsierProcess server =
        OsierProcess.start(
            directory,
            OsierProcess.store(directory, Durability.ASYNC) + ", cache = " + cache,
            KEYSPACE + " { " + settings + " }",
            List.of(),
            heap);
    try {
      double seconds =
          FirstAnswer.seconds(
              server.process(),
              OsierProcess.DC,
              server.port(),
              KEYSPACE,
              began,
              OsierProcess.log(directory));
      Counters counters = new Counters(server, count, seconds);
      counters.client.awaitConnected(CONNECT_MAX);
      return counters;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** How long the process took until it had served its first client. */
  double startSeconds() {
    return startSeconds;
  }

  /** Increments each once. */
  void fill() {
    List<CompletableFuture<Void>> open = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      open.add(increment(i));
      if (open.size() == FILLED_AT_ONCE || i == count - 1) {
        open.forEach(CompletableFuture::join);
        open.clear();
      }
    }
  }

  private CompletableFuture<Void> increment(int number) {
    return keyspace.counter("k" + number).incrementAsync(1);
  }

  /** Increments them as fast as that is answered. */
  Driver.Outcome run(double seconds) throws InterruptedException {
    return Driver.run(
        done ->
            // Not drawn beforehand: what is drawn again and again would be what is cached.
            increment(ThreadLocalRandom.current().nextInt(count))
                .whenComplete((result, error) -> done.done(error == null)),
        Part.IN_FLIGHT,
        0,
        seconds);
  }

  /** As the other one, and adds what it came to. */
  void measure(Results results, String workload, String alternative, double seconds)
      throws InterruptedException {
    Duration before = OsierProcess.cpu(server.process());
    Driver.Outcome outcome = run(seconds);
    double nanos = OsierProcess.cpu(server.process()).minus(before).toNanos();
    double micros = nanos / 1e3 / Math.max(1, outcome.nanos().getTotalCount());
    results.add(workload, alternative, Part.RATE, outcome.perSecond());
    results.add(workload, alternative, Part.CPU, micros);
    System.out.printf(
        Locale.ROOT,
        "%s, %s: %,.0f updates/s, %.2f µs of the server%n",
        workload,
        alternative,
        outcome.perSecond(),
        micros);
    if (outcome.failures() > 0) {
      System.out.printf(Locale.ROOT, "%,d updates failed%n", outcome.failures());
    }
  }

  /** What the server's objects take of its heap, after a collection. */
  long heapBytes() {
    return LiveHeap.bytes(server.process().pid())
        .orElseThrow(
            () -> new OsierException(ErrorCode.UNAVAILABLE, "the datacenter tells no heap"));
  }

  /** A figure of the keyspace, as of a second ago. */
  long figure(String name) {
    try {
      JsonNode stat =
          new ObjectMapper()
              .readTree(
                  client
                      .inspectAsync(OsierProcess.DC, Request.Topic.STAT, Optional.empty(), 0)
                      .join());
      return stat.get("keyspaces").get(KEYSPACE).get(name).asLong();
    } catch (JsonProcessingException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the datacenter's report cannot be read", e);
    }
  }

  /** The server's process ends as by kill -9. */
  void kill() throws InterruptedException {
    server.process().destroyForcibly().waitFor();
    close();
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
