package io.osier.bench.growth;

import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** More and more counters at one datacenter, all of them in memory, and a tenth of them. */
final class Sizes implements Part {
  private static final String ALL = "all in memory";
  private static final String TENTH = "a tenth in memory";
  private static final String CACHED = "% in memory";
  private static final String HEAP = "heap bytes/object";
  private static final String START = "start s";
  private static final String AFTER_KILL = "start after kill -9 s";

  /** The least that a datacenter takes for its cache. */
  private static final long CACHE_BYTES_MIN = 1 << 20;

  private static final long HEAP_MEBIBYTES_MIN = 512;

  /** Not quite half of it is for the cache, and a counter takes less than 100 bytes of that. */
  private static final long HEAP_BYTES_FOR_EACH = 400;

  /** Until the figures of each second are those of now, and what is written behind is written. */
  private static final long SETTLE_MILLIS = 2_000;

  private final List<Integer> sizes;

  Sizes(List<Integer> sizes) {
    this.sizes = List.copyOf(sizes);
  }

  @Override
  public String noun() {
    return "counter";
  }

  @Override
  public void measure(Results results, Scale scale, Path directory)
      throws IOException, InterruptedException {
    for (int size : sizes) {
      long heap = Math.max(HEAP_MEBIBYTES_MIN, (size * HEAP_BYTES_FOR_EACH) >> 20);
      One all = new One(results, scale, size, ALL, heap, (heap * 9 / 20) << 20);
      all.measure(directory.resolve(size + "-all"));
      long tenth = Math.max(CACHE_BYTES_MIN, all.cachedBytes / 10);
      new One(results, scale, size, TENTH, heap, tenth).measure(directory.resolve(size + "-tenth"));
    }
  }

  /** One size with one cache. */
  private final class One {
    private final Results results;
    private final Scale scale;
    private final int size;
    private final String workload;
    private final String alternative;
    private final String heap;
    private final long cacheBytes;
    private long cachedBytes;

    One(
        Results results,
        Scale scale,
        int size,
        String alternative,
        long heapMebibytes,
        long cacheBytes) {
      this.results = results;
      this.scale = scale;
      this.size = size;
      this.workload = workload(size);
      this.alternative = alternative;
      this.heap = "-Xmx" + heapMebibytes + "m";
      this.cacheBytes = cacheBytes;
    }

    void measure(Path directory) throws IOException, InterruptedException {
      Files.createDirectories(directory);
      try (Counters counters = start(directory)) {
        long empty = counters.heapBytes();
        counters.fill();
        counters.run(scale.warmUp());
        Thread.sleep(SETTLE_MILLIS);
        cachedBytes = counters.figure("cached_bytes");
        double shareCached = 100.0 * counters.figure("cached_keys") / size;
        for (int round = 0; round < scale.rounds(); round++) {
          counters.measure(results, workload, alternative, scale.seconds());
        }
        Thread.sleep(SETTLE_MILLIS);
        results.add(workload, alternative, HEAP, (double) (counters.heapBytes() - empty) / size);
        results.add(workload, alternative, CACHED, shareCached);
      }
      for (int round = 0; round < scale.rounds(); round++) {
        Counters started = start(directory);
        add(START, started.startSeconds());
        started.run(scale.seconds()); // so that there is something that is in the log alone
        started.kill();
        try (Counters again = start(directory)) {
          add(AFTER_KILL, again.startSeconds());
        }
      }
      Directories.delete(directory);
    }

    private Counters start(Path directory) throws IOException {
      return Counters.start(directory, cacheBytes + "B", "sla = 2s", heap, size);
    }

    private void add(String metric, double seconds) {
      results.add(workload, alternative, metric, seconds);
      System.out.printf(Locale.ROOT, "%s, %s: %s: %.2f%n", workload, alternative, metric, seconds);
    }
  }

  @Override
  public void plot(Plots plots) throws IOException {
    String axis = "counters";
    plots.lines("growth-size-rate", "Updates a second", axis, RATE, true, this::owns);
    plots.lines("growth-size-cpu", "Processor time of an update", axis, CPU, true, this::owns);
    plots.lines("growth-size-heap", "Heap of an object", axis, HEAP, true, this::owns);
    plots.lines("growth-size-start", "A start", axis, START, true, this::owns);
    plots.lines("growth-size-kill", "A start after kill -9", axis, AFTER_KILL, true, this::owns);
  }
}
