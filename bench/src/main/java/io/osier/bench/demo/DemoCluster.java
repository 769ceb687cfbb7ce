package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import io.osier.proxy.protocol.Request;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Three datacenter processes on loopback, with emulated links between them. */
final class DemoCluster implements AutoCloseable {
  static final List<String> DCS = List.of("eu", "us", "ap");

  private static final String HEAP = "-Xmx512m";
  private static final double JITTER_MILLIS = 3;

  /** One way, in milliseconds: there and back 80 (eu-us), 120 (us-ap) and 40 (eu-ap). */
  private static final Map<String, Double> DELAYS =
      Map.of(
          "eu-us", 40.0, "us-eu", 40.0, "us-ap", 60.0, "ap-us", 60.0, "eu-ap", 20.0, "ap-eu", 20.0);

  private final Path directory;
  private final WanEmulator wan;
  private final Map<String, Integer> clientPorts = new LinkedHashMap<>();
  private final Map<String, Process> processes = new ConcurrentHashMap<>();
  private final ObjectMapper json = new ObjectMapper();
  private OsierClient inspector;

  DemoCluster(Path directory, String keyspaces, long seed) {
    this.directory = directory;
    this.wan = new WanEmulator(seed);
    Map<String, Integer> peerPorts = new LinkedHashMap<>();
    for (String dc : DCS) {
      clientPorts.put(dc, freePort());
      peerPorts.put(dc, freePort());
    }
    for (String from : DCS) {
      for (String to : DCS) {
        if (!from.equals(to)) {
          WanQuality quality = new WanQuality(DELAYS.get(from + "-" + to), JITTER_MILLIS, 0);
          InetSocketAddress target = new InetSocketAddress("127.0.0.1", peerPorts.get(to));
          wan.open(from + "-" + to, 0, target, quality, quality);
        }
      }
    }
    DCS.forEach(dc -> start(dc, peerPorts.get(dc), keyspaces));
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void start(String dc, int peerPort, String keyspaces) {
    StringBuilder peers = new StringBuilder();
    for (String other : DCS) {
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
          peers {
        %s  }
          keyspaces {
        %s  }
        }
        """
            .formatted(dc, clientPorts.get(dc), peerPort, peers, keyspaces);
    try {
      Path file = directory.resolve(dc + ".conf");
      Files.writeString(file, config);
      processes.put(
          dc,
          Jvm.start(directory.resolve(dc + ".log"), HEAP, "server", "--config", file.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until all datacenters serve. */
  void awaitReady(Duration atMost) {
    OsierClient.Builder builder = OsierClient.builder().name("demo");
    clientPorts.forEach((dc, port) -> builder.endpoint(dc, "127.0.0.1:" + port));
    inspector = builder.build();
    long deadline = System.nanoTime() + atMost.toNanos();
    for (String dc : DCS) {
      while (!isReady(dc)) {
        if (!processes.get(dc).isAlive() || System.nanoTime() > deadline) {
          throw new OsierException(
              ErrorCode.UNAVAILABLE,
              "datacenter " + dc + " did not start; see " + directory.resolve(dc + ".log"));
        }
        LockSupport.parkNanos(50_000_000);
      }
    }
  }

  private boolean isReady(String dc) {
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
  JsonNode inspect(String dc, Request.Topic topic, int limit) {
    try {
      return json.readTree(
          inspector.inspectAsync(dc, topic, Optional.empty(), limit).get(10, TimeUnit.SECONDS));
    } catch (Exception e) {
      throw new OsierException(ErrorCode.UNAVAILABLE, dc + " gives no report: " + e, e);
    }
  }

  /** A client that prefers one datacenter but knows all. */
  OsierClient client(String dc) {
    OsierClient.Builder builder = OsierClient.builder().name("demo").prefer(dc);
    clientPorts.forEach((name, port) -> builder.endpoint(name, "127.0.0.1:" + port));
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }

  /** A client that reaches one datacenter only, to compare what each holds. */
  OsierClient only(String dc) {
    OsierClient client =
        OsierClient.builder().name("demo").endpoint(dc, "127.0.0.1:" + clientPorts.get(dc)).build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }

  /** The endpoints as YCSB's property wants them. */
  String endpoints() {
    List<String> all = new ArrayList<>();
    clientPorts.forEach((dc, port) -> all.add(dc + "=127.0.0.1:" + port));
    return String.join(",", all);
  }

  /** Cuts both links between two datacenters, both ways. */
  void cut(String a, String b) {
    wan.cut(a + "-" + b);
    wan.cut(b + "-" + a);
  }

  void heal(String a, String b) {
    wan.heal(a + "-" + b);
    wan.heal(b + "-" + a);
  }

  /** Bytes on all links, both ways. */
  long wanBytes() {
    return wan.bytes();
  }

  /** Has a process ended together with the datacenters, at the latest. */
  Process owns(String name, Process process) {
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
