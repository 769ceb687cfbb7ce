package io.osier.bench.fleet;

import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Fleet;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Writes to datacenters that others have started, and checks that no acknowledged update is lost.
 */
@Command(
    name = "load",
    mixinStandardHelpOptions = true,
    description =
        "Writes counters and sets to all datacenters given, some of them hot. At the end, after "
            + "--seconds or when it is stopped, every acknowledged update must be at every "
            + "datacenter, exactly once, and all of them must be equal.")
public final class LoadCommand implements Callable<Integer> {
  private static final Duration READY_MAX = Duration.ofMinutes(2);
  private static final Duration SETTLE_MAX = Duration.ofMinutes(1);
  private static final int NOTES_SECONDS = 60;

  /** The most elements that are added to sets: the load remembers each, and may never end. */
  private static final long ELEMENTS_MAX = 100_000;

  @Option(
      names = "--endpoints",
      required = true,
      split = ",",
      paramLabel = "NAME=HOST:PORT",
      description = "the datacenters' client addresses, with commas between them")
  private Map<String, String> endpoints;

  @Option(names = "--keyspace", defaultValue = "shop", description = "default: shop")
  private String keyspace;

  @Option(
      names = "--target",
      defaultValue = "600",
      paramLabel = "OPS",
      description = "updates per second to aim at (default: ${DEFAULT-VALUE})")
  private int target;

  @Option(names = "--seconds", defaultValue = "0", description = "0: until it is stopped (default)")
  private int seconds;

  @Option(
      names = "--say",
      paramLabel = "TEXT",
      description = "a line to print when all serve, and now and then; may be given several times")
  private List<String> notes = List.of();

  @Spec private CommandSpec spec;

  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile int exitCode = 1;

  @Override
  public Integer call() throws InterruptedException {
    if (target < 10) {
      throw new ParameterException(spec.commandLine(), "--target must be at least 10");
    }
    Runtime.getRuntime().addShutdownHook(new Thread(this::stopped, "load-stop"));
    try (Fleet fleet = new Fleet("load", endpoints)) {
      exitCode = run(fleet);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
    } finally {
      ended.countDown();
    }
    return exitCode;
  }

  /** Handles SIGTERM: compares the datacenters first, and ends the process with that result. */
  private void stopped() {
    if (ended.getCount() == 0) {
      return; // it has ended by itself
    }
    stop.countDown();
    try {
      if (!ended.await(SETTLE_MAX.toSeconds(), TimeUnit.SECONDS)) {
        System.out.println("stopped before the datacenters could be compared");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    System.out.flush();
    Runtime.getRuntime().halt(exitCode);
  }

  private int run(Fleet fleet) throws InterruptedException {
    long deadline = System.nanoTime() + READY_MAX.toNanos();
    for (String dc : fleet.dcs()) {
      while (!fleet.isReady(dc)) {
        if (System.nanoTime() > deadline || stop.await(200, TimeUnit.MILLISECONDS)) {
          System.err.println("error UNAVAILABLE: datacenter " + dc + " does not serve");
          return 1;
        }
      }
    }
    System.out.println("all datacenters serve: " + endpoints);
    notes.forEach(System.out::println);
    // A prefix of this run, so that objects of former runs are not counted as surplus.
    String prefix = "load-" + Long.toString(System.currentTimeMillis(), 36) + ":";
    try (CounterLoad load =
        new CounterLoad(fleet.dcs(), fleet::client, keyspace, prefix, target, ELEMENTS_MAX, 1)) {
      write(load);
      load.stop();
      Contents contents = Contents.of(fleet, SETTLE_MAX, System.out::println, List.of(load));
      System.out.println(contents);
      List<String> faults = contents.faults(false);
      faults.forEach(fault -> System.out.println("FAILED: " + fault));
      return faults.isEmpty() ? 0 : 1;
    }
  }

  private void write(CounterLoad load) throws InterruptedException {
    long before = 0;
    for (int second = 1; seconds == 0 || second <= seconds; second++) {
      if (stop.await(1, TimeUnit.SECONDS)) {
        return;
      }
      if (second % NOTES_SECONDS == 0) {
        notes.forEach(System.out::println);
      }
      if (second % 5 == 0) {
        long done = load.done();
        System.out.printf(
            "%d updates/s | %d acknowledged, %d failed or unknown%n",
            (done - before) / 5, done, load.failures());
        before = done;
      }
    }
  }
}
