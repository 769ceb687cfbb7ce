package io.osier.bench.cluster;

import com.google.errorprone.annotations.FormatMethod;
import io.osier.core.OsierException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command that puts datacenter processes under load and faults, and collects violations. This
 * class keeps the processes' folder, the seed of all random draws, and the verdict. The exit code
 * is 0 if there is no violation, and 1 if there is one or the trial could not be run.
 */
public abstract class Trial implements Callable<Integer> {
  /** How long datacenters may take to serve, or to become equal. */
  protected static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final int SHOWN_MAX = 20;

  @Option(names = "--seed", defaultValue = "0", description = "of all that is drawn; 0 draws one")
  private long seed;

  @Spec private CommandSpec spec;

  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

  /**
   * Returns the cluster's settings, without the seed.
   *
   * @throws ParameterException if an option is wrong, as {@link #require} throws it
   */
  protected abstract ClusterSettings settings(Path directory);

  /** Runs the trial on datacenters that serve. */
  protected abstract void run(LocalCluster cluster) throws Exception;

  protected final void require(boolean isRight, String what) {
    if (!isRight) {
      throw new ParameterException(spec.commandLine(), what);
    }
  }

  /** Returns the seed; it is drawn before {@link #run}. */
  protected final long seed() {
    return seed;
  }

  @FormatMethod
  protected static void say(String format, @Nullable Object... parameters) {
    System.out.println(String.format(Locale.ROOT, format, parameters));
  }

  /** Notes a violation. Thread-safe. */
  protected final void wrong(String what) {
    wrong.add(what);
  }

  /**
   * Stops loads, waits until the datacenters serve and are equal, and compares what they show with
   * the acknowledged updates.
   *
   * @param forgets whether datacenters may lack acknowledged updates, if all lack the same
   */
  protected final Contents compare(
      LocalCluster cluster, List<? extends WriterLoad> loads, boolean forgets) {
    loads.parallelStream().forEach(WriterLoad::stop);
    cluster.awaitReady(PATIENCE);
    Contents contents = Contents.of(cluster, PATIENCE, System.out::println, loads);
    System.out.println(contents);
    contents.faults(forgets).forEach(this::wrong);
    loads.forEach(load -> load.broken().forEach(this::wrong));
    return contents;
  }

  @Override
  public final Integer call() throws Exception {
    Path directory = Files.createTempDirectory("osier-" + spec.name());
    ClusterSettings settings;
    try {
      settings = settings(directory);
    } catch (ParameterException e) {
      Files.delete(directory);
      throw e;
    }
    seed = seed == 0 ? 1 + new Random().nextInt(1_000_000) : seed;
    say("seed %d; logs and data in %s", seed, directory);
    try (LocalCluster cluster = settings.seed(seed).start()) {
      cluster.awaitReady(PATIENCE);
      run(cluster);
    } catch (OsierException e) {
      wrong("it could not be run: " + e.code() + ": " + e.reason());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      wrong("interrupted");
    }
    if (wrong.isEmpty()) { // otherwise somebody will want to see them
      Directories.delete(directory);
      say("%s: all is right", spec.name());
      return 0;
    }
    wrong.stream().limit(SHOWN_MAX).forEach(w -> say("VIOLATED: %s", w));
    say(
        "%s: %d violations; again with: ./osier %s --seed %d",
        spec.name(),
        wrong.size(),
        String.join(" ", spec.root().commandLine().getParseResult().originalArgs())
            .replaceAll(" --seed[ =]\\S+", ""),
        seed);
    return 1;
  }
}
