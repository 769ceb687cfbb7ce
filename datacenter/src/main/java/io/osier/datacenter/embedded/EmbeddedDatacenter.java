package io.osier.datacenter.embedded;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.ReplicaId;
import io.osier.core.time.TimeLimit;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.InProcess;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * A datacenter inside the caller's process. It is used through the same client API as one elsewhere
 * ({@link #client}), but its requests take no network and are not encoded; it replicates to the
 * other datacenters, embedded or not, over TCP as always. Thread-safe.
 *
 * <p>It logs by way of SLF4J, and brings neither a back-end for that nor its configuration. If the
 * process runs out of memory, the thread's handler of uncaught exceptions hears of it, or {@link
 * #failure} does; the host decides what then.
 *
 * <p>What acknowledged means depends on the keyspace. With a store ({@code osier.store.dir}) it is
 * the same as in a datacenter process: as durable as the store is configured to make it. Without
 * one, an acknowledged update is in this process's memory: it is seen by every later read at this
 * datacenter and leaves for the others within the SLA, but is lost if the process ends otherwise
 * than by {@link #close} before it has left. In such a {@code session} keyspace increments of
 * counters and additions to add-wins sets are acknowledged before the partition has them: they are
 * joined with others of their object for at most a quarter of the SLA, and then committed as one.
 *
 * <p>Without a store callers' threads do the datacenter's work, and complete each other's futures:
 * callbacks must not wait for anything (see the client's package). With a store a virtual thread
 * brings each answer that does not come at once.
 *
 * <pre>{@code
 * try (EmbeddedDatacenter eu = EmbeddedDatacenter.start(
 *     "osier { dc = eu, peers { us = \"us.example:7401\" }, keyspaces { shop { sla = 2s } } }")) {
 *   eu.awaitReady(Duration.ofSeconds(10));
 *   eu.session().keyspace("shop").counter("visits").increment(1);
 * }
 * }</pre>
 */
public final class EmbeddedDatacenter implements AutoCloseable {
  private static final long READY_POLL_NANOS = 1_000_000;

  private final Datacenter datacenter;
  private final OsierClient client;

  private EmbeddedDatacenter(Datacenter datacenter, Function<InProcess, OsierClient> clients) {
    this.datacenter = datacenter;
    this.client = clients.apply(datacenter.inProcess());
  }

  /**
   * Starts a datacenter.
   *
   * @param configText its configuration, as in a configuration file (HOCON); osier-reference.conf
   *     explains every setting. Ports of 0 are chosen by the system. The environment is not read
   * @throws OsierException CONFIGURATION if a setting is wrong or a port cannot be had
   */
  public static EmbeddedDatacenter start(String configText) {
    return start(configText, Values.plain());
  }

  /** As {@link #start(String)}; typed handles of {@link #client} keep objects as {@code values}. */
  public static EmbeddedDatacenter start(String configText, Values values) {
    DatacenterConfig config;
    try {
      config = ConfigReader.read("the embedded configuration", configText, Map.of());
    } catch (OsierException e) {
      throw e.classified();
    }
    return start(config, values);
  }

  /** Starts a datacenter with a configuration that was read or built. */
  public static EmbeddedDatacenter start(DatacenterConfig config) {
    return start(config, Values.plain());
  }

  /** As {@link #start(DatacenterConfig)}, with typed handles. */
  public static EmbeddedDatacenter start(DatacenterConfig config, Values values) {
    Present.present(values, "values");
    return startWith(config, datacenter -> OsierClient.inProcess(datacenter, values));
  }

  /** As {@link #start(DatacenterConfig)}, with a client of the caller's making. */
  static EmbeddedDatacenter startWith(
      DatacenterConfig config, Function<InProcess, OsierClient> clients) {
    try {
      return new EmbeddedDatacenter(Datacenter.startEmbedded(config), clients);
    } catch (OsierException e) {
      throw e.classified();
    }
  }

  /** The client of this datacenter: one for all callers; closed with the datacenter. */
  public OsierClient client() {
    return client;
  }

  /** A new session at this datacenter. */
  public Session session() {
    return client.session();
  }

  public ReplicaId replica() {
    return datacenter.replica();
  }

  /** The port at which other datacenters reach this one. */
  public int peerPort() {
    return datacenter.peerPort();
  }

  /** The port for clients in other processes, such as the command line. */
  public int clientPort() {
    return datacenter.clientPort();
  }

  /**
   * Whether requests are served: a datacenter that has just started first catches up with its
   * peers. Until then calls wait, at most for the client's timeout. One that was closed is not.
   */
  public boolean isReady() {
    return datacenter.isReady();
  }

  /**
   * Waits until {@link #isReady}.
   *
   * @param atMost how long; at 0 or less it only looks
   * @throws OsierException UNAVAILABLE if it is not within the time, CANCELLED if this thread is
   *     interrupted
   */
  public void awaitReady(Duration atMost) {
    long start = System.nanoTime();
    long limit = TimeLimit.nanos(Present.present(atMost, "a time limit"));
    while (!isReady()) {
      if (Thread.currentThread().isInterrupted()) {
        throw OsierException.of(
            ErrorCode.CANCELLED,
            "the calling thread was interrupted before " + replica().dc() + " was ready");
      }
      if (System.nanoTime() - start >= limit) {
        throw OsierException.of(
            ErrorCode.UNAVAILABLE, replica().dc() + " is not ready after " + atMost);
      }
      LockSupport.parkNanos(READY_POLL_NANOS);
    }
  }

  /** Completes exceptionally if the datacenter cannot go on; it should then be closed. */
  public CompletableFuture<Void> failure() {
    return datacenter.failure();
  }

  /**
   * Refuses further requests, ships everything that was acknowledged, waits for the connected peers
   * to have it, at most for the configured time, and closes. A thread that is interrupted does not
   * wait for the peers.
   */
  @Override
  public void close() {
    try {
      datacenter.close();
    } finally {
      client.close();
    }
  }
}
