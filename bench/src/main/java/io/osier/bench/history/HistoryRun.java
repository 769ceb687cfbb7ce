package io.osier.bench.history;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.LocalCluster;
import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One run: a cluster, sessions, faults, and the last reads.
 *
 * @param sessions how many at a time
 * @param keys how many registers
 * @param rate transactions per second to aim at, of all sessions
 * @param faults how many at once
 */
record HistoryRun(
    Durability durability, Duration time, int sessions, int keys, int rate, int faults, long seed) {
  static final String KEYSPACE = "history";
  private static final Duration START = Duration.ofSeconds(60);
  private static final long LAST_CALL_MILLIS = 60_000;

  /** Runs; what was done and seen is in the recorder. */
  Recorder run(Path directory) throws InterruptedException {
    Recorder recorder = new Recorder(durability.isLossy());
    Random random = new Random(seed);
    try (LocalCluster cluster =
        new ClusterSettings(
                directory, "    " + KEYSPACE + " { consistency = causal, sla = 500ms }\n")
            .store(durability.setting())
            .seed(seed)
            .start()) {
      cluster.awaitReady(START);
      try (ClientLinks links = new ClientLinks(cluster, seed)) {
        disturbed(cluster, links, recorder, random);
      }
      new LastReads(recorder, keys).run(cluster);
    }
    return recorder;
  }

  private void disturbed(LocalCluster cluster, ClientLinks links, Recorder recorder, Random random)
      throws InterruptedException {
    List<OsierClient> clients = new ArrayList<>();
    Races races = new Races();
    AtomicBoolean running = new AtomicBoolean(true);
    try {
      for (String dc : cluster.dcs()) {
        clients.add(links.client(dc));
      }
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < sessions; i++) {
        RandomSession session =
            new RandomSession(
                clients,
                cluster.dcs(),
                recorder,
                races,
                keys,
                1_000_000_000L * sessions / rate,
                running::get,
                new Random(random.nextLong()));
        threads.add(Thread.ofPlatform().name("session-" + i).daemon(true).start(session));
      }
      new Disturbances(cluster, links, recorder).run(faults, time, random);
      running.set(false);
      for (Thread thread : threads) {
        thread.join(LAST_CALL_MILLIS);
        if (thread.isAlive()) {
          recorder.broken(thread.getName() + " hangs");
        }
      }
    } finally {
      running.set(false);
      clients.forEach(OsierClient::close);
    }
  }
}
