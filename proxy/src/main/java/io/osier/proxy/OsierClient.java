package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Request;
import io.osier.proxy.call.DatacenterQueries;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.connection.CallbackThread;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A client of an Osier cluster, with connections to one or more datacenters. Make one for each
 * application and share it; take a {@link Session} from it for each user, request or thread whose
 * reads and writes belong together. Thread-safe. See the package's documentation for a first
 * example.
 */
public final class OsierClient implements AutoCloseable {
  private final ClientCore core;

  OsierClient(ClientCore core) {
    this.core = core;
  }

  ClientCore core() {
    return core;
  }

  /**
   * Makes a client of a datacenter in this process, whose requests need no network and no encoding.
   * Closing the client does not close the datacenter.
   */
  public static OsierClient inProcess(InProcess datacenter) {
    return inProcess(datacenter, Values.plain());
  }

  /** As {@link #inProcess(InProcess)}, with a codec for the objects of typed handles. */
  public static OsierClient inProcess(InProcess datacenter, Values values) {
    return inProcess(datacenter, new Builder().values(values));
  }

  /** As {@link #inProcess(InProcess)}, with the settings of a builder that has no endpoints. */
  static OsierClient inProcess(InProcess datacenter, Builder builder) {
    return new OsierClient(
        ClientCore.inProcess(
            datacenter, builder.endpoint(datacenter.replica().dc(), "in process").settings()));
  }

  /** Starts to build a client. */
  public static Builder builder() {
    return new Builder();
  }

  /** Begins a session that has seen nothing yet. */
  public Session session() {
    return new Session(core, SessionOptions.DEFAULT);
  }

  /**
   * Begins a session with options: it continues another session, or stays at one datacenter.
   *
   * @throws OsierException INVALID_ARGUMENT if the options name no endpoint
   */
  public Session session(SessionOptions options) {
    return new Session(core, options);
  }

  /**
   * Waits until at least one datacenter is connected.
   *
   * @param atMost how long to wait; at 0 or less it does not wait
   * @throws OsierException UNAVAILABLE if no datacenter is connected in time, the datacenters' own
   *     error if all refuse the client, or CANCELLED if the thread is interrupted
   */
  public void awaitConnected(Duration atMost) {
    long nanos = TimeLimit.nanos(present(atMost, "a time limit"));
    CompletableFuture<Boolean> up = core.datacenters().whenUp();
    try {
      if (!up.isDone() && CallbackThread.mustNotWait()) {
        throw Calls.error(CallFuture.GivenUp.WAITS_FOR_ITSELF);
      }
      if (!up.get(nanos, TimeUnit.NANOSECONDS)) {
        throw core.unavailable();
      }
    } catch (TimeoutException e) {
      throw core.unavailable();
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw OsierException.of(
          ErrorCode.CANCELLED,
          "the calling thread was interrupted while it waited to be connected");
    } finally {
      up.cancel(false); // nobody waits any more
    }
  }

  /**
   * Returns whether a datacenter is connected, so that calls can be answered: the client's health.
   */
  public boolean isConnected() {
    return !core.isClosing() && core.datacenters().nearest() != null;
  }

  /** Returns the endpoint to which requests go now; empty if no datacenter is connected. */
  public Optional<String> nearest() {
    return Optional.ofNullable(core.datacenters().nearest()).map(Connection::dc);
  }

  /**
   * Returns the names of the keyspaces that the nearest datacenter knows, held there or elsewhere,
   * in order, as it told last; empty if no datacenter is connected.
   */
  public List<String> keyspaces() {
    Connection at = core.datacenters().nearest();
    return at == null ? List.of() : at.allKeyspaces();
  }

  /**
   * As {@link #keyspaces}, but asks the nearest datacenter, so that new keyspaces are included.
   * Waits until a datacenter is connected, as other calls do.
   */
  public CompletableFuture<List<String>> keyspacesAsync() {
    return core.whenNearest()
        .thenCompose(at -> DatacenterQueries.keyspaces(at, core.settings().timeout()));
  }

  /**
   * The state of one connection.
   *
   * @param dc the endpoint's name
   * @param replica the datacenter's identity; empty until the first connection
   * @param roundTripMillis the measured round trip, in milliseconds; NaN until it is measured
   * @param inFlight how many requests wait for their answers
   * @param trouble why it is not connected, in words; empty if it is, or if nothing is known yet
   */
  public record Status(
      String dc,
      String address,
      boolean connected,
      Optional<ReplicaId> replica,
      double roundTripMillis,
      int inFlight,
      Optional<String> trouble) {
    /** Returns the datacenter's own name; the endpoint's name until the first connection. */
    public String name() {
      return replica.map(ReplicaId::dc).orElse(dc);
    }
  }

  /**
   * Returns the state of all connections: first the endpoints in their order, then datacenters that
   * are no endpoints but hold a keyspace that the client uses.
   */
  public List<Status> status() {
    return core.datacenters().status();
  }

  /**
   * Asks one datacenter for a report of what it is doing.
   *
   * @return one JSON object; docs/MONITORING.md describes its fields
   */
  public CompletableFuture<String> inspectAsync(
      String dc, Request.Topic topic, Optional<String> keyspace, int limit) {
    return limit < 0
        ? CompletableFuture.failedFuture(below0(limit))
        : DatacenterQueries.report(
            core.datacenters().get(dc),
            new AdminRequest.Inspect(topic, keyspace, limit),
            core.settings().timeout(),
            false);
  }

  /**
   * Asks the nearest datacenter that holds a keyspace for a report about that keyspace.
   *
   * @return one JSON object; docs/MONITORING.md describes its fields
   */
  public CompletableFuture<String> inspectAsync(Request.Topic topic, String keyspace, int limit) {
    return limit < 0
        ? CompletableFuture.failedFuture(below0(limit))
        : DatacenterQueries.inspect(
            new SessionCore(core, Optional.empty()),
            new AdminRequest.Inspect(
                topic, Optional.of(present(keyspace, "a keyspace's name")), limit));
  }

  private static OsierException below0(int limit) {
    return OsierException.of(
        ErrorCode.INVALID_ARGUMENT, "a limit must be at least 0, not " + limit);
  }

  /** Returns the administration of the cluster. */
  public Admin admin() {
    return new Admin(core);
  }

  /**
   * Lets one datacenter make a backup of its store while it serves.
   *
   * @param name the backup's name, of letters, digits, '.', '_' and '-'; empty to let the
   *     datacenter choose
   * @param timeout how long the backup may take: above 0
   * @return one JSON object: where the backup is, and how many bytes it has
   * @throws OsierException INVALID_ARGUMENT if the timeout is 0 or less
   */
  public CompletableFuture<String> backupAsync(String dc, Optional<String> name, Duration timeout) {
    Duration limit = TimeLimit.positive("a backup's timeout", timeout);
    return DatacenterQueries.report(
        core.datacenters().get(dc), new AdminRequest.Backup(name), limit, true);
  }

  /**
   * Refuses further calls (they fail with UNAVAILABLE), waits until the calls under way have ended,
   * and closes the client.
   *
   * @param atMost how long to wait, at 0 or less not at all; calls that are still under way then
   *     fail as of {@link #close()}. An interrupt ends the waiting, and in a callback there is
   *     none: the client is closed all the same
   * @return whether all calls had ended
   */
  public boolean close(Duration atMost) {
    return core.close(atMost);
  }

  /** Closes all connections; calls under way fail. */
  @Override
  public void close() {
    core.close();
  }

  /** Collects the settings of a client. Not thread-safe. */
  public static final class Builder extends ClientBuilder {
    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * Builds the client and starts to connect; {@link OsierClient#awaitConnected} waits for that.
     *
     * @throws OsierException INVALID_ARGUMENT if there is no endpoint, an endpoint is malformed, or
     *     the preferred datacenter is no endpoint; CONFIGURATION if a file of the TLS options
     *     cannot be used
     */
    public OsierClient build() {
      return new OsierClient(ClientCore.connect(checked()));
    }
  }
}
