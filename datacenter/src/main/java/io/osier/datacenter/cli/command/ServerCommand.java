package io.osier.datacenter.cli.command;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Build;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.StartWatch;
import io.osier.datacenter.server.Startup;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a datacenter until it is stopped. */
@Command(
    name = "server",
    mixinStandardHelpOptions = true,
    description = {
      "Runs one datacenter until it is stopped (SIGTERM or Ctrl-C shuts it down " + "gracefully).",
      "",
      "Without --config it is one datacenter for this machine alone: on loopback, with "
          + "the keyspace default, its store in ./osier-data and its page at "
          + "http://127.0.0.1:7402. osier init writes a file to go on from. With --redis "
          + "clients of Redis are served, too, at port 6379.",
      "",
      "The file holds the settings that differ from their defaults, for example:",
      "",
      "  osier {",
      "    dc = eu",
      "    peers { us = \"us.example:7401\", ap = \"ap.example:7401\" }",
      "    keyspaces { shop { sla = 2s } }",
      "  }",
      "",
      "share/osier-reference.conf explains every setting. Environment variables override the "
          + "file: osier.listen.client-port is OSIER_LISTEN_CLIENT_PORT."
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
   * OpenTelemetry's logger, which is switched off: it would log each batch of refused spans, which
   * the exporter already logs once. Kept in a field, because a level is lost when its logger is
   * collected.
   */
  private static final java.util.logging.Logger EXPORTER =
      java.util.logging.Logger.getLogger("io.opentelemetry.exporter");

  /** How long a step of the start may still take after the process was told to stop. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

  /** Finer than the precision with which start times are shown. */
  private static final long READY_POLL_MILLIS = 20;

  /** The longest pause between starts if the store's disk is found full again and again. */
  private static final long ANEW_MILLIS_MAX = 60_000;

  private static final long ANEW_MILLIS = 5_000;

  @Option(names = "--config", paramLabel = "FILE", description = "the configuration file")
  private @Nullable File file;

  @ArgGroup private @Nullable Place place;

  @Option(
      names = "--redis",
      description =
          "without --config: also serve clients of Redis, at port 6379 (the store's directory is"
              + " osier-redis-data by default)")
  private boolean redis;

  @Option(
      names = "--check",
      description =
          "check the configuration, and whether the store, the ports and the certificates can be"
              + " used, and exit")
  private boolean check;

  private final Map<String, String> environment;

  /** Where a datacenter without a configuration file keeps its data. */
  private static final class Place {
    @Option(
        names = "--dir",
        paramLabel = "DIR",
        description = "without --config: the store's directory (default: osier-data)")
    private @Nullable String dir;

    @Option(names = "--memory", description = "without --config: keep all data in memory")
    private boolean memory;
  }

  @Spec private @Nullable CommandSpec spec;

  /** For picocli. */
  public ServerCommand() {
    this(System.getenv());
  }

  ServerCommand(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Makes a command with a configuration file.
   *
   * @param environment variables that override the file
   */
  public ServerCommand(File file, Map<String, String> environment) {
    this(environment);
    this.file = file;
  }

  @Override
  public Integer call() throws InterruptedException {
    StartWatch watch =
        new StartWatch(System.nanoTime())
            .before("Java", Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime()));
    // Set up before anything is opened, as the process may be told to stop at any moment.
    Startup startup = new Startup();
    try {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> startup.stop(STOP_PATIENCE), "osier-shutdown"));
    } catch (IllegalStateException e) {
      return 0; // the process is already stopping
    }
    try (startup) {
      return run(watch, startup);
    }
  }

  /**
   * Reads the configuration.
   *
   * @param warnings takes texts about ignored settings, which may be mistakes
   */
  DatacenterConfig configuration(List<String> warnings) {
    if (file != null) {
      if (place != null) {
        throw wrong(
            "--dir and --memory are for a start without --config; in a file it is osier.store.dir");
      }
      if (redis) {
        throw wrong(
            "--redis is for a start without --config; in a file it is osier.listen.redis-port");
      }
      return ConfigReader.read(file, environment, warnings::add);
    }
    String usual = redis ? StarterConfig.REDIS_DIR : StarterConfig.DIR;
    String dir = place == null || place.dir == null ? usual : place.dir;
    if (dir.isBlank()) {
      throw wrong("--dir must name a directory; --memory keeps all data in memory");
    }
    String store = place != null && place.memory ? "" : Path.of(dir).toAbsolutePath().toString();
    DatacenterConfig config =
        ConfigReader.read(
            StarterConfig.SOURCE, StarterConfig.text(store, redis), environment, warnings::add);
    Optional<Path> asked =
        store.isEmpty() ? Optional.empty() : Optional.of(Path.of(store, config.dc()));
    if (place != null && !config.store().dir().equals(asked)) {
      warnings.add(
          "OSIER_STORE_DIR in the environment overrides --dir and --memory; data: "
              + config.store().dir().map(Path::toString).orElse("in memory"));
    }
    return config;
  }

  private ParameterException wrong(String what) {
    return new ParameterException(requireNonNull(spec).commandLine(), what);
  }

  private int run(StartWatch watch, Startup startup) throws InterruptedException {
    DatacenterConfig config;
    Datacenter datacenter;
    OutOfMemoryExit memory;
    Optional<AuditFile> audit;
    List<String> warnings = new ArrayList<>();
    try {
      config = configuration(warnings);
      if (check) {
        List<String> problems = ServerCheck.problems(config);
        problems.forEach(problem -> System.err.println("error: " + problem));
        if (problems.isEmpty()) {
          System.out.println((file == null ? StarterConfig.SOURCE : file) + " is correct");
        }
        warnings.forEach(ServerCommand::printWarning);
        return problems.isEmpty() ? 0 : 1;
      }
      LogNames.install(config.dc());
      EXPORTER.setLevel(java.util.logging.Level.OFF);
      memory = OutOfMemoryExit.install(whatHelps(config));
      String dc = config.dc();
      audit = config.auditFile().map(f -> startup.opened(AuditFile.open(f, dc)));
      watch.done("configuration", System.nanoTime());
      startup.check();
      datacenter = start(config, watch, startup, audit);
      startup.started();
      // Not earlier: an error must be the first line of a container's log.
      LOG.info(
          "osier {} on Java {}, {} processors, a heap of {} MiB",
          Build.ofThisProgram(),
          Runtime.version(),
          Runtime.getRuntime().availableProcessors(),
          Runtime.getRuntime().maxMemory() >> 20);
      warnings.forEach(LOG::warn);
      if (file == null) {
        LOG.info(
            "{}",
            StarterConfig.whatNext(
                config, datacenter.clientPort(), datacenter.adminPort(), datacenter.redisPort()));
      }
    } catch (OsierException e) {
      if (e.code() == ErrorCode.SHUTTING_DOWN) {
        LOG.info("the start is abandoned: {}", e.reason());
        return 0;
      }
      System.err.println("error " + e.code() + ": " + e.reason());
      warnings.forEach(ServerCommand::printWarning); // an ignored setting may be the missing one
      return 1;
    }
    try {
      long pauseMillis = 0;
      while (true) {
        try {
          await(datacenter, watch, memory);
          return 0;
        } catch (ExecutionException e) {
          if (!datacenter.isReadOnly() || !isFull(e.getCause())) {
            throw e;
          }
          Thread.sleep(pauseMillis); // it answers reads meanwhile
          LOG.info("the store's disk has room again: the datacenter starts anew");
          datacenter.close();
          startup.startsAnew(datacenter);
          datacenter = start(config, new StartWatch(System.nanoTime()), startup, audit);
          startup.started();
          pauseMillis = datacenter.isReadOnly() ? longerPauseMillis(pauseMillis) : 0;
        }
      }
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      System.err.println(
          cause instanceof OsierException o
              ? "error " + o.code() + ": " + o.reason()
              : "error INTERNAL: " + cause);
      return 1;
    } catch (OsierException e) { // the new start has failed
      if (e.code() == ErrorCode.SHUTTING_DOWN) {
        return 0;
      }
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
  }

  private static void printWarning(String warning) {
    System.err.println("warning: " + warning);
  }

  private static Datacenter start(
      DatacenterConfig config, StartWatch watch, Startup startup, Optional<AuditFile> audit) {
    return startup.opened(
        Datacenter.start(
            config, watch, startup, () -> audit.map(AuditFile::lost).orElse(Map.of())));
  }

  /** Returns the pause after a start that found the disk full although there had been room. */
  static long longerPauseMillis(long pauseMillis) {
    return Math.min(Math.max(2 * pauseMillis, ANEW_MILLIS), ANEW_MILLIS_MAX);
  }

  private static boolean isFull(@Nullable Throwable cause) {
    return cause instanceof OsierException o && o.code() == ErrorCode.STORE_FULL;
  }

  private static void await(Datacenter datacenter, StartWatch watch, OutOfMemoryExit memory)
      throws InterruptedException, ExecutionException {
    // Not by this thread, whose remaining work needs memory.
    datacenter.failure().whenComplete((nothing, error) -> memory.check(error));
    awaitReady(datacenter);
    if (datacenter.isReady()) {
      watch.done("catch-up", System.nanoTime());
      LOG.info("serves clients {} after its start", watch);
    }
    datacenter.failure().get();
  }

  private static void awaitReady(Datacenter datacenter) throws InterruptedException {
    while (!datacenter.isReady() && !datacenter.failure().isDone()) {
      Thread.sleep(READY_POLL_MILLIS);
    }
  }

  private static String whatHelps(DatacenterConfig config) {
    String data =
        config.store().dir().isPresent()
            ? "a smaller osier.store.cache (" + (config.store().cacheBytes() >> 20) + " MiB)"
            : "a directory in osier.store.dir (without one all data is kept in memory)";
    return "error OUT_OF_MEMORY: the datacenter ends, as its memory is used up (heap: "
        + (Runtime.getRuntime().maxMemory() >> 20)
        + " MiB). What helps: more memory (OSIER_JAVA_OPTIONS=-Xmx2g), "
        + data
        + ", a smaller osier.queue or smaller osier.keyspace-defaults.limits";
  }
}
