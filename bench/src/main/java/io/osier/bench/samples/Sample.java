package io.osier.bench.samples;

import com.google.errorprone.annotations.FormatMethod;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Option;

/**
 * What the samples share: three datacenter processes with a causal keyspace, sessions that do
 * something at each of them, readers that check what they see, a link that is cut and healed and a
 * datacenter that is killed on the way.
 */
abstract class Sample implements Callable<Integer> {
  private static final int SESSIONS = 2;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      paramLabel = "N",
      description = "how long to run, at least 5 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(names = "--seed", defaultValue = "0", description = "seed of what is done; 0 draws one")
  private long seed;

  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong checks = new AtomicLong();
  private volatile boolean running = true;

  /** The keyspace's name. */
  abstract String keyspace();

  /** Makes what is there before the first session. */
  abstract void prepare(Keyspace keyspace);

  /** Does one thing; may throw what the client library throws. */
  abstract void act(Keyspace keyspace, String dc, Random random);

  /** Looks once at everything on one snapshot, and reports what is wrong with {@link #violated}. */
  abstract void check(Keyspace keyspace, String dc);

  /** Checks what holds only in the end. */
  abstract void checkEnd(Keyspace keyspace, String dc);

  /** What was done, for the last line. */
  abstract String summary();

  @FormatMethod
  final void violated(String format, Object... parameters) {
    violations.add(String.format(Locale.ROOT, format, parameters));
  }

  /** What was found wrong so far. */
  final List<String> violations() {
    return List.copyOf(violations);
  }

  /** How many acts have an outcome that is not known. */
  final long unknownOutcomes() {
    return unknown.get();
  }

  @Override
  public final Integer call() throws IOException {
    if (seconds < 5) {
      System.err.println("--seconds must be at least 5");
      return 2;
    }
    long used = seed == 0 ? new Random().nextInt(1_000_000) : seed;
    Path directory = Files.createTempDirectory("osier-sample");
    System.out.println("seed " + used + "; logs and data in " + directory);
    boolean good = false;
    try (LocalCluster cluster =
        new ClusterSettings(
                directory, "    " + keyspace() + " { consistency = causal, sla = 500ms }\n")
            .seed(used)
            .start()) {
      cluster.awaitReady(Duration.ofSeconds(60));
      run(cluster, used);
      good = violations.isEmpty();
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
    } finally {
      if (good) {
        Directories.delete(directory);
      }
    }
    violations.stream().limit(10).forEach(v -> System.out.println("VIOLATED: " + v));
    System.out.printf(
        Locale.ROOT,
        "%s; %d done, %d refused, %d of unknown outcome; %d snapshots checked, %d violations%n",
        summary(),
        done.get(),
        refused.get(),
        unknown.get(),
        checks.get(),
        violations.size());
    return good ? 0 : 1;
  }

  private void run(LocalCluster cluster, long used) {
    List<OsierClient> clients = new ArrayList<>();
    try {
      for (String dc : Topology.DCS) {
        clients.add(cluster.client(dc));
      }
      prepare(clients.getFirst().session().keyspace(keyspace()));
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < clients.size(); i++) {
        String dc = Topology.DCS.get(i);
        for (int s = 0; s < SESSIONS; s++) {
          Keyspace at = clients.get(i).session().keyspace(keyspace());
          Random random = new Random(used * 31 + i * (long) SESSIONS + s);
          threads.add(start("session " + dc + "-" + s, () -> acting(at, dc, random)));
        }
        Keyspace at = clients.get(i).session().keyspace(keyspace());
        threads.add(start("reader " + dc, () -> reading(at, dc)));
      }
      long part = seconds * 1_000_000_000L / 5;
      LockSupport.parkNanos(part);
      System.out.println("cutting the link of eu and ap");
      cluster.cut("eu", "ap");
      LockSupport.parkNanos(part);
      System.out.println("healing it, and killing us");
      cluster.heal("eu", "ap");
      cluster.kill("us");
      LockSupport.parkNanos(part / 2);
      cluster.start("us");
      LockSupport.parkNanos(2 * part);
      running = false;
      for (Thread thread : threads) {
        join(thread);
      }
      cluster.awaitReady(Duration.ofSeconds(60));
      LockSupport.parkNanos(3_000_000_000L);
      for (int i = 0; i < clients.size(); i++) {
        String dc = Topology.DCS.get(i);
        Keyspace end = clients.get(i).session().keyspace(keyspace());
        check(end, dc);
        checkEnd(end, dc);
      }
    } finally {
      running = false;
      clients.forEach(OsierClient::close);
    }
  }

  private static Thread start(String name, Runnable task) {
    return Thread.ofPlatform().name(name).daemon(true).start(task);
  }

  private static void join(Thread thread) {
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void acting(Keyspace keyspace, String dc, Random random) {
    while (running) {
      try {
        act(keyspace, dc, random);
        done.incrementAndGet();
      } catch (OutcomeUnknownException e) {
        unknown.incrementAndGet();
      } catch (OsierException e) {
        refused.incrementAndGet();
        if (!e.code().retryable() && e.code() != ErrorCode.TRANSACTION_ENDED) {
          violated("a session at %s was refused: %s: %s", dc, e.code(), e.getMessage());
        }
        LockSupport.parkNanos(20_000_000);
      }
    }
  }

  private void reading(Keyspace keyspace, String dc) {
    while (running) {
      try {
        check(keyspace, dc);
        checks.incrementAndGet();
      } catch (OsierException e) {
        LockSupport.parkNanos(20_000_000); // while its datacenter is away
      }
      LockSupport.parkNanos(5_000_000);
    }
  }
}
