package io.osier.bench.soak;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What another process's objects take after a full collection, as the JDK's jcmd counts it. */
final class LiveHeap {
  private static final Pattern TOTAL = Pattern.compile("^Total +\\d+ +(\\d+)", Pattern.MULTILINE);

  private LiveHeap() {}

  /** Collects a process's garbage; bytes of what is left, or nothing if it does not answer. */
  static OptionalLong bytes(long pid) {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    List<String> command =
        List.of(
            jcmd,
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            Long.toString(pid),
            "GC.class_histogram");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (InputStream out = process.getInputStream()) {
        Matcher total = TOTAL.matcher(new String(out.readAllBytes(), StandardCharsets.UTF_8));
        return total.find()
            ? OptionalLong.of(Long.parseLong(total.group(1)))
            : OptionalLong.empty();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("soak needs a whole JDK, with jcmd: " + e.getMessage(), e);
    }
  }
}
