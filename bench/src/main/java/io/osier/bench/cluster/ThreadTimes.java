package io.osier.bench.cluster;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What each thread of a process has taken so far, as Linux counts it: to the nanosecond, where a
 * process's own time is counted in hundredths of a second.
 */
public final class ThreadTimes {
  private static final ThreadTimes NOTHING = new ThreadTimes(Map.of());

  /** By the thread's number. */
  private final Map<Long, Named> threads;

  private record Named(String name, Taken taken) {}

  /**
   * What was taken.
   *
   * @param nanos of a processor
   * @param turns how often it was put on a processor: at least as often as it woke
   */
  public record Taken(long nanos, long turns) {
    private Taken plus(Taken other) {
      return new Taken(nanos + other.nanos, turns + other.turns);
    }

    private Taken minus(Taken other) {
      return new Taken(nanos - other.nanos, turns - other.turns);
    }
  }

  private ThreadTimes(Map<Long, Named> threads) {
    this.threads = threads;
  }

  /** Those of a process; of no thread if the system does not tell. */
  public static ThreadTimes of(long pid) {
    Map<Long, Named> threads = new HashMap<>();
    Path all = Path.of("/proc", Long.toString(pid), "task");
    if (!Files.isDirectory(all)) {
      return NOTHING;
    }
    try (DirectoryStream<Path> each = Files.newDirectoryStream(all)) {
      for (Path one : each) {
        try {
          String[] times = Files.readString(one.resolve("schedstat")).strip().split(" ");
          threads.put(
              Long.parseLong(one.getFileName().toString()),
              new Named(
                  Files.readString(one.resolve("comm")).strip(),
                  new Taken(Long.parseLong(times[0]), Long.parseLong(times[2]))));
        } catch (IOException e) {
          // It has ended in between.
        }
      }
    } catch (IOException e) {
      return NOTHING; // not Linux, or the process has ended
    }
    return new ThreadTimes(threads);
  }

  /** What was taken since then, by the threads' names: those of one name together. */
  public Map<String, Taken> since(ThreadTimes before) {
    Map<String, Taken> since = new LinkedHashMap<>();
    threads.forEach(
        (number, thread) -> {
          Named then = before.threads.get(number);
          Taken taken = then == null ? thread.taken : thread.taken.minus(then.taken);
          since.merge(thread.name, taken, Taken::plus);
        });
    return since;
  }

  /** What the JIT compilers of a JVM took of it since then, in nanoseconds. */
  public long compilersSince(ThreadTimes before) {
    return since(before).entrySet().stream()
        .filter(t -> t.getKey().startsWith("C1 ") || t.getKey().startsWith("C2 "))
        .mapToLong(t -> t.getValue().nanos())
        .sum();
  }
}
