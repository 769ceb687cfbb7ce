package io.osier.bench.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Fleet;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.WriterLoad;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.testcontainers.OsierContainer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * Datacenters in containers. Each has a network of its own for its clients, and all are in one that
 * they replicate through, which can be left and joined. Not thread-safe.
 */
final class Cluster implements AutoCloseable {
  static final String KEYSPACE = "shop";
  static final Duration LONG = Duration.ofMinutes(2);
  private static final long ELEMENTS_MAX = 100_000;

  /** Leads nowhere else, so that a container's published ports never depend on it. */
  private final Network wan =
      Network.builder().createNetworkCmdModifier(c -> c.withInternal(true)).build();

  private final Map<String, Network> near = new LinkedHashMap<>();
  private final Map<String, OsierContainer> containers = new LinkedHashMap<>();
  private Fleet fleet = new Fleet("container test", Map.of());
  private final List<CounterLoad> running = new ArrayList<>();
  private int loads;

  Cluster(List<String> dcs) {
    this(dcs, container -> {});
  }

  Cluster(List<String> dcs, Consumer<OsierContainer> each) {
    try {
      for (String dc : dcs) {
        start(dc, dcs, each);
      }
      awaitReady();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void start(String dc, List<String> all, Consumer<OsierContainer> each) {
    Network own = Network.newNetwork();
    near.put(dc, own);
    OsierContainer container =
        new OsierContainer(Engine.image(), dc)
            .withKeyspace(KEYSPACE, "sla = 1s")
            .withPeers(all.toArray(String[]::new))
            .withNetwork(own)
            .withImagePullPolicy(name -> false)
            // As other processes of tests: most live for less than a minute.
            .withEnv("OSIER_JAVA_OPTIONS", String.join(" ", Jvm.BRIEF))
            // Not until it is ready: it hears of the others when it joins their network.
            .waitingFor(Wait.forLogMessage(".* serves clients on .*", 1).withStartupTimeout(LONG));
    each.accept(container);
    containers.put(dc, container);
    container.start();
    container.join(wan);
    fleet.close();
    Map<String, String> endpoints = new LinkedHashMap<>();
    containers.forEach((name, c) -> endpoints.put(name, c.endpoint()));
    fleet = new Fleet("container test", endpoints);
  }

  /** Starts a further datacenter, of which the others do not know yet. */
  void add(String dc) {
    List<String> all = new ArrayList<>(containers.keySet());
    all.add(dc);
    start(dc, all, container -> {});
  }

  OsierContainer get(String dc) {
    return containers.get(dc);
  }

  List<String> dcs() {
    return List.copyOf(containers.keySet());
  }

  void cut(String dc) {
    get(dc).leave(wan);
  }

  void heal(String dc) {
    get(dc).join(wan);
  }

  void awaitReady() {
    dcs().forEach(this::awaitReady);
  }

  void awaitReady(String dc) {
    await().atMost(LONG).until(() -> fleet.isReady(dc));
  }

  /**
   * A report, for example of the peers. It is asked for again where a connection has ended: a
   * change of the containers' networks breaks those to them, sooner or later.
   */
  JsonNode inspect(String dc, Request.Topic topic) {
    return await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(OsierException.class)
        .until(() -> fleet.inspect(dc, topic, 0), Objects::nonNull)
        .get("keyspaces")
        .get(KEYSPACE);
  }

  /** Whether a datacenter is connected with all others of them that run, or with none. */
  boolean isConnected(String dc, String peer) {
    for (JsonNode p : inspect(dc, Request.Topic.PEERS).get("peers")) {
      if (p.get("dc").asText().equals(peer) && !p.get("connected").asBoolean()) {
        return false;
      }
    }
    return true;
  }

  /** A load on some datacenters, with an account of its own. */
  CounterLoad load(List<String> dcs, int perSecond) {
    String prefix = "load" + ++loads + ":";
    CounterLoad load =
        new CounterLoad(dcs, fleet::client, KEYSPACE, prefix, perSecond, ELEMENTS_MAX, loads);
    running.add(load);
    return load;
  }

  /** Ends the loads that a failed test has left: while they write nothing is ever equal. */
  void endLoads() {
    for (CounterLoad load : running) {
      load.stop();
      load.close();
    }
    running.clear();
  }

  /** Waits until the load has got on. */
  static void awaitMore(CounterLoad load, int updates) {
    long before = load.done();
    await().atMost(LONG).until(() -> load.done() >= before + updates);
  }

  /** Ends a load: all datacenters must be equal, with all that was acknowledged in them. */
  void settle(CounterLoad load) {
    load.stop();
    try {
      assertThat(load.done()).isPositive();
      assertThat(fleet.awaitEqual(LONG, System.out::println)).as("digests are equal").isTrue();
      for (String dc : dcs()) {
        try (OsierClient client = fleet.only(dc)) {
          assertThat(load.audit(Contents.rows(client.session().keyspace(KEYSPACE))))
              .as("what %s lacks of %d acknowledged updates, or has too much", dc, load.done())
              .isEqualTo(new WriterLoad.Audit(0, 0));
        }
      }
    } finally {
      running.remove(load);
      load.close();
    }
  }

  /** A page of the admin port. */
  HttpResponse<String> page(String dc, String path) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(get(dc).admin(path)).timeout(Duration.ofMinutes(1)).build();
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The sum of a metric over those of its series that have a label; all, if it is empty. */
  double metric(String dc, String name, String label) {
    return page(dc, "/metrics")
        .body()
        .lines()
        .filter(l -> l.startsWith(name + "{") && l.contains(label))
        .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Override
  public void close() {
    fleet.close();
    containers.values().forEach(OsierContainer::stop);
    near.values().forEach(Network::close);
    wan.close();
  }
}
