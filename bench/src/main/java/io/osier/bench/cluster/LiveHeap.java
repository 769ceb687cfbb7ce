package io.osier.bench.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What another process's objects take after a full collection, as the JDK's jcmd counts it. */
public final class LiveHeap {
  private static final Pattern TOTAL = Pattern.compile("^Total +\\d+ +(\\d+)", Pattern.MULTILINE);

  private static final int SECONDS_MAX = 60;

  private LiveHeap() {}

  /** Collects a process's garbage; bytes of what is left, or nothing if it does not answer. */
  public static OptionalLong bytes(long pid) {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    List<String> command =
        List.of(
            jcmd,
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            Long.toString(pid),
            "GC.class_histogram");
    try {
      Path out = Files.createTempFile("osier-heap", ".txt");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
          process.destroyForcibly(); // a process that is about to end does not answer
          return OptionalLong.empty();
        }
        Matcher total = TOTAL.matcher(Files.readString(out));
        return total.find()
            ? OptionalLong.of(Long.parseLong(total.group(1)))
            : OptionalLong.empty();
      } finally {
        Files.delete(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("this needs a whole JDK, with jcmd: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return OptionalLong.empty();
    }
  }
}
