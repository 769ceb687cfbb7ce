package io.osier.bench.client;

import io.osier.bench.cluster.Jvm;
import io.osier.core.net.Ports;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** One datacenter alone, as a process. */
public record OsierProcess(Process process, int port) implements AutoCloseable {
  /** Its name. */
  public static final String DC = "one";

  /** Where and how well updates are kept. */
  public enum Durability {
    /** Without a store. */
    MEMORY,
    /** In a store that is not waited for. */
    NONE,
    /** In a store, once the operating system has them. */
    ASYNC,
    /** In a store, once the disk has them. */
    SYNC;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Starts it, with one keyspace; as the other one. */
  static OsierProcess start(
      Path directory, String keyspace, Durability durability, List<String> options, String heap)
      throws IOException {
    return start(directory, List.of(keyspace), durability, options, heap);
  }

  /**
   * Starts it.
   *
   * @param directory for its log and its data
   * @param keyspaces their names
   * @param options of Java
   * @param heap its limit, as an option of Java
   */
  static OsierProcess start(
      Path directory,
      List<String> keyspaces,
      Durability durability,
      List<String> options,
      String heap)
      throws IOException {
    return start(
        directory,
        durability == Durability.MEMORY ? "dir = \"\"" : store(directory, durability),
        keyspaces.stream()
            .map(keyspace -> keyspace + " { sla = 2s }")
            .collect(Collectors.joining(", ")),
        options,
        heap);
  }

  /** What a file says of a store in a directory, to which more can be added after a comma. */
  public static String store(Path directory, Durability durability) {
    return "dir = \""
        + directory.resolve("data").toAbsolutePath()
        + "\", durability = "
        + durability.label();
  }

  /**
   * As the other ones; started again in the same directory it goes on with what it has stored.
   *
   * @param store the content of osier.store
   * @param keyspaces the content of osier.keyspaces
   */
  public static OsierProcess start(
      Path directory, String store, String keyspaces, List<String> options, String heap)
      throws IOException {
    int port = Ports.free();
    Path config = directory.resolve("one.conf");
    Files.writeString(
        config,
        """
        osier {
          dc = %s
          cluster = bench
          listen { client-port = %d, peer-port = %d }
          store { %s }
          keyspaces { %s }
        }
        """
            .formatted(DC, port, Ports.free(), store, keyspaces));
    Process process =
        Jvm.start(log(directory), options, heap, "server", "--config", config.toString());
    return new OsierProcess(process, port);
  }

  /** The output of the last one that was started in a directory. */
  public static Path log(Path directory) {
    return directory.resolve("one.log");
  }

  /** A client of it, not yet connected. */
  public OsierClient client(String name) {
    return OsierClient.builder().name(name).endpoint(DC, "127.0.0.1:" + port).build();
  }

  /** The processor time that a process has taken so far. */
  public static Duration cpu(Process process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Ends a process. */
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

  @Override
  public void close() {
    stop(process);
  }
}
