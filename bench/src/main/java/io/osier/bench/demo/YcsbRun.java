package io.osier.bench.demo;

import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** One process of YCSB (workload A, zipfian), and what its summary says. */
final class YcsbRun {
  private static final String STARTED = "Starting test.";
  private static final String THREADS = "24";

  private final Process process;
  private final Path log;

  private YcsbRun(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** Inserts the records. */
  static YcsbRun load(LocalCluster cluster, Path directory, int records) throws IOException {
    return start(cluster, directory.resolve("ycsb-load.log"), "-load", records, List.of());
  }

  /** Reads and updates them, half of each. */
  static YcsbRun transactions(
      LocalCluster cluster, Path directory, int records, int target, int seconds)
      throws IOException {
    List<String> pace =
        List.of("-target", Integer.toString(target), "-p", "maxexecutiontime=" + seconds);
    return start(cluster, directory.resolve("ycsb.log"), "-t", records, pace);
  }

  private static YcsbRun start(
      LocalCluster cluster, Path log, String what, int records, List<String> pace)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("ycsb", what, "-threads", THREADS));
    command.addAll(List.of("-p", "workload=site.ycsb.workloads.CoreWorkload"));
    for (String property :
        List.of(
            "table=" + DemoCommand.YCSB,
            "recordcount=" + records,
            "operationcount=" + 100_000_000,
            "readproportion=0.5",
            "updateproportion=0.5",
            "scanproportion=0",
            "insertproportion=0",
            "requestdistribution=zipfian",
            "fieldcount=10",
            "fieldlength=20",
            "osier.endpoints=" + cluster.endpoints(),
            "osier.dc=" + String.join(",", cluster.dcs()))) {
      command.addAll(List.of("-p", property));
    }
    command.addAll(pace);
    Process process = Jvm.start(log, Jvm.BRIEF, "-Xmx256m", command.toArray(new String[0]));
    return new YcsbRun(cluster.owns("ycsb " + what, process), log);
  }

  /** Waits until it does its first operation, or has ended, or that takes too long. */
  void awaitStarted(Duration atMost) throws IOException {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (process.isAlive() && System.nanoTime() < deadline && !hasStarted()) {
      LockSupport.parkNanos(20_000_000);
    }
  }

  private boolean hasStarted() throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.anyMatch(l -> l.startsWith(STARTED));
    }
  }

  /** Waits until it has ended, and ends it if that takes too long. */
  void await(Duration atMost) {
    try {
      if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  Path log() {
    return log;
  }

  long reads() throws IOException {
    return summary("[READ], Return=OK,");
  }

  long updates() throws IOException {
    return summary("[UPDATE], Return=OK,");
  }

  long inserts() throws IOException {
    return summary("[INSERT], Return=OK,");
  }

  long failures() throws IOException {
    return summary("[READ-FAILED], Operations,") + summary("[UPDATE-FAILED], Operations,");
  }

  /** How long the operations took, all together. */
  double seconds() throws IOException {
    return Math.max(1e-3, summary("[OVERALL], RunTime(ms),") / 1e3);
  }

  private long summary(String prefix) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .filter(l -> l.startsWith(prefix))
          .mapToLong(l -> (long) Double.parseDouble(l.substring(prefix.length()).trim()))
          .sum();
    }
  }
}
