package io.osier.bench.systems;

import com.sun.net.httpserver.HttpServer;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigUtil;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Holdings;
import io.osier.bench.cluster.LiveHeap;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.bench.wan.WanQuality;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Datacenter processes with emulated links between them, as a system under load. */
public final class OsierTarget implements Target {
  private static final Duration START_MAX = Duration.ofMinutes(2);

  private final Config config;
  private final Path directory;
  private final LocalCluster cluster;
  private final List<String> first;
  private final Optional<TlsOptions> tls;
  private final AtomicLong traceBytes = new AtomicLong();
  private final @Nullable HttpServer spans;

  /** Starts the processes and waits until they serve. */
  OsierTarget(Config config) throws IOException {
    this.config = config;
    this.directory = Files.createTempDirectory("osier-run");
    this.first = Topology.names(config.getInt("dcs"));
    String how = config.getString("tls");
    this.tls = how.equals("off") ? Optional.empty() : Optional.of(certificates(how.equals("both")));
    this.spans = config.getBoolean("spans") ? receiver() : null;
    List<String> later = config.getStringList("later");
    ClusterSettings settings =
        new ClusterSettings(directory, keyspaces())
            .dcs(first)
            .later(later)
            .store(store())
            .heap("-Xmx" + config.getString("heap"))
            .settings(settings(how));
    if (config.getDouble("delay") >= 0) {
      settings.links(new WanQuality(config.getDouble("delay"), 0, 0));
    }
    if (config.getBoolean("admin")) {
      settings.admin();
    }
    System.out.println("logs and data in " + directory);
    cluster = settings.start();
    if (tls.isEmpty()) {
      first.forEach(dc -> cluster.awaitReady(dc, START_MAX));
    } else {
      client(first.getFirst()).close();
    }
    if (!config.getObject("created").isEmpty()) {
      create(config.getConfig("created"));
    }
  }

  /**
   * Creates keyspaces and alters their homes, in the order of their names, each after the one
   * before it is held by all its holders.
   */
  private void create(Config created) {
    try (OsierClient client = client(first.getFirst())) {
      for (String name : new TreeSet<>(created.root().keySet())) {
        SortedMap<String, String> settings = new TreeMap<>();
        created
            .getObject(ConfigUtil.quoteString(name))
            .forEach((key, value) -> settings.put(key, String.valueOf(value.unwrapped())));
        await(
            name,
            () -> {
              if (name.contains("@")) {
                client.admin().alterKeyspaceAsync(name, settings).join();
              } else if (!Holdings.of(client).states().containsKey(name)) {
                client.admin().createKeyspaceAsync(name, settings).join();
              }
              return true;
            });
        await(name, () -> Holdings.of(client).isWell());
      }
    }
  }

  /** Waits until a condition holds; a request that fails while a datacenter starts is repeated. */
  private static void await(String name, BooleanSupplier isDone) {
    long deadline = System.nanoTime() + START_MAX.toNanos();
    String said = "";
    while (true) {
      try {
        if (isDone.getAsBoolean()) {
          return;
        }
      } catch (CompletionException e) {
        String why = String.valueOf(e.getMessage());
        if (!why.equals(said)) {
          System.out.println(name + " is not held where it is to be yet: " + why);
          said = why;
        }
      }
      if (System.nanoTime() > deadline) {
        throw new OsierException(ErrorCode.TIMEOUT, name + " is not held where it is to be");
      }
      LockSupport.parkNanos(200_000_000);
    }
  }

  private String store() {
    Durability durability = Targets.oneOf(Durability.class, config, "durability");
    String cache = config.getString("cache");
    return durability.setting() + (cache.isEmpty() ? "" : ", cache = " + cache);
  }

  private String keyspaces() {
    String lines = lines("keyspaces");
    return lines.isEmpty() ? "    k { sla = 2s }\n" : lines;
  }

  /** Returns the content of a block of the scenario as a line of a configuration. */
  private String lines(String block) {
    String rendered = config.getObject(block).render(ConfigRenderOptions.concise());
    String content = rendered.substring(1, rendered.length() - 1);
    return content.isEmpty() ? "" : content + "\n";
  }

  private String settings(String tlsHow) {
    StringBuilder lines = new StringBuilder(lines("settings"));
    if (tls.isPresent()) {
      lines.append(
          ("tls { certificate = \"%s\", key = \"%s\", authorities = \"%s\","
                  + " client-certificates = %s }\n")
              .formatted(
                  directory.resolve("eu.pem"),
                  directory.resolve("eu.key"),
                  directory.resolve("authority.pem"),
                  tlsHow.equals("both")));
    }
    if (spans != null) {
      lines.append(
          "trace.endpoint = \"http://127.0.0.1:%d\"\n".formatted(spans.getAddress().getPort()));
    }
    return lines.toString();
  }

  private TlsOptions certificates(boolean both) throws IOException {
    CertificateMaker.authority(directory, "demo", 2);
    CertificateMaker.signed(
        directory, "eu", TlsName.ofDatacenter("demo", "eu"), List.of("127.0.0.1"), 2);
    CertificateMaker.signed(directory, "client", TlsName.ofClient("demo", "client"), List.of(), 2);
    TlsOptions trusting = TlsOptions.DEFAULT.authorities(directory.resolve("authority.pem"));
    return both
        ? trusting.certificate(directory.resolve("client.pem"), directory.resolve("client.key"))
        : trusting;
  }

  private HttpServer receiver() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          traceBytes.addAndGet(exchange.getRequestBody().readAllBytes().length);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  /** Returns a client that is connected to one datacenter alone. */
  public OsierClient client(String dc) {
    OsierClient.Builder builder = OsierClient.builder().name("run").timeout(START_MAX);
    builder.endpoint(dc, cluster.endpoint(dc));
    tls.ifPresent(builder::tls);
    OsierClient client = builder.build();
    client.awaitConnected(START_MAX);
    return client;
  }

  /** Returns the number of running datacenters, which steps may change. */
  @Override
  public int nodes() {
    return names().size();
  }

  @Override
  public List<String> names() {
    return cluster.running();
  }

  @Override
  public Calls calls(int node, Config load) {
    String dc = names().get(node);
    return new OsierCalls(dc, () -> client(dc), load);
  }

  @Override
  public Duration cpu() {
    return cluster.cpu();
  }

  @Override
  public long linkBytes() {
    return cluster.wanBytes();
  }

  @Override
  public long traceBytes() {
    return traceBytes.get();
  }

  @Override
  public OptionalLong memoryBytes() {
    return LiveHeap.bytes(cluster.pid(first.getFirst()));
  }

  @Override
  public Optional<LocalCluster> cluster() {
    return tls.isEmpty() ? Optional.of(cluster) : Optional.empty();
  }

  /** Starts a datacenter, or starts it again, and waits until it serves. */
  public void start(String dc) {
    cluster.start(dc);
    cluster.awaitReady(dc, START_MAX);
  }

  @Override
  public void close() {
    cluster.close();
    if (spans != null) {
      spans.stop(0);
    }
    Directories.deleteQuietly(directory);
  }
}
