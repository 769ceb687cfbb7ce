package io.osier.bench.experiment;

import static java.util.Objects.requireNonNull;

import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures alternatives one after the other, round by round, each first in turn, so that a machine
 * that becomes slower or faster does the same to all.
 */
record Turns(LocalCluster cluster, SetLoad load, Results results, int rounds) {
  /** Of the staleness bound: after about so long what is held of a hot object leaves again. */
  private static final double WINDOW_SHARE = 7 / 8.0;

  /** What is measured with a cluster. */
  interface Body {
    /** Measures. */
    void run(LocalCluster cluster, SetLoad load) throws InterruptedException;
  }

  /**
   * Starts a cluster of three datacenters that keep everything in memory, as the thesis's did, and
   * its clients, and ends them afterwards.
   *
   * @param what names it in what is printed
   * @param keyspaces the content of osier.keyspaces
   * @param settings further lines of osier's configuration
   */
  static void withCluster(
      String what, String keyspaces, String settings, SetLoad.Shape shape, Body body)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("osier-experiment");
    System.out.println(what + ": logs and data in " + directory);
    try (LocalCluster cluster =
        new ClusterSettings(directory, keyspaces)
            .store("dir = \"\"")
            .heap("-Xmx1g")
            .settings(settings)
            .start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      try (SetLoad load = new SetLoad(cluster, shape)) {
        body.run(cluster, load);
      }
    }
    Directories.delete(directory);
  }

  /** Makes the objects of the keyspaces and waits until the other datacenters have them. */
  void fill(Iterable<String> keyspaces, long settleMillis) {
    keyspaces.forEach(load::fill);
    LockSupport.parkNanos(settleMillis * 1_000_000L);
  }

  /** Runs each keyspace for so long, unmeasured, and waits until what is held has been shipped. */
  void warmUp(Iterable<String> keyspaces, double seconds, long settleMillis)
      throws InterruptedException {
    System.out.println("warming up");
    for (String keyspace : keyspaces) {
      load.run(keyspace, seconds, 0);
    }
    LockSupport.parkNanos(settleMillis * 1_000_000L);
  }

  /**
   * Measures.
   *
   * @param keyspaces by the name of the alternative, in their order
   * @param slaMillis their staleness bound: before the measurement the load runs so long and two
   *     seconds more, until as much leaves as is held and hot objects have been found; after it so
   *     long is waited, and a little more, until everything has been shipped
   * @param secondsMin the measurement is so long, or a little longer, so that it has whole windows
   */
  void measure(String workload, Map<String, String> keyspaces, long slaMillis, double secondsMin)
      throws InterruptedException {
    double lead = slaMillis / 1e3 + 2;
    double window = WINDOW_SHARE * slaMillis / 1e3;
    double seconds = window == 0 ? secondsMin : window * Math.ceil(secondsMin / window);
    List<String> names = List.copyOf(keyspaces.keySet());
    for (int round = 1; round <= rounds; round++) {
      for (int i = 0; i < names.size(); i++) {
        String name = names.get((i + round) % names.size());
        String keyspace = requireNonNull(keyspaces.get(name), name);
        List<Thread> threads = load.start(keyspace, lead + seconds + 1, round);
        LockSupport.parkNanos((long) (lead * 1e9));
        Meter meter = new Meter(cluster, load, keyspace);
        LockSupport.parkNanos((long) (seconds * 1e9));
        meter.stop();
        for (Thread thread : threads) {
          thread.join();
        }
        LockSupport.parkNanos((slaMillis + 500) * 1_000_000L);
        meter.add(results, workload, name);
      }
    }
  }
}
