package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.protocol.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Datacenter processes on loopback, with emulated links between them. */
public final class LocalCluster extends Fleet {
  /** A line of Java's log about a collection that stops all threads. */
  private static final Pattern PAUSE = Pattern.compile("\\bPause .* (\\d+\\.\\d+)ms$");

  private final Thread atEnd = new Thread(this::close, "cluster-end");
  private boolean closed;
  private final ClusterSettings settings;
  private final PeerLinks links;
  private final Map<String, Integer> peerPorts = new LinkedHashMap<>();
  private final Map<String, Integer> clientPorts;
  private final Map<String, Integer> adminPorts = new LinkedHashMap<>();
  private final Map<String, Integer> starts = new ConcurrentHashMap<>();
  private final Map<String, Process> processes = new ConcurrentHashMap<>();
  private final Set<String> down = ConcurrentHashMap.newKeySet();

  /** The last reports of processes that were killed. */
  private final List<JsonNode> former = new CopyOnWriteArrayList<>();

  /** The last report of each running process, for when it is too busy to answer. */
  private final Map<String, JsonNode> stats = new ConcurrentHashMap<>();

  /** The processor time of processes that have ended. */
  private final LongAdder endedCpuNanos = new LongAdder();

  /** By datacenter, the port for clients while some run a former build. */
  private final Map<String, FormerPort> formerPorts;

  private LocalCluster(
      ClusterSettings settings,
      Map<String, Integer> clientPorts,
      Map<String, FormerPort> formerPorts) {
    super("demo", endpoints(clientPorts, formerPorts));
    this.settings = settings;
    this.clientPorts = clientPorts;
    this.formerPorts = formerPorts;
    for (String dc : dcs()) {
      peerPorts.put(dc, Ports.free());
      adminPorts.put(dc, Ports.free());
    }
    this.links = new PeerLinks(dcs(), peerPorts, settings.links, settings.seed);
    down.addAll(settings.later);
    // The hook is there before the first process, so that no process is left behind.
    Runtime.getRuntime().addShutdownHook(atEnd);
    try {
      settings.dcs.forEach(this::start);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  static LocalCluster start(ClusterSettings settings) {
    Map<String, Integer> clientPorts = new LinkedHashMap<>();
    settings.dcs.forEach(dc -> clientPorts.put(dc, Ports.free()));
    settings.later.forEach(dc -> clientPorts.put(dc, Ports.free()));
    Map<String, FormerPort> formerPorts = new LinkedHashMap<>();
    if (settings.former.isPresent()) {
      clientPorts.forEach((dc, port) -> formerPorts.put(dc, new FormerPort(port)));
    }
    return new LocalCluster(settings, clientPorts, formerPorts);
  }

  private static Map<String, String> endpoints(
      Map<String, Integer> ports, Map<String, FormerPort> formerPorts) {
    Map<String, String> endpoints = new LinkedHashMap<>();
    ports.forEach((dc, port) -> endpoints.put(dc, "127.0.0.1:" + port));
    formerPorts.forEach((dc, former) -> endpoints.put(dc, "127.0.0.1:" + former.port()));
    return endpoints;
  }

  /** Returns the directory of the configurations and logs. */
  public Path directory() {
    return settings.directory;
  }

  /** Starts a datacenter, or starts it again. */
  public synchronized void start(String dc) {
    if (closed) {
      throw new IllegalStateException("the cluster is closed");
    }
    try {
      Path file = settings.directory.resolve(dc + ".conf");
      Files.writeString(file, configuration(dc));
      int number = starts.merge(dc, 1, Integer::sum);
      Path log = log(dc, number);
      String[] command = {"server", "--config", file.toString()};
      processes.put(
          dc,
          settings.former.isPresent() && number == 1
              ? former(settings.former.get(), log, command)
              : Jvm.start(log, settings.javaOptions, settings.heap, command));
      down.remove(dc);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process former(Path distribution, Path log, String... command) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(distribution.resolve("bin").resolve("osier").toString());
    line.addAll(List.of(command));
    ProcessBuilder builder = new ProcessBuilder(line);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder
        .environment()
        .put("OSIER_JAVA_OPTIONS", settings.heap + " " + String.join(" ", settings.javaOptions));
    return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  private String configuration(String dc) {
    StringBuilder peers = new StringBuilder();
    for (String other : dcs()) {
      boolean isKnown =
          settings.later.contains(dc)
              ? other.equals(dcs().getFirst())
              : !settings.later.contains(other);
      if (!other.equals(dc) && isKnown) {
        peers.append("    " + other + " = \"127.0.0.1:" + links.port(dc, other) + "\"\n");
      }
    }
    return """
    osier {
      dc = %s
      cluster = demo
      listen { client-port = %d, peer-port = %d }
      admin { enabled = %s, port = %d }
      store { dir = "%s", %s }
      %s
      peers {
    %s  }
      keyspaces {
    %s  }
    }
    """
        .formatted(
            dc,
            clientPorts.get(dc),
            peerPorts.get(dc),
            settings.admin,
            adminPorts.get(dc),
            settings.directory.resolve("data").toAbsolutePath(),
            settings.store,
            settings.settings,
            peers,
            settings.keyspaces);
  }

  /** Kills a datacenter's process as kill -9 does, and waits for its end. */
  public void kill(String dc) {
    end(dc, Process::destroyForcibly);
  }

  /** Stops a datacenter's process gracefully, by SIGTERM, and waits for its end. */
  public void stop(String dc) {
    end(dc, Process::destroy);
  }

  private void end(String dc, Consumer<Process> how) {
    JsonNode stat = lastStat(dc);
    if (!stat.isNull()) {
      former.add(stat);
    }
    stats.remove(dc);
    down.add(dc);
    Process process = process(dc);
    endedCpuNanos.add(cpu(process).toNanos());
    how.accept(process);
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the processor time of all processes so far, including those that have ended. */
  public Duration cpu() {
    Duration sum = Duration.ofNanos(endedCpuNanos.sum());
    for (String dc : running()) {
      sum = sum.plus(cpu(process(dc)));
    }
    return sum;
  }

  private Process process(String dc) {
    return requireNonNull(processes.get(dc), dc);
  }

  private static Duration cpu(Process process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  public boolean isAlive(String dc) {
    return process(dc).isAlive();
  }

  public long pid(String dc) {
    return process(dc).pid();
  }

  public List<String> running() {
    return dcs().stream().filter(dc -> !down.contains(dc)).toList();
  }

  /** Returns a datacenter's report, or its last one if it does not answer; JSON's null if none. */
  JsonNode lastStat(String dc) {
    try {
      stats.put(dc, inspect(dc, Request.Topic.STAT, 0));
    } catch (OsierException e) {
      // It is being started, or too busy.
    }
    return stats.getOrDefault(dc, NullNode.getInstance());
  }

  /** The last reports of processes that were killed. */
  List<JsonNode> former() {
    return former;
  }

  /**
   * Waits until all datacenters serve.
   *
   * @throws OsierException UNAVAILABLE if a process ends, or one waits longer than the time
   */
  public void awaitReady(Duration atMost) {
    dcs().forEach(dc -> awaitReady(dc, atMost));
  }

  /** Waits until one datacenter serves. */
  public void awaitReady(String dc, Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (!isReady(dc)) {
      if (!process(dc).isAlive() || System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            "datacenter %s did not start; see its log in %s, which ends: %s"
                .formatted(
                    dc,
                    settings.directory,
                    lastLog(dc).stream()
                        .filter(line -> !line.isBlank())
                        .reduce("", (before, line) -> line)));
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  private Path log(String dc, int start) {
    return settings.directory.resolve(dc + (start == 1 ? "" : "-" + start) + ".log");
  }

  /** Returns the processor time of a datacenter's present process. */
  public Duration cpu(String dc) {
    return cpu(process(dc));
  }

  /** Returns the lines of a log; none if it cannot be read. */
  private List<String> lines(String dc, int start) {
    try {
      return Files.readAllLines(log(dc, start));
    } catch (IOException e) {
      return List.of();
    }
  }

  private List<String> lastLog(String dc) {
    return lines(dc, starts.getOrDefault(dc, 1));
  }

  /**
   * Returns the line of a datacenter's log on how long its last start took; empty if there is none.
   */
  public Optional<String> saysOfItsStart(String dc) {
    String words = "serves clients ";
    return lastLog(dc).stream()
        .filter(line -> line.contains(words) && line.endsWith(" after its start"))
        .map(line -> line.substring(line.indexOf(words)))
        .findFirst();
  }

  /**
   * Returns the pauses of a datacenter's processes for garbage collections, in milliseconds; needs
   * {@link Jvm#TELLS_COLLECTIONS}.
   */
  public List<Double> collectionsMillis(String dc) {
    return IntStream.rangeClosed(1, starts.getOrDefault(dc, 1))
        .boxed()
        .flatMap(start -> lines(dc, start).stream())
        .map(PAUSE::matcher)
        .filter(Matcher::find)
        .map(pause -> Double.valueOf(pause.group(1)))
        .toList();
  }

  /** Returns a datacenter's own address for peers, without an emulated link. */
  public String peerAddress(String dc) {
    return "127.0.0.1:" + requireNonNull(peerPorts.get(dc), dc);
  }

  /** Notes that a datacenter's process ends by itself, and waits for its end. */
  public void ended(String dc) {
    end(dc, process -> {});
  }

  /** Returns the ports of 127.0.0.1 at which the datacenters listen for clients. */
  Map<String, Integer> clientPorts() {
    return clientPorts;
  }

  /** Returns the URL of a datacenter's dashboard; the cluster needs admin ports. */
  public String dashboard(String dc) {
    return "http://127.0.0.1:" + adminPorts.get(dc) + "/";
  }

  public PeerLinks links() {
    return links;
  }

  /** Returns the bytes on all links, both ways. */
  public long wanBytes() {
    return links.bytes();
  }

  /** Ends all processes. The shutdown hook and the demo may call it at once. */
  @Override
  public synchronized void close() {
    closed = true;
    super.close();
    processes.values().forEach(Process::destroy);
    processes.values().forEach(Jvm::stop);
    links.close();
    formerPorts.values().forEach(FormerPort::close);
    try {
      Runtime.getRuntime().removeShutdownHook(atEnd);
    } catch (IllegalStateException e) {
      // The process ends, and the hook is at work.
    }
  }
}
