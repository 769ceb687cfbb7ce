package io.osier.bench.cluster;

import io.osier.bench.Main;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts commands of this program as other processes, with the same Java and class path. */
public final class Jvm {
  /**
   * For processes that live for a minute and share two cores with others: compiling with C2 took
   * nearly half of the processor time of such a run, and was not worth it. Without C2 the code
   * cache has 48 MiB, and the serial collector stops for a full collection (150 to 400 ms) at 7 MiB
   * of new code; with the usual 240 MiB it does not in a minute.
   */
  public static final List<String> BRIEF =
      List.of("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m");

  /** Makes a process print each garbage collection to its log. */
  public static final String TELLS_COLLECTIONS = "-Xlog:gc:stdout";

  /**
   * Prefixes of the launcher's options of Java that this process passes on: those that the code
   * needs, and those of the start cache.
   */
  private static final List<String> INHERITED =
      List.of(
          "--",
          "-XX:+UseCompact",
          "-XX:AOTCache=",
          "-XX:SharedArchiveFile=",
          "-XX:+VerifySharedSpaces",
          "-Xlog:aot=",
          "-Xlog:cds=",
          "-Dosier.native.dir=");

  private Jvm() {}

  /**
   * Starts a command of the launcher.
   *
   * @param log the file that gets the output
   * @param options further options of Java
   * @param heap the heap's limit, as an option of Java
   */
  public static Process start(Path log, List<String> options, String heap, String... command)
      throws IOException {
    List<String> all = new ArrayList<>(options);
    all.add(heap);
    // The plainest collector: several of them share two cores.
    all.add("-XX:+UseSerialGC");
    return command(all, command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  /**
   * Returns a command of the launcher that is not yet started.
   *
   * @param options options of Java, besides those that this process passes on
   */
  public static ProcessBuilder command(List<String> options, String... command) {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(options);
    line.add("-D" + Main.PARENT + "=" + ProcessHandle.current().pid());
    line.addAll(inherited(ManagementFactory.getRuntimeMXBean().getInputArguments()));
    line.add("-cp");
    line.add(System.getProperty("java.class.path"));
    line.add(Main.class.getName());
    line.addAll(List.of(command));
    return new ProcessBuilder(line);
  }

  /** Ends a process, forcibly after ten seconds. */
  public static void stop(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Returns those options of Java that this process passes on. */
  static List<String> inherited(List<String> options) {
    return options.stream().filter(o -> INHERITED.stream().anyMatch(o::startsWith)).toList();
  }
}
