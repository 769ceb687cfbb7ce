package io.osier.datacenter.distribution;

import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The distribution as it was built, unpacked somewhere outside the repository. */
final class Unpacked {
  // Only a hang: a start cache takes ten seconds of processor time, which a busy machine gives
  // slowly.
  private static final Duration ATMOST = Duration.ofMinutes(15);

  private final Path scratch;
  private final Path home;
  private int runs;

  private Unpacked(Path scratch, Path home) {
    this.scratch = scratch;
    this.home = home;
  }

  /** Unpacks it below a directory, in a folder with a space in its name. */
  static Unpacked in(Path directory) throws Exception {
    Path folder = Files.createDirectories(directory.resolve("a folder"));
    Unpacked unpacked =
        new Unpacked(directory, folder.resolve("osier-" + System.getProperty("osier.version")));
    Ran tar =
        unpacked.run(
            folder, Map.of(), List.of("tar", "xzf", System.getProperty("osier.distribution")));
    if (tar.exit() != 0) {
      throw new IOException(tar.output());
    }
    return unpacked;
  }

  Path home() {
    return home;
  }

  List<String> libraries() throws IOException {
    try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
      return jars.map(j -> j.getFileName().toString()).sorted().toList();
    }
  }

  /** Its launcher, by a symbolic link elsewhere. */
  String launcher() {
    try {
      Path link = scratch.resolve("osier");
      if (!Files.isSymbolicLink(link)) {
        Files.createSymbolicLink(link, home.resolve("bin/osier"));
      }
      return link.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What a process did.
   *
   * @param output of both kinds
   */
  record Ran(int exit, String output) {}

  /** Runs the launcher until it ends. */
  Ran osier(Map<String, String> environment, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(launcher()));
    command.addAll(List.of(arguments));
    return run(scratch, environment, command);
  }

  /** Runs a program until it ends. */
  Ran run(Path folder, Map<String, String> environment, List<String> command) throws Exception {
    Path log = scratch.resolve("run-" + ++runs + ".log");
    Process process = begin(folder, environment, command, log);
    try {
      if (!process.waitFor(ATMOST.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException(command + " does not end: " + Files.readString(log));
      }
      return new Ran(process.exitValue(), Files.readString(log));
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process begin(
      Path folder, Map<String, String> environment, List<String> command, Path log)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .redirectInput(new File("/dev/null"));
    builder.environment().keySet().removeIf(name -> name.startsWith("OSIER_"));
    builder.environment().put("OSIER_JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    return builder.start();
  }

  /**
   * A datacenter that was started by the launcher and serves.
   *
   * @param clients where it serves them
   */
  record Server(Process process, Path log, String clients) implements AutoCloseable {
    String said() {
      try {
        return Files.readString(log);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** As SIGTERM does; gives the exit code. */
    int stop() throws InterruptedException {
      process.destroy();
      process.waitFor(ATMOST.toSeconds(), TimeUnit.SECONDS);
      return process.exitValue();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /**
   * Starts a datacenter with the keyspaces {@code shop} and {@code bank}, which is causal, and
   * waits until it serves.
   */
  Server server(Map<String, String> environment) throws IOException {
    int port = Ports.free();
    Path config = scratch.resolve("its own.conf");
    Files.writeString(
        config,
        """
        osier {
          dc = eu
          listen { client-port = %d, peer-port = 0 }
          store { dir = "data", min-free = 64MiB }
          keyspaces { shop { sla = 1s }, bank { consistency = causal, sla = 1s } }
        }
        """
            .formatted(port));
    Path log = scratch.resolve("server-" + ++runs + ".log");
    Process process =
        begin(
            scratch,
            environment,
            List.of(launcher(), "server", "--config", config.toString()),
            log);
    Server server = new Server(process, log, "127.0.0.1:" + port);
    try {
      await()
          .atMost(ATMOST)
          .failFast("the server has ended", () -> !process.isAlive())
          .until(() -> server.said().matches("(?s).*serves clients [0-9.]+ s .*after its start.*"));
    } catch (RuntimeException | Error e) {
      server.close();
      throw new IllegalStateException("no server: " + server.said(), e);
    }
    return server;
  }
}
