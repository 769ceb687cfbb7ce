package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.control.execution.StartupWaitRule;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.awaitility.Awaitility;

/** Datacenters in this JVM, on loopback, with real sockets, and their clients, closed with them. */
public final class TestCluster implements AutoCloseable {
  private final Map<String, Datacenter> running = new LinkedHashMap<>();
  private final Map<String, Integer> clientPorts = new LinkedHashMap<>();
  private final Map<String, Integer> peerPorts = new LinkedHashMap<>();

  /** By datacenter, the others that its file names. */
  private final Map<String, Set<String>> files = new LinkedHashMap<>();

  /** By datacenter, the store that it opened last. */
  private final Map<String, RocksDatabase> stores = new ConcurrentHashMap<>();

  private final Opened open = new Opened();

  /** The clients, all of which {@link #open} closes. */
  private final List<OsierClient> clients = new ArrayList<>();

  private final String keyspaces;
  private final String store;

  /** Starts datacenters of these names with a keyspace "shop" of SLA 500 ms. */
  public TestCluster(String... names) {
    this("shop { sla = 500ms, limits { key = 64B, value = 1KiB, object = 8KiB } }", names);
  }

  /** Starts datacenters with these keyspaces. */
  public TestCluster(String keyspaces, String[] names) {
    this(keyspaces, "dir = \"\"", names);
  }

  /** Starts datacenters with these settings of osier.store. */
  public TestCluster(String keyspaces, String store, String[] names) {
    this.keyspaces = keyspaces;
    this.store = store;
    for (String name : names) {
      clientPorts.put(name, Ports.free());
      peerPorts.put(name, Ports.free());
      files.put(name, new TreeSet<>(List.of(names)));
    }
    for (String name : names) {
      start(name);
    }
    awaitReady();
  }

  /** Starts a datacenter by a configuration's text, and by nothing of the environment. */
  public static Datacenter one(String config) {
    return Datacenter.start(ConfigReader.read("test", config, Map.of()));
  }

  String config(String name, int clientPort, int peerPort) {
    List<String> peers = new ArrayList<>();
    peerPorts.forEach(
        (other, port) -> {
          if (!other.equals(name) && requireNonNull(files.get(name)).contains(other)) {
            peers.add(other + " = \"127.0.0.1:" + port + "\"");
          }
        });
    return "osier { dc = "
        + name
        + ", streams.retry = 200ms, shutdown-timeout = 2m, store { "
        + store
        + " }, listen { client-port = "
        + clientPort
        + ", peer-port = "
        + peerPort
        + " }, peers { "
        + String.join(", ", peers)
        + " }, keyspaces { "
        + keyspaces
        + " } }";
  }

  /** Starts one more datacenter, which the others know when they have been started again. */
  public Datacenter add(String name) {
    clientPorts.put(name, Ports.free());
    peerPorts.put(name, Ports.free());
    files.put(name, new TreeSet<>(files.keySet()));
    files.values().forEach(f -> f.add(name));
    return start(name);
  }

  /** Draws the ports of one more datacenter, which no file knows and whose file knows one. */
  public String place(String name, String seed) {
    clientPorts.put(name, Ports.free());
    peerPorts.put(name, Ports.free());
    files.put(name, new TreeSet<>(List.of(seed)));
    return "127.0.0.1:" + peerPort(name);
  }

  public Datacenter start(String name) {
    return start(name, StartupWaitRule.WAIT_NANOS);
  }

  /** As {@link #start}; it hears the others before it goes by what it stored: they are in reach. */
  Datacenter startInReach(String name) {
    return start(name, Patience.LIMIT.toNanos());
  }

  private Datacenter start(String name, long startupWaitNanos) {
    StoreService.Opener opener =
        (dir, durability, cluster, dc, minimum) -> {
          RocksDatabase opened = RocksDatabase.open(dir, durability, cluster, dc, minimum);
          stores.put(dc, opened);
          return opened;
        };
    Datacenter datacenter =
        Datacenter.start(
            ConfigReader.read(name, config(name, clientPort(name), peerPort(name)), Map.of()),
            new DatacenterParts.Surroundings(Map::of, opener, startupWaitNanos));
    running.put(name, datacenter);
    return datacenter;
  }

  /** Stops a datacenter gracefully. */
  public void stop(String name) {
    ended(name);
  }

  /**
   * Ends a datacenter as {@code kill -9} does, if its durability is sync: from now on nothing comes
   * to its disk, so nothing more is confirmed or shipped.
   */
  void kill(String name) {
    store(name).closeUnclean();
    inAHurry(running.remove(name)::close);
    awaitParted(name);
  }

  RocksDatabase store(String name) {
    return requireNonNull(stores.get(name), name);
  }

  /** Closes a datacenter, perhaps one that has ended by itself. */
  void ended(String name) {
    running.remove(name).close();
    awaitParted(name);
  }

  /**
   * Waits until no client takes a datacenter that has ended for connected: an update that it sent
   * over that connection would be lost, and nobody knew whether it was done.
   */
  private void awaitParted(String name) {
    Awaitility.await()
        .atMost(Patience.LIMIT)
        .until(
            () ->
                clients.stream()
                    .flatMap(client -> client.status().stream())
                    .noneMatch(status -> status.connected() && status.name().equals(name)));
  }

  /** Waits until all serve. */
  public void awaitReady() {
    Awaitility.await()
        .atMost(Patience.LIMIT)
        .until(() -> running.values().stream().allMatch(Datacenter::isReady));
  }

  public Datacenter datacenter(String name) {
    return requireNonNull(running.get(name), name);
  }

  /** Who a running datacenter is. */
  ReplicaId replica(String name) {
    return datacenter(name).replica();
  }

  public int clientPort(String name) {
    return requireNonNull(clientPorts.get(name), name);
  }

  public int peerPort(String name) {
    return requireNonNull(peerPorts.get(name), name);
  }

  /** A client that prefers one datacenter and knows all. */
  public OsierClient client(String preferred) {
    return client(preferred, PatientClients.builder());
  }

  /** A client of one datacenter alone. */
  public OsierClient clientOf(String name) {
    OsierClient client = opened(PatientClients.of(name, clientPort(name)));
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  public OsierClient client(String preferred, OsierClient.Builder builder) {
    builder.prefer(preferred);
    clientPorts.forEach((name, port) -> builder.endpoint(name, "127.0.0.1:" + port));
    OsierClient client = opened(builder);
    client.awaitConnected(Patience.LIMIT);
    Awaitility.await()
        .atMost(Patience.LIMIT)
        .until(() -> client.nearest().filter(preferred::equals).isPresent());
    return client;
  }

  private OsierClient opened(OsierClient.Builder builder) {
    OsierClient client = open.add(builder.build());
    clients.add(client);
    return client;
  }

  /** Nobody reads any more what they have not shipped: they are told not to wait for it. */
  @Override
  public void close() {
    open.close();
    running.values().forEach(datacenter -> inAHurry(datacenter::close));
  }

  /** By an interrupted thread, which waits for nothing when it closes something. */
  public static void inAHurry(Runnable close) {
    Thread.currentThread().interrupt();
    try {
      close.run();
    } finally {
      boolean unused = Thread.interrupted();
    }
  }

  /**
   * Gives an administrator's command until it is taken: one that has just started, and is slow, may
   * have given up waiting for the others, and refuses some of them until it has heard from all.
   */
  public static <T> T onceSettled(Supplier<T> command) {
    return Awaitility.await()
        .atMost(Patience.LIMIT)
        .ignoreExceptionsMatching(TestCluster::isUnavailable)
        .until(command::get, answer -> true);
  }

  /**
   * Waits until a client's datacenter has heard from all others, before one of these is stopped.
   */
  static void awaitSettled(OsierClient of) {
    String at =
        Awaitility.await()
            .atMost(Patience.LIMIT)
            .until(of::nearest, Optional::isPresent)
            .orElseThrow();
    String name = "settled-" + at;
    onceSettled(() -> of.admin().createKeyspaceAsync(name, Map.of()).join());
    of.admin().dropKeyspaceAsync(name).join(); // tests look at the list of all
  }

  private static boolean isUnavailable(Throwable e) {
    Throwable why = e instanceof CompletionException ? e.getCause() : e;
    return why instanceof OsierException refused && refused.code() == ErrorCode.UNAVAILABLE;
  }

  /** An administrator's command is refused, with words of the reason. */
  public static void refuses(Runnable what, String why) {
    assertThatThrownBy(what::run)
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(OsierException.class)
        .hasMessageContaining(why);
  }
}
