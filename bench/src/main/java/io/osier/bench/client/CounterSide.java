package io.osier.bench.client;

import io.osier.bench.cluster.Jvm;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One alternative of a comparison: datacenter processes, and a client that increments counters. */
final class CounterSide implements AutoCloseable {
  static final String KEYSPACE = "counters";

  /** The processor time of the datacenters' processes. */
  static final String CPU = "servers' µs/operation";

  private static final int COUNTERS = 1_000;

  private final List<Process> processes = new ArrayList<>();
  private final OsierClient client;
  private final Driver.Target updates;

  /**
   * Starts the processes, and connects to the first.
   *
   * @param configs the datacenters' configurations
   * @param port the first one's for clients
   */
  CounterSide(Path directory, String name, List<String> configs, int port, Optional<TlsOptions> tls)
      throws IOException, InterruptedException {
    for (String text : configs) {
      String file = name + "-" + processes.size();
      Path config = directory.resolve(file + ".conf");
      Files.writeString(config, text);
      processes.add(
          Jvm.start(
              directory.resolve(file + ".log"),
              "-Xmx512m",
              "server",
              "--config",
              config.toString()));
    }
    OsierClient.Builder builder =
        OsierClient.builder().name("bench").endpoint("one", "127.0.0.1:" + port);
    tls.ifPresent(builder::tls);
    client = builder.build();
    client.awaitConnected(Duration.ofSeconds(60));
    Keyspace space = client.session().keyspace(KEYSPACE);
    List<CounterHandle> counters = new ArrayList<>();
    for (int i = 0; i < COUNTERS; i++) {
      counters.add(space.counter("counter-" + i));
    }
    AtomicInteger next = new AtomicInteger();
    updates =
        done ->
            counters
                .get(Math.floorMod(next.getAndIncrement(), COUNTERS))
                .incrementAsync(1)
                .whenComplete((result, error) -> done.done(error == null));
  }

  /** Increments for a while. */
  Driver.Outcome run(int inFlight, double seconds) throws InterruptedException {
    return Driver.run(updates, inFlight, 0, seconds);
  }

  /** The processor time that the processes have taken so far. */
  Duration cpu() {
    return processes.stream()
        .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }

  @Override
  public void close() {
    client.close();
    processes.forEach(Process::destroy);
  }
}
