package io.osier.proxy;

import static io.osier.core.Present.present;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Utf8;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A client of an Osier cluster: connections to one or more datacenters. Make one for each
 * application and share it; get a {@link Session} from it for each user, request or thread whose
 * reads and writes belong together. Thread-safe. See the package's documentation for a first
 * example.
 */
public final class OsierClient implements AutoCloseable {
  /** Another datacenter must be nearer by this factor before sessions move to it. */
  private static final double NEARER = 0.7;

  /** Longest name of a client, in bytes of UTF-8. */
  private static final int NAME_BYTES_MAX = 128;

  private final ClientSettings settings;
  private final EventLoopGroup loops;
  private final Map<String, Link> connections = new LinkedHashMap<>();
  private final Object changes = new Object();
  private volatile Link nearest;
  private final Room room;

  /** What is done after a pause, unless the client is closed before. */
  private final Set<Runnable> pauses = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  private OsierClient(ClientSettings settings, Optional<InProcess> local) {
    this.settings = settings;
    this.room = new Room(settings.inFlightMax());
    this.loops =
        new MultiThreadIoEventLoopGroup(
            1, Answering.threads("osier-client"), NioIoHandler.newFactory());
    if (local.isPresent()) {
      Link link = new LocalLink(local.get(), settings, loops);
      connections.put(link.dc(), link);
      nearest = link;
      return; // always there, and nothing to measure
    }
    settings
        .endpoints()
        .forEach(
            (dc, address) ->
                connections.put(
                    dc, new Connection(dc, parse(dc, address), settings, loops, this::changed)));
    connections.values().forEach(Link::open);
    long pause = settings.pingInterval().toMillis();
    loops.scheduleWithFixedDelay(this::measure, pause, pause, TimeUnit.MILLISECONDS);
  }

  private static InetSocketAddress parse(String dc, String address) {
    int colon = address.lastIndexOf(':');
    try {
      int port = Integer.parseInt(address.substring(colon + 1));
      if (colon > 0 && port > 0 && port < 65_536) {
        return InetSocketAddress.createUnresolved(address.substring(0, colon), port);
      }
    } catch (NumberFormatException e) {
      // Reported below with the whole address.
    }
    throw new OsierException(
        ErrorCode.INVALID_ARGUMENT,
        "endpoint '"
            + dc
            + "' must be host:port, for example eu.example:7400, not '"
            + address
            + "'");
  }

  /**
   * A client of a datacenter in this process: its requests take no network and are not encoded.
   * Closing it does not close the datacenter.
   */
  public static OsierClient inProcess(InProcess datacenter) {
    Builder builder = new Builder().endpoint(datacenter.replica().dc(), "in process");
    return new OsierClient(builder.settings(), Optional.of(datacenter));
  }

  /** Starts to build a client. */
  public static Builder builder() {
    return new Builder();
  }

  private void measure() {
    connections.values().forEach(Link::ping);
    changed();
  }

  private void changed() {
    nearest = choose(Set.of());
    synchronized (changes) {
      changes.notifyAll();
    }
  }

  /**
   * The datacenter to use: the preferred one if it is up, otherwise the nearest that is, and the
   * present one unless another is clearly nearer.
   *
   * @param except datacenters that were tried in vain
   * @return null if none is up
   */
  Link choose(Set<String> except) {
    Link best = null;
    for (Link c : connections.values()) {
      if (c.isUp() && !except.contains(c.dc())) {
        if (settings.preferred().filter(c.dc()::equals).isPresent()) {
          return c;
        }
        best = best == null || roundTrip(c) < roundTrip(best) ? c : best;
      }
    }
    Link present = nearest;
    if (best != null
        && present != null
        && present.isUp()
        && !except.contains(present.dc())
        && roundTrip(best) > NEARER * roundTrip(present)) {
      return present;
    }
    return best;
  }

  private static double roundTrip(Link c) {
    return Double.isNaN(c.roundTripNanos()) ? Double.MAX_VALUE / 2 : c.roundTripNanos();
  }

  Link nearestConnection() {
    Link c = nearest;
    return c != null && c.isUp() ? c : choose(Set.of());
  }

  Link connection(String dc) {
    Link c = connections.get(dc);
    if (c == null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is no endpoint '" + dc + "'; the endpoints are " + connections.keySet());
    }
    return c;
  }

  ClientSettings settings() {
    return settings;
  }

  boolean isClosed() {
    return closed;
  }

  /** Does something after a pause, at the latest when the client is closed: it looks at that. */
  void later(Runnable action, long millis) {
    Runnable once =
        new Runnable() {
          @Override
          public void run() {
            if (pauses.remove(this)) {
              action.run();
            }
          }
        };
    pauses.add(once);
    try {
      loops.schedule(once, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      once.run();
      return;
    }
    if (closed) {
      once.run();
    }
  }

  Room room() {
    return room;
  }

  /** A new session, which has seen nothing yet. */
  public Session session() {
    return new Session(this, SessionOptions.DEFAULT);
  }

  /**
   * A new session that goes on where another one was, or stays at one datacenter.
   *
   * @throws OsierException INVALID_ARGUMENT if the options name no endpoint
   */
  public Session session(SessionOptions options) {
    return new Session(this, options);
  }

  /**
   * Waits until at least one datacenter is connected.
   *
   * @throws OsierException UNAVAILABLE if none is within the time, or the code with which all
   *     refuse
   */
  public void awaitConnected(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    synchronized (changes) {
      while (choose(Set.of()) == null) {
        long left = (deadline - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          throw unavailable();
        }
        try {
          changes.wait(left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new OsierException(ErrorCode.UNAVAILABLE, "interrupted while connecting", e);
        }
      }
    }
  }

  OsierException unavailable() {
    if (closed) {
      return new OsierException(ErrorCode.UNAVAILABLE, "this client is closed");
    }
    for (Link c : connections.values()) {
      if (c.refused() != null) {
        return c.refused();
      }
    }
    return new OsierException(
        ErrorCode.UNAVAILABLE,
        connections.values().stream()
            .map(
                c ->
                    c.dc()
                        + " at "
                        + settings.endpoints().get(c.dc())
                        + ": "
                        + (c.trouble() == null ? "no answer yet" : c.trouble()))
            .collect(Collectors.joining("; ", "no datacenter can be reached (", ")")));
  }

  /** The datacenter that requests go to now; empty if none is up. */
  public Optional<String> nearest() {
    return Optional.ofNullable(nearestConnection()).map(Link::dc);
  }

  /**
   * What a connection is doing.
   *
   * @param dc the endpoint's name
   * @param trouble why it is not connected, in words; empty if it is, or if nothing is known yet
   * @param roundTripMillis the measured way there and back; NaN if not measured
   */
  public record Status(
      String dc,
      String address,
      boolean connected,
      Optional<ReplicaId> replica,
      double roundTripMillis,
      int inFlight,
      Optional<String> trouble) {
    /** The datacenter's own name; the endpoint's while it has never been connected. */
    public String name() {
      return replica.map(ReplicaId::dc).orElse(dc);
    }
  }

  /** What the connections are doing, in the order of the endpoints. */
  public List<Status> status() {
    List<Status> all = new ArrayList<>();
    for (Link c : connections.values()) {
      all.add(
          new Status(
              c.dc(),
              settings.endpoints().get(c.dc()),
              c.isUp(),
              Optional.ofNullable(c.replica()),
              c.roundTripNanos() / 1e6,
              c.inFlight(),
              Optional.ofNullable(c.trouble())));
    }
    return all;
  }

  /**
   * Asks one datacenter what it is doing.
   *
   * @return one JSON object; docs/OPERATIONS.md tells its fields
   */
  public CompletableFuture<String> inspectAsync(
      String dc, Request.Topic topic, Optional<String> keyspace, int limit) {
    if (limit < 0) {
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.INVALID_ARGUMENT, "a limit must be at least 0, not " + limit));
    }
    return reportOf(dc, new Request.Inspect(topic, keyspace, limit), settings.timeout());
  }

  /**
   * Lets one datacenter make a backup of its store while it goes on.
   *
   * @param name of the backup: letters, digits, '.', '_' and '-'; empty to let the datacenter
   *     choose
   * @param timeout how long it may take
   * @return one JSON object: where the backup is, and its bytes
   */
  public CompletableFuture<String> backupAsync(String dc, Optional<String> name, Duration timeout) {
    return reportOf(dc, new Request.Backup(name), timeout);
  }

  /** What a partition has of every replica at a datacenter. */
  CompletableFuture<VersionVector> through(
      Link at, String keyspace, int partition, long timeoutMillis) {
    return at.send(new Request.Through(keyspace, partition), timeoutMillis)
        .handle(
            (reply, error) -> {
              if (error != null) {
                throw Calls.asOsier(error, false);
              }
              return switch (reply) {
                case Reply.Through t -> t.through();
                case Reply.Failure f -> throw new OsierException(f.code(), f.message());
                default -> throw Calls.unexpected(reply);
              };
            });
  }

  private CompletableFuture<String> reportOf(String dc, Request request, Duration timeout) {
    return connection(dc)
        .send(request, timeout.toMillis())
        .handle(
            (reply, error) -> {
              if (error != null) {
                throw Calls.asOsier(error, false);
              }
              return switch (reply) {
                case Reply.Report r -> r.json();
                case Reply.Failure f -> throw new OsierException(f.code(), f.message());
                default -> throw Calls.unexpected(reply);
              };
            });
  }

  /** Closes all connections; requests that are open fail. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    connections.values().forEach(Link::close);
    room.close();
    pauses.forEach(Runnable::run);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  /** Collects the settings of a client. Not thread-safe. */
  public static final class Builder {
    private final Map<String, String> endpoints = new LinkedHashMap<>();
    private Optional<String> preferred = Optional.empty();
    private String name = "java";
    private Duration timeout = Duration.ofSeconds(10);
    private Duration connectTimeout = Duration.ofSeconds(3);
    private Duration pingInterval = Duration.ofMillis(500);
    private int inFlightMax = 10_000;
    private Duration cacheStaleness = Duration.ZERO;
    private long cacheEntriesMax = 10_000;
    private ClientMetrics metrics = ClientMetrics.NONE;

    private Builder() {}

    /** Adds a datacenter: its name and the address for clients, as host:port. At least one. */
    public Builder endpoint(String dc, String address) {
      endpoints.put(
          ReplicaId.checkDcName(present(dc, "an endpoint's name")),
          present(address, "an endpoint's address"));
      return this;
    }

    /** Prefers a datacenter whenever it is up, however far it is. Otherwise the nearest is used. */
    public Builder prefer(String dc) {
      preferred = Optional.of(present(dc, "the name of the preferred datacenter"));
      return this;
    }

    /** Who connects, for the servers' logs; at most 128 bytes. */
    public Builder name(String clientName) {
      int bytes = Utf8.length(present(clientName, "the client's name"));
      if (bytes > NAME_BYTES_MAX) {
        throw new IllegalArgumentException(
            "a client's name has at most " + NAME_BYTES_MAX + " bytes, not " + bytes);
      }
      name = clientName;
      return this;
    }

    /** How long a call may take, tries elsewhere included; 10 s unless set. */
    public Builder timeout(Duration atMost) {
      timeout = positive("timeout", atMost);
      return this;
    }

    /** How long the opening of a connection may take; 3 s unless set. */
    public Builder connectTimeout(Duration atMost) {
      connectTimeout = positive("connectTimeout", atMost);
      return this;
    }

    /** How often the way to each datacenter is measured; 500 ms unless set. */
    public Builder pingInterval(Duration pause) {
      pingInterval = positive("pingInterval", pause);
      return this;
    }

    /**
     * Most calls under way. Further ones, asynchronous ones too, let their thread wait until one
     * has ended, within their own time limit; after that they fail with OVERLOADED, and nothing was
     * sent. Callbacks and threads of Netty's event loops, an application's too, never wait: their
     * calls go beyond the limit, and fail at once with OVERLOADED when there are twice as many.
     * 10,000 unless set.
     */
    public Builder inFlightMax(int most) {
      if (most < 1) {
        throw new IllegalArgumentException("inFlightMax must be at least 1, not " + most);
      }
      inFlightMax = most;
      return this;
    }

    /**
     * Lets each session answer reads of {@code session} keyspaces from what it read before, if that
     * is not older than the bound. Off unless set. A session sees its own writes all the same, and
     * no object goes back in time. In {@code causal} keyspaces nothing is kept: objects would
     * contradict each other.
     *
     * @param staleness how old an answer may be
     * @param entriesMax of how many keys each session keeps answers
     */
    public Builder cache(Duration staleness, long entriesMax) {
      cacheStaleness = positive("staleness", staleness);
      cacheEntriesMax = entriesMax;
      return this;
    }

    /** Who hears of the client's figures. */
    public Builder metrics(ClientMetrics listener) {
      metrics = GuardedMetrics.of(present(listener, "a listener"));
      return this;
    }

    private static Duration positive(String what, Duration value) {
      if (present(value, what).isZero() || value.isNegative()) {
        throw new IllegalArgumentException(what + " must be above 0, not " + value);
      }
      return value;
    }

    /**
     * Builds the client and starts to connect; see {@link OsierClient#awaitConnected}.
     *
     * @throws OsierException INVALID_ARGUMENT if there is no endpoint, one is malformed, or the
     *     preferred one is none
     */
    public OsierClient build() {
      if (endpoints.isEmpty()) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "a client needs at least one endpoint(name, host:port)");
      }
      if (preferred.isPresent() && !endpoints.containsKey(preferred.get())) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            String.format(
                Locale.ROOT,
                "prefer(\"%s\") names no endpoint; the endpoints are %s",
                preferred.get(),
                endpoints.keySet()));
      }
      return new OsierClient(settings(), Optional.empty());
    }

    private ClientSettings settings() {
      return new ClientSettings(
          Collections.unmodifiableMap(new LinkedHashMap<>(endpoints)),
          preferred,
          name,
          timeout,
          connectTimeout,
          pingInterval,
          inFlightMax,
          cacheStaleness,
          cacheEntriesMax,
          metrics);
    }
  }
}
