package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.ProtectedMode;
import io.osier.datacenter.control.execution.StartupWaitRule;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.FormerRemovals;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.proxy.InProcess;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One datacenter: starts its partitions, store and ports, and shuts them down. Several may run in
 * one JVM. Thread-safe.
 */
public final class Datacenter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Datacenter.class);

  private final DatacenterConfig config;
  private final DatacenterParts parts;
  private volatile boolean closed;

  /**
   * Starts a datacenter. It serves clients once it has caught up with its peers.
   *
   * @throws OsierException CONFIGURATION if an address cannot be bound
   */
  public static Datacenter start(DatacenterConfig config) {
    return start(config, new StartWatch(System.nanoTime()), new Startup(), Map::of);
  }

  /**
   * As {@link #start(DatacenterConfig)}. If the start fails, all that was opened is closed.
   *
   * @param watch is told how long each phase of the start took
   * @param within may be told to stop; then the start ends before its next step
   * @param auditLost returns how many lines of the audit log were not written to its file, by
   *     reason; cheap
   * @throws OsierException CONFIGURATION if an address cannot be bound, and SHUTTING_DOWN if {@code
   *     within} was told to stop
   */
  public static Datacenter start(
      DatacenterConfig config,
      StartWatch watch,
      Startup within,
      Supplier<Map<String, Long>> auditLost) {
    DatacenterParts.Surroundings around =
        new DatacenterParts.Surroundings(
            auditLost, RocksDatabase::open, StartupWaitRule.WAIT_NANOS);
    return start(config, false, watch, within, around);
  }

  private static Datacenter start(
      DatacenterConfig config,
      boolean embedded,
      StartWatch watch,
      Startup within,
      DatacenterParts.Surroundings around) {
    Startup opened = new Startup();
    try {
      DatacenterParts parts = new DatacenterParts(config, embedded, watch, within, opened, around);
      within.check(); // last check: from here on the datacenter serves
      Datacenter started = new Datacenter(config, parts);
      started.begin();
      watch.done("ports", System.nanoTime());
      started.sayWhatRuns();
      return started;
    } catch (Throwable e) {
      opened.close();
      throw e;
    }
  }

  /**
   * As {@link #start}, for callers in this process ({@link #inProcess}): if nothing is stored on a
   * disk, the callers' threads run the partitions, and updates of {@code session} keyspaces that
   * cannot fail are joined before a partition gets them.
   */
  public static Datacenter startEmbedded(DatacenterConfig config) {
    StartWatch watch = new StartWatch(System.nanoTime());
    return start(config, true, watch, new Startup(), DatacenterParts.Surroundings.USUAL);
  }

  /** As {@link #start(DatacenterConfig)}, with surroundings that a test chooses. */
  static Datacenter start(DatacenterConfig config, DatacenterParts.Surroundings around) {
    StartWatch watch = new StartWatch(System.nanoTime());
    return start(config, false, watch, new Startup(), around);
  }

  private Datacenter(DatacenterConfig config, DatacenterParts parts) {
    this.config = config;
    this.parts = parts;
  }

  /** Starts the partitions, the peer links and the control plane, once all parts are made. */
  private void begin() {
    parts.keyspaces.partitions().forEach(PartitionRunner::start);
    if (config.admin().isPresent()) {
      parts.reports.everySecond();
    }
    if (parts.storage.store().isPresent()) {
      parts
          .storage
          .readers()
          .execute(
              new FormerRemovals(
                      parts.keyspaces, () -> closed, parts.failure::completeExceptionally)
                  ::find);
    }
    if (isReadOnly()) {
      parts.keyspaces.partitions().forEach(p -> p.submit(new Input.Retire()));
    } else {
      parts.neighbours.begin(
          parts.ports.announced().toString(),
          parts.transport,
          parts.readiness,
          parts.reports.dashboard());
      parts.keyspaces.awaitPeers(); // the time limit starts only after recovery
      parts.transport.dial();
      parts.control.start();
    }
    parts.tls().ifPresent(Certificates::watch);
  }

  private void sayWhatRuns() {
    LOG.info(
        "datacenter {} serves clients on {} and peers on {}",
        parts.self,
        new HostPort(config.host(), clientPort()),
        new HostPort(config.host(), peerPort()));
    redisPort()
        .ifPresent(
            port ->
                LOG.info("clients of Redis are served on {}", new HostPort(config.host(), port)));
    config
        .admin()
        .ifPresent(
            admin ->
                LOG.info(
                    "metrics and the dashboard are at {}",
                    new HostPort(admin.host(), adminPort().orElseThrow())));
    ProtectedMode.openTo(config)
        .ifPresent(
            open ->
                LOG.warn(
                    "osier.insecure = true: {}: whoever reaches this machine can read and change"
                        + " everything",
                    open));
    LOG.info("configuration: {}; all else is as osier-reference.conf has it", config);
    for (KeyspacePolicy keyspace : config.keyspaces()) {
      KeyspaceSettings.withoutEffect(keyspace)
          .forEach(note -> LOG.warn("keyspace '{}': {}", keyspace.name(), note));
    }
    LOG.info("memory: {}", MemoryPlan.ofThisProcess().division(config));
  }

  /**
   * Returns whether the disk was full at the start: then the datacenter answers reads, takes no
   * updates, and takes nothing from other datacenters. When there is room again {@link #failure}
   * completes with STORE_FULL: the process should then close the datacenter and start it anew.
   */
  public boolean isReadOnly() {
    return parts.storage.isReadOnly();
  }

  /** Returns a keyspace's present policy. */
  public KeyspacePolicy policy(String keyspace) {
    return requireNonNull(parts.keyspaces.find(keyspace), keyspace).policy();
  }

  /** Replaces the set of all users, for open connections, too. */
  void setUsers(Users all) {
    parts.setUsers(all);
  }

  /** See {@link Keyspaces#droppedUpdates}. */
  long droppedUpdates() {
    return parts.keyspaces.droppedUpdates();
  }

  /** Returns the bytes that were sent to each peer and not acknowledged. */
  public Map<String, Long> inFlightBytes() {
    return parts.links.inFlightBytes();
  }

  /** Returns the keyspaces of which the store has records, by the store's names for them. */
  public Set<String> stored() {
    return parts.storage.keyspaces();
  }

  public ReplicaId replica() {
    return parts.self;
  }

  /** Returns the access for clients in the same process: {@code OsierClient.inProcess}. */
  public InProcess inProcess() {
    return new LocalAccess(
        parts.self, parts.handler, parts.traces, () -> !closed, parts.storage.store().isPresent());
  }

  public int clientPort() {
    return parts.ports.clients().port();
  }

  /** Returns the port for metrics, health and the dashboard; empty if there is none. */
  public OptionalInt adminPort() {
    return parts.ports.adminPort();
  }

  /** Returns the counts of requests for keyspaces that other datacenters hold. */
  public Snapshot.Elsewhere elsewhere() {
    return parts.forwarding.counts(List.of());
  }

  /** Returns the port for Redis clients; empty if there is none. */
  public OptionalInt redisPort() {
    return parts.ports.redisPort();
  }

  public int peerPort() {
    return parts.transport.port();
  }

  /**
   * Returns whether every partition serves commands and takes updates, so that the datacenter is
   * neither joining nor leaving.
   */
  public boolean isReady() {
    return !closed
        && !isReadOnly()
        && parts.control.obstacles().isEmpty()
        && parts.keyspaces.partitions().allMatch(PartitionRunner::isReady);
  }

  /**
   * Returns what keeps the datacenter from serving fully, in words: it is catching up, its disk is
   * full, or every peer refuses a keyspace; empty if nothing does.
   */
  public List<String> obstacles() {
    return parts.readiness.obstacles();
  }

  /** Returns what does not work although the datacenter is ready, in words. */
  List<String> warnings() {
    return parts.readiness.warnings();
  }

  /**
   * Completes exceptionally if the datacenter cannot go on, and normally when it has left the
   * cluster; the process should then close it.
   */
  public CompletableFuture<Void> failure() {
    return parts.failure;
  }

  /**
   * Shuts down gracefully: refuses commands, ships all updates that wait, waits at most the
   * configured time until the peers have acknowledged them, and closes.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    parts.control.close(); // no keyspace is opened or dropped any more
    List<PartitionRunner> all = parts.keyspaces.partitions().toList();
    parts.keyspaces.endWatching();
    all.forEach(PartitionRunner::refuse); // each ships held updates once its queue is empty
    boolean interrupted =
        new Drain(
                config.shutdownTimeout(),
                parts.failure,
                () -> !parts.neighbours.addresses().isEmpty() && parts.transport.connected() == 0,
                parts.storage.store().isPresent())
            .await(all);
    interrupted |= Thread.interrupted();
    try {
      // Unlike after a failed start, the parts that answer are closed before the ports: callers may
      // wait for answers.
      all.forEach(PartitionRunner::stop);
      parts.publisher.close(); // before the parts that it reads
      parts.storage.close();
      parts.forwarding.close();
      parts.ports.close();
      parts.transport.close();
      parts.reports.close();
      parts.traces.close();
      parts.tls().ifPresent(Certificates::close);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    LOG.info("datacenter {} is closed", parts.self);
  }
}
