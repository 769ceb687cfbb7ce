package io.osier.bench.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Measures the live objects of another process after a full collection, by the JDK's jcmd. */
public final class LiveHeap {
  private static final Pattern TOTAL = Pattern.compile("^Total +\\d+ +(\\d+)", Pattern.MULTILINE);

  private LiveHeap() {}

  /**
   * Collects a process's garbage and returns the bytes of its live objects; empty if it does not
   * answer within a minute.
   */
  public static OptionalLong bytes(long pid) {
    try {
      Process jcmd =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  "-J-XX:TieredStopAtLevel=1",
                  "-J-XX:+UseSerialGC",
                  Long.toString(pid),
                  "GC.class_histogram")
              .redirectErrorStream(true)
              .start();
      // A process that is about to end does not answer.
      jcmd.onExit().orTimeout(60, TimeUnit.SECONDS).exceptionally(late -> jcmd.destroyForcibly());
      Matcher total = TOTAL.matcher(new String(jcmd.getInputStream().readAllBytes(), UTF_8));
      return total.find() ? OptionalLong.of(Long.parseLong(total.group(1))) : OptionalLong.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("this needs a whole JDK, with jcmd: " + e.getMessage(), e);
    }
  }
}
