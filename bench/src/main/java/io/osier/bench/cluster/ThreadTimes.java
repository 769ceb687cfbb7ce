package io.osier.bench.cluster;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * What each thread of a process that compiles for a JVM has taken so far, as Linux counts it: to
 * the nanosecond, where a process's own time is counted in hundredths of a second.
 *
 * @param nanos of a processor, by the thread's number; none if the system does not tell
 */
public record ThreadTimes(Map<Long, Long> nanos) {
  /** Those of a process. */
  public static ThreadTimes of(long pid) {
    Map<Long, Long> nanos = new HashMap<>();
    try (DirectoryStream<Path> each =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path one : each) {
        try {
          String name = Files.readString(one.resolve("comm"));
          if (name.startsWith("C1 ") || name.startsWith("C2 ")) {
            String[] times = Files.readString(one.resolve("schedstat")).strip().split(" ");
            nanos.put(Long.parseLong(one.getFileName().toString()), Long.parseLong(times[0]));
          }
        } catch (IOException e) {
          // It has ended in between.
        }
      }
    } catch (IOException e) {
      // Not Linux, or the process has ended.
    }
    return new ThreadTimes(nanos);
  }

  /** What the compilers took since then, in nanoseconds. */
  public long compilersSince(ThreadTimes before) {
    return nanos.entrySet().stream()
        .mapToLong(e -> e.getValue() - before.nanos.getOrDefault(e.getKey(), 0L))
        .sum();
  }
}
