package io.osier.datacenter.cli;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Build;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.StartWatch;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
  private static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);

  /**
   * OpenTelemetry's, which has words of its own for each batch of spans that is not taken: that is
   * said once, by what sends them. Kept here, because a level is forgotten with its logger.
   */
  private static final java.util.logging.Logger EXPORTER =
      java.util.logging.Logger.getLogger("io.opentelemetry.exporter");

  /** Finer than what anybody sees of a start. */
  private static final long READY_POLL_MILLIS = 20;

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
    StartWatch watch =
        new StartWatch(System.nanoTime())
            .before("Java", Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime()));
    DatacenterConfig config;
    Datacenter first;
    OutOfMemoryExit memory;
    Optional<AuditFile> audit;
    try {
      config = ConfigReader.read(file, System.getenv());
      if (check) {
        System.out.println(file + " is correct");
        return 0;
      }
      LogNames.install(config.dc());
      EXPORTER.setLevel(java.util.logging.Level.OFF);
      memory = OutOfMemoryExit.install(whatHelps(config));
      audit = config.auditFile().map(f -> AuditFile.open(f, config.dc()));
      watch.done("configuration", System.nanoTime());
      first = Datacenter.start(config, watch, () -> audit.map(AuditFile::lost).orElse(Map.of()));
      // Not before: what is wrong must be the first line of a container's log.
      LOG.info(
          "osier {} on Java {}, {} processors, a heap of {} MiB",
          Build.ofThisProgram(),
          Runtime.version(),
          Runtime.getRuntime().availableProcessors(),
          Runtime.getRuntime().maxMemory() >> 20);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
    AtomicReference<Datacenter> running = new AtomicReference<>(first);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  running.get().close();
                  audit.ifPresent(AuditFile::close);
                },
                "osier-shutdown"));
    try {
      while (true) {
        Datacenter datacenter = running.get();
        try {
          await(datacenter, watch, memory);
          return 0;
        } catch (ExecutionException e) {
          if (!datacenter.isReadOnly() || !isFull(e.getCause())) {
            throw e;
          }
          LOG.info("the store's disk has room again: the datacenter starts anew");
          datacenter.close();
          running.set(
              Datacenter.start(
                  config,
                  new StartWatch(System.nanoTime()),
                  () -> audit.map(AuditFile::lost).orElse(Map.of())));
        }
      }
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      System.err.println(
          cause instanceof OsierException o
              ? "error " + o.code() + ": " + o.getMessage()
              : "error INTERNAL: " + cause);
      return 1;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
  }

  private static boolean isFull(Throwable cause) {
    return cause instanceof OsierException o && o.code() == ErrorCode.STORE_FULL;
  }

  /** Until it has ended. */
  private static void await(Datacenter datacenter, StartWatch watch, OutOfMemoryExit memory)
      throws InterruptedException, ExecutionException {
    // Not by way of this thread: what is left to do there takes memory.
    datacenter.failure().whenComplete((nothing, error) -> memory.check(error));
    awaitReady(datacenter);
    if (datacenter.isReady()) {
      watch.done("catch-up", System.nanoTime());
      LOG.info("serves clients {} after its start", watch);
    }
    datacenter.failure().get();
  }

  /** Until it serves, or never will. */
  private static void awaitReady(Datacenter datacenter) throws InterruptedException {
    while (!datacenter.isReady() && !datacenter.failure().isDone()) {
      Thread.sleep(READY_POLL_MILLIS);
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
