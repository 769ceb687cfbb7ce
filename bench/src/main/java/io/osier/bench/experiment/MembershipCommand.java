package io.osier.bench.experiment;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Datacenters join, leave and die while others serve. */
@Command(
    name = "membership",
    mixinStandardHelpOptions = true,
    description = {
      "Three datacenters under load at two of them: a fourth one joins, one leaves, the fourth is"
          + " killed and given up,",
      "and the one that left comes again with nothing. Prints how long each took, the lowest",
      "throughput of two seconds beside that before, late shipments of those that stayed, and at",
      "the end what is missing or counted twice."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:nothing lost, nothing counted twice, all equal",
      "1:something was, or it could not be run",
      "2:wrong usage"
    })
public final class MembershipCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String KEYSPACE = "k";
  private static final List<String> STAYING = List.of("eu", "us");
  private static final String LEAVING = "ap";
  private static final String FOURTH = "au";
  private static final long SAMPLE_NANOS = 500_000_000;
  private static final int SAMPLES = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @Option(
      names = "--rate",
      defaultValue = "4000",
      paramLabel = "N",
      description = "updates a second at the two that stay (default: ${DEFAULT-VALUE})")
  private int rate;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      paramLabel = "N",
      description = "how long each pause between two changes is (default: ${DEFAULT-VALUE})")
  private int seconds;

  /** For picocli. */
  public MembershipCommand() {}

  /** Something that is done while the load goes on. */
  private interface Change {
    void run() throws IOException;
  }

  @Override
  public Integer call() throws IOException {
    if (rate < 2 || seconds < 3) {
      System.err.println("--rate must be at least 2, --seconds at least 3");
      return 2;
    }
    Path directory = Files.createTempDirectory("osier-membership");
    boolean isGood;
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    " + KEYSPACE + " { sla = 2s }\n")
            .later(List.of(FOURTH))
            .start()) {
      STAYING.forEach(dc -> cluster.awaitReady(dc, PATIENCE));
      cluster.awaitReady(LEAVING, PATIENCE);
      isGood = run(cluster);
    }
    if (isGood) {
      Directories.delete(directory);
    } else {
      System.out.println("logs and data are in " + directory);
    }
    return isGood ? 0 : 1;
  }

  private boolean run(LocalCluster cluster) throws IOException {
    try (OsierClient operator = cluster.only("us");
        CounterLoad load = new CounterLoad(STAYING, cluster::only, KEYSPACE, "", rate, 20_000, 1);
        CounterLoad leaving =
            new CounterLoad(List.of(LEAVING), cluster::only, KEYSPACE, "l", rate / 4, 5_000, 2)) {
      System.out.println("warming up for " + 2 * seconds + " s");
      LockSupport.parkNanos(2L * seconds * 1_000_000_000L);
      double before = during(cluster, "nothing changes", load, 0, () -> pause(seconds));
      during(
          cluster,
          "au joins",
          load,
          before,
          () -> {
            operator.admin().addDatacenterAsync(FOURTH, cluster.peerAddress(FOURTH)).join();
            cluster.start(FOURTH);
            await(() -> state(operator, FOURTH).equals("active"));
          });
      pause(seconds);
      during(
          cluster,
          "ap leaves, with its clients at work",
          load,
          before,
          () -> {
            operator.admin().removeDatacenterAsync(LEAVING, false).join();
            await(() -> !cluster.isAlive(LEAVING));
            cluster.ended(LEAVING);
          });
      leaving.stop();
      pause(seconds);
      during(
          cluster,
          "au is killed, and given up",
          load,
          before,
          () -> {
            cluster.kill(FOURTH);
            await(() -> isDone(operator, FOURTH));
            await(() -> state(operator, FOURTH).equals("removed"));
          });
      pause(seconds);
      during(
          cluster,
          "ap comes again, with nothing",
          load,
          before,
          () -> {
            Directories.delete(cluster.directory().resolve("data").resolve(LEAVING));
            operator.admin().addDatacenterAsync(LEAVING, cluster.peerAddress(LEAVING)).join();
            cluster.start(LEAVING);
            await(() -> state(operator, LEAVING).equals("active"));
          });
      pause(seconds);
      load.stop();
      return check(cluster, List.of(load, leaving));
    }
  }

  /** Whether the cluster gives a dead one up: not as long as its connection seems to be open. */
  private static boolean isDone(OsierClient operator, String dc) {
    try {
      operator.admin().removeDatacenterAsync(dc, true).join();
      return true;
    } catch (CompletionException e) {
      if (e.getCause() instanceof OsierException) {
        return false;
      }
      throw e;
    }
  }

  private static String state(OsierClient operator, String dc) {
    return stateIn(operator.admin().listDatacentersAsync().join(), dc);
  }

  /**
   * What a list of datacenters says of one.
   *
   * @param list as JSON
   * @return its state; empty if it is not in the list
   */
  static String stateIn(String list, String dc) {
    try {
      for (JsonNode one : JSON.readTree(list).path("datacenters")) {
        if (one.path("name").asText().equals(dc)) {
          return one.path("state").asText();
        }
      }
      return "";
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void pause(int seconds) {
    LockSupport.parkNanos(seconds * 1_000_000_000L);
  }

  private static void await(BooleanSupplier done) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("it is not done after " + PATIENCE);
      }
      LockSupport.parkNanos(50_000_000);
    }
  }

  /**
   * Measures the load at those that stay while something is done, and for two seconds more.
   *
   * @param before what it was before anything was done; 0 if that is measured now
   * @return updates a second
   */
  private double during(
      LocalCluster cluster, String what, CounterLoad load, double before, Change change)
      throws IOException {
    long late = late(cluster);
    long failures = load.failures();
    long start = System.nanoTime();
    Sampler sampler = new Sampler(load);
    Thread samples = Thread.ofPlatform().daemon().start(sampler);
    change.run();
    double took = (System.nanoTime() - start) / 1e9;
    pause(2);
    sampler.stopping = true;
    try {
      samples.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    double lowest = sampler.lowest();
    System.out.printf(
        Locale.ROOT,
        "%-36s %6.1f s; %,.0f updates/s, lowest in two seconds %,.0f%s; late shipments %d, failed"
            + " updates %d%n",
        what,
        took,
        sampler.mean(),
        lowest,
        before == 0 ? "" : " (%.0f %%)".formatted(100 * lowest / before),
        late(cluster) - late,
        load.failures() - failures);
    return sampler.mean();
  }

  /** Shipments of those that stay that became visible too late, at each other. */
  private static long late(LocalCluster cluster) {
    long late = 0;
    for (String dc : STAYING) {
      JsonNode keyspace =
          cluster.inspect(dc, Request.Topic.STAT, 0).path("keyspaces").path(KEYSPACE);
      late += keyspace.path("sla_violations").asLong();
    }
    return late;
  }

  private static boolean check(LocalCluster cluster, List<CounterLoad> loads) {
    List<String> members = List.of("eu", "us", LEAVING);
    List<OsierClient> clients = new ArrayList<>();
    try {
      members.forEach(dc -> clients.add(cluster.only(dc)));
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      List<CounterLoad.Audit> audits;
      boolean equal;
      do {
        LockSupport.parkNanos(1_000_000_000L);
        audits = new ArrayList<>();
        List<List<Keyspace.Row>> rows = new ArrayList<>();
        for (OsierClient client : clients) {
          rows.add(Contents.rows(client.session().keyspace(KEYSPACE)));
          for (CounterLoad load : loads) {
            audits.add(load.audit(rows.getLast()));
          }
        }
        equal = rows.stream().allMatch(rows.getFirst()::equals);
      } while ((!equal || audits.stream().anyMatch(a -> a.missing() > 0))
          && System.nanoTime() < deadline);
      long missing = audits.stream().mapToLong(CounterLoad.Audit::missing).sum();
      long surplus = audits.stream().mapToLong(CounterLoad.Audit::surplus).sum();
      System.out.printf(
          Locale.ROOT,
          "%,d updates acknowledged; missing %d, counted twice %d, %s%n",
          loads.stream().mapToLong(CounterLoad::done).sum(),
          missing,
          surplus,
          equal ? "all equal" : "NOT EQUAL");
      return equal && missing == 0 && surplus == 0;
    } finally {
      clients.forEach(OsierClient::close);
    }
  }

  /** Counts the load's updates, twice a second. */
  private static final class Sampler implements Runnable {
    private final CounterLoad load;
    private final List<Long> counts = new ArrayList<>();
    private volatile boolean stopping;

    Sampler(CounterLoad load) {
      this.load = load;
    }

    @Override
    public void run() {
      long next = System.nanoTime();
      while (!stopping) {
        counts.add(load.done());
        next += SAMPLE_NANOS;
        LockSupport.parkNanos(Math.max(0, next - System.nanoTime()));
      }
      counts.add(load.done());
    }

    private double mean() {
      double samples = Math.max(1, counts.size() - 1);
      return (counts.getLast() - counts.getFirst()) / (samples * SAMPLE_NANOS / 1e9);
    }

    /** The least in any two seconds. */
    private double lowest() {
      long lowest = Long.MAX_VALUE;
      for (int i = SAMPLES; i < counts.size() - 1; i++) {
        lowest = Math.min(lowest, counts.get(i) - counts.get(i - SAMPLES));
      }
      return lowest == Long.MAX_VALUE ? mean() : lowest / (SAMPLES * SAMPLE_NANOS / 1e9);
    }
  }
}
