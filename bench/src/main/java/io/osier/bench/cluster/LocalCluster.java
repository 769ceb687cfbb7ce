package io.osier.bench.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Datacenter processes on loopback, with emulated links between them: three unless more are asked
 * for.
 */
public final class LocalCluster implements AutoCloseable {
  /** The datacenters where no other number is asked for. */
  public static final List<String> DCS = List.of("eu", "us", "ap");

  /**
   * All names in the order in which clusters grow: the regions first, then a second one in each.
   */
  private static final List<String> NAMES =
      List.of("eu", "us", "ap", "au", "sa", "eu2", "us2", "ap2", "au2", "sa2");

  /** Most datacenters of a cluster. */
  public static final int DCS_MAX = 10;

  private static final String HEAP = "-Xmx512m";

  /** Added to the delay of every link, evenly from 0 to this, in milliseconds. */
  public static final double JITTER_MILLIS = 3;

  /** Between two datacenters of one region, one way. */
  private static final double REGION_MILLIS = 1;

  /** Between regions, one way, in milliseconds: of eu-us there and back are 80. */
  private static final Map<String, Double> DELAYS =
      Map.of(
          "eu-us", 40.0, "us-ap", 60.0, "eu-ap", 20.0, "eu-au", 120.0, "us-au", 90.0, "ap-au", 55.0,
          "eu-sa", 95.0, "us-sa", 60.0, "ap-sa", 130.0, "au-sa", 150.0);

  private static final WanQuality NARROW = new WanQuality(500, 50, 125_000);

  private final List<String> dcs;
  private final Path directory;
  private final Path data;
  private final String keyspaces;
  private final String store;
  private final String heap;
  private final String settings;
  private final WanEmulator wan;
  private final Map<String, Integer> peerPorts = new LinkedHashMap<>();
  private final Map<String, Integer> starts = new ConcurrentHashMap<>();

  /** The last reports of processes that were killed. */
  private final List<JsonNode> former = new CopyOnWriteArrayList<>();

  private final Set<String> down = ConcurrentHashMap.newKeySet();
  private final Map<String, Integer> clientPorts = new LinkedHashMap<>();
  private final Map<String, Process> processes = new ConcurrentHashMap<>();
  private final ObjectMapper json = new ObjectMapper();
  private OsierClient inspector;

  /**
   * Starts the processes.
   *
   * @param directory where configurations and logs go
   * @param data where the datacenters keep their data
   * @param store further settings of osier.store
   * @param keyspaces the content of osier.keyspaces
   * @param seed of the links' jitter
   */
  public LocalCluster(Path directory, Path data, String store, String keyspaces, long seed) {
    this(directory, data, store, keyspaces, HEAP, "", seed);
  }

  /**
   * As the other one.
   *
   * @param heap the limit of each process's heap, as an option of Java
   * @param settings further lines of osier's configuration
   */
  public LocalCluster(
      Path directory,
      Path data,
      String store,
      String keyspaces,
      String heap,
      String settings,
      long seed) {
    this(DCS, directory, data, store, keyspaces, heap, settings, seed);
  }

  /**
   * As the other ones, with other datacenters.
   *
   * @param dcs their names, of those that {@link #names} gives
   */
  public LocalCluster(
      List<String> dcs,
      Path directory,
      Path data,
      String store,
      String keyspaces,
      String heap,
      String settings,
      long seed) {
    this.dcs = List.copyOf(dcs);
    this.heap = heap;
    this.settings = settings;
    this.directory = directory;
    this.data = data;
    this.store = store;
    this.keyspaces = keyspaces;
    this.wan = new WanEmulator(seed);
    for (String dc : dcs) {
      clientPorts.put(dc, freePort());
      peerPorts.put(dc, freePort());
    }
    for (String from : dcs) {
      for (String to : dcs) {
        if (!from.equals(to)) {
          WanQuality quality = new WanQuality(delayMillis(from, to), JITTER_MILLIS, 0);
          InetSocketAddress target = new InetSocketAddress("127.0.0.1", peerPorts.get(to));
          wan.open(from + "-" + to, 0, target, quality, quality);
        }
      }
    }
    dcs.forEach(this::start);
  }

  /**
   * The names of a cluster's datacenters.
   *
   * @param count how many, 1 to {@link #DCS_MAX}
   */
  public static List<String> names(int count) {
    return NAMES.subList(0, count);
  }

  /** How long a frame takes from one datacenter to another, without jitter. */
  public static double delayMillis(String from, String to) {
    String one = region(from);
    String two = region(to);
    if (one.equals(two)) {
      return REGION_MILLIS;
    }
    Double delay = DELAYS.get(one + "-" + two);
    return delay == null ? DELAYS.get(two + "-" + one) : delay;
  }

  private static String region(String dc) {
    return dc.substring(0, 2);
  }

  /** The datacenters, whether they run or not. */
  public List<String> dcs() {
    return dcs;
  }

  /** A port that is free, below those that outgoing connections get, so that none takes it. */
  public static int freePort() {
    for (int i = 0; i < 1_000; i++) {
      int port = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // In use: another one.
      }
    }
    throw new IllegalStateException("no port is free between 12000 and 32000");
  }

  /** Starts a datacenter, or starts it again. */
  public void start(String dc) {
    StringBuilder peers = new StringBuilder();
    for (String other : dcs) {
      if (!other.equals(dc)) {
        peers.append(
            "    " + other + " = \"127.0.0.1:" + wan.link(dc + "-" + other).port() + "\"\n");
      }
    }
    String config =
        """
        osier {
          dc = %s
          cluster = demo
          listen { client-port = %d, peer-port = %d }
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
                data.toAbsolutePath(),
                store,
                settings,
                peers,
                keyspaces);
    try {
      Path file = directory.resolve(dc + ".conf");
      Files.writeString(file, config);
      int number = starts.merge(dc, 1, Integer::sum);
      Path log = directory.resolve(dc + (number == 1 ? "" : "-" + number) + ".log");
      processes.put(dc, Jvm.start(log, heap, "server", "--config", file.toString()));
      down.remove(dc);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills a datacenter's process as kill -9 does. */
  public void kill(String dc) {
    end(dc, Process::destroyForcibly);
  }

  /** Stops a datacenter's process gracefully, as SIGTERM does. */
  public void stop(String dc) {
    end(dc, Process::destroy);
  }

  private void end(String dc, Consumer<Process> how) {
    try {
      former.add(inspect(dc, Request.Topic.STAT, 0));
    } catch (OsierException e) {
      // It was too busy to answer; its counts are missing in the sums.
    }
    down.add(dc);
    Process process = processes.get(dc);
    how.accept(process);
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The CPU time of all datacenters' processes since they began. */
  public Duration cpu() {
    Duration sum = Duration.ZERO;
    for (String dc : running()) {
      sum = sum.plus(processes.get(dc).info().totalCpuDuration().orElse(Duration.ZERO));
    }
    return sum;
  }

  /** What a datacenter's process takes of the machine's memory, in MiB; 0 if that is not known. */
  public long residentMebibytes(String dc) {
    Path status = Path.of("/proc", Long.toString(processes.get(dc).pid()), "status");
    try {
      for (String line : Files.readAllLines(status)) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
        }
      }
    } catch (IOException e) {
      // Not Linux, or the process has ended.
    }
    return 0;
  }

  /** The datacenters that run. */
  List<String> running() {
    return dcs.stream().filter(dc -> !down.contains(dc)).toList();
  }

  /** The last reports of processes that were killed. */
  List<JsonNode> former() {
    return former;
  }

  /**
   * Waits until all datacenters serve.
   *
   * @throws OsierException UNAVAILABLE if one does not within the time
   */
  public void awaitReady(Duration atMost) {
    if (inspector == null) {
      OsierClient.Builder builder = OsierClient.builder().name("demo");
      clientPorts.forEach((dc, port) -> builder.endpoint(dc, "127.0.0.1:" + port));
      inspector = builder.build();
    }
    long deadline = System.nanoTime() + atMost.toNanos();
    dcs.forEach(dc -> awaitReady(dc, deadline));
  }

  /** Waits until one datacenter serves, as {@link #awaitReady(Duration)} must have done before. */
  public void awaitReady(String dc, Duration atMost) {
    awaitReady(dc, System.nanoTime() + atMost.toNanos());
  }

  private void awaitReady(String dc, long deadline) {
    while (!isReady(dc)) {
      if (!processes.get(dc).isAlive() || System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            "datacenter " + dc + " did not start; see its log in " + directory);
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  /** Whether a datacenter serves. */
  public boolean isReady(String dc) {
    try {
      for (JsonNode keyspace : inspect(dc, Request.Topic.STAT, 0).get("keyspaces")) {
        if (!keyspace.get("ready").asBoolean()) {
          return false;
        }
      }
      return true;
    } catch (OsierException e) {
      return false;
    }
  }

  /** Asks a datacenter what it is doing. */
  public JsonNode inspect(String dc, Request.Topic topic, int limit) {
    try {
      return json.readTree(
          inspector.inspectAsync(dc, topic, Optional.empty(), limit).get(10, TimeUnit.SECONDS));
    } catch (Exception e) {
      throw new OsierException(ErrorCode.UNAVAILABLE, dc + " gives no report: " + e, e);
    }
  }

  /** A client that prefers one datacenter but knows all. */
  public OsierClient client(String dc) {
    OsierClient.Builder builder = OsierClient.builder().name("demo").prefer(dc);
    clientPorts.forEach((name, port) -> builder.endpoint(name, "127.0.0.1:" + port));
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }

  /** A client that reaches one datacenter only, to compare what each holds. */
  public OsierClient only(String dc) {
    OsierClient client =
        OsierClient.builder().name("demo").endpoint(dc, "127.0.0.1:" + clientPorts.get(dc)).build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }

  /** Where a datacenter listens for clients, on 127.0.0.1. */
  int clientPort(String dc) {
    return clientPorts.get(dc);
  }

  /** The endpoints as YCSB's property wants them. */
  public String endpoints() {
    List<String> all = new ArrayList<>();
    clientPorts.forEach((dc, port) -> all.add(dc + "=127.0.0.1:" + port));
    return String.join(",", all);
  }

  /** Makes the links between two datacenters as bad as they are on a bad day: 1 Mbit/s, 500 ms. */
  public void narrow(String one, String two) {
    become(one, two, NARROW);
  }

  /** Ends {@link #narrow}. */
  public void widen(String one, String two) {
    become(one, two, new WanQuality(delayMillis(one, two), JITTER_MILLIS, 0));
  }

  private void become(String one, String two, WanQuality quality) {
    wan.link(one + "-" + two).become(quality);
    wan.link(two + "-" + one).become(quality);
  }

  /** Cuts both links between two datacenters, both ways. */
  public void cut(String a, String b) {
    wan.cut(a + "-" + b);
    wan.cut(b + "-" + a);
  }

  /** Heals both links between two datacenters. */
  public void heal(String a, String b) {
    wan.heal(a + "-" + b);
    wan.heal(b + "-" + a);
  }

  /** Bytes on all links, both ways. */
  public long wanBytes() {
    return wan.bytes();
  }

  /** Has a process ended together with the datacenters, at the latest. */
  public Process owns(String name, Process process) {
    processes.put(name, process);
    return process;
  }

  /** May be called by the shutdown hook and the demo at once. */
  @Override
  public synchronized void close() {
    if (inspector != null) {
      inspector.close();
    }
    processes.values().forEach(Process::destroy);
    for (Process process : processes.values()) {
      try {
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
    wan.close();
  }
}
