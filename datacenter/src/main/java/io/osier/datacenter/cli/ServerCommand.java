package io.osier.datacenter.cli;

import io.osier.core.OsierException;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Datacenter;
import java.io.File;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a datacenter until it is stopped. */
@Command(
    name = "server",
    mixinStandardHelpOptions = true,
    description = {
      "Runs one datacenter until it is stopped (SIGTERM or Ctrl-C shuts it down gracefully).",
      "",
      "The file holds the settings that differ from their defaults, for example:",
      "",
      "  osier {",
      "    dc = eu",
      "    peers { us = \"us.example:7401\", ap = \"ap.example:7401\" }",
      "    keyspaces { shop { sla = 2s } }",
      "  }",
      "",
      "docs/OPERATIONS.md explains every setting. Environment variables override the file:",
      "osier.listen.client-port is OSIER_LISTEN_CLIENT_PORT."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:stopped",
      "1:failed, or the configuration is wrong",
      "2:wrong usage",
      "3:the memory was used up; the last line says what helps"
    })
public final class ServerCommand implements Callable<Integer> {
  @Option(
      names = "--config",
      required = true,
      paramLabel = "FILE",
      description = "the configuration file")
  private File file;

  @Option(names = "--check", description = "check the configuration and exit")
  private boolean check;

  /** For picocli. */
  public ServerCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    Datacenter datacenter;
    try {
      DatacenterConfig config = ConfigReader.read(file, System.getenv());
      if (check) {
        System.out.println(file + " is correct");
        return 0;
      }
      OutOfMemoryExit memory = OutOfMemoryExit.install(whatHelps(config));
      datacenter = Datacenter.start(config);
      // Not by way of this thread: what is left to do there takes memory.
      datacenter.failure().whenComplete((nothing, error) -> memory.check(error));
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(datacenter::close, "osier-shutdown"));
    try {
      datacenter.failure().get();
      return 0;
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      System.err.println(
          cause instanceof OsierException o
              ? "error " + o.code() + ": " + o.getMessage()
              : "error INTERNAL: " + cause);
      return 1;
    }
  }

  private static String whatHelps(DatacenterConfig config) {
    String data =
        config.store().dir().isPresent()
            ? "a smaller osier.store.cache (%d MiB)".formatted(config.store().cacheBytes() >> 20)
            : "a directory in osier.store.dir (without one all data is kept in memory)";
    return "error OUT_OF_MEMORY: the datacenter ends, as its memory is used up (heap: %d MiB). What"
            .formatted(Runtime.getRuntime().maxMemory() >> 20)
        + " helps: more memory (OSIER_JAVA_OPTIONS=-Xmx2g), "
        + data
        + ", a smaller osier.queue or smaller osier.keyspace-defaults.limits";
  }
}
