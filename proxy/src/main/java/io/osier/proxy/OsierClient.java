package io.osier.proxy;

import static io.osier.core.Present.present;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.core.ErrorCode;
import io.osier.core.HostPort;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.TimeLimit;
import io.osier.core.TraceSample;
import io.osier.core.Utf8;
import io.osier.core.net.Network;
import io.osier.core.net.Sockets;
import io.osier.core.scram.ScramCredential;
import io.osier.protocol.Request;
import io.osier.proxy.values.Values;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A client of an Osier cluster: connections to one or more datacenters. Make one for each
 * application and share it; get a {@link Session} from it for each user, request or thread whose
 * reads and writes belong together. Thread-safe. See the package's documentation for a first
 * example.
 */
public final class OsierClient implements AutoCloseable {
  /** Longest name of a client, in bytes of UTF-8. */
  private static final int NAME_BYTES_MAX = 128;

  /** Most prefixes whose changes are followed. */
  private static final int FOLLOWED_MAX = 64;

  private static final long FOLLOW_MILLIS_MIN = 100;
  private static final long FOLLOW_MILLIS_MAX = 5_000;
  private static final long FOLLOW_SILENCE_MILLIS_MIN = 1_000;

  private final ClientSettings settings;
  private final Timers timers;
  private final Datacenters datacenters;
  private final Room room;
  private final Inquiries inquiries = new Inquiries();

  /** Those with the longest prefix first. */
  private final List<FollowedKeys> followed;

  /** When changes that are followed are not heard of for so long, they are not known. */
  private final long followSilenceNanos;

  /** Ends what carries this client, when it is closed. */
  private final Runnable end;

  private volatile boolean closed;
  private volatile boolean closing;

  /**
   * A client of connections that are there.
   *
   * @param end ends what carries them
   */
  OsierClient(ClientSettings settings, Timers timers, Datacenters datacenters, Runnable end) {
    this.settings = settings;
    this.timers = timers;
    this.datacenters = datacenters;
    this.room = new Room(settings.inFlightMax());
    this.end = end;
    long pingMillis = settings.pingInterval().toMillis();
    long wait = Math.clamp(pingMillis, FOLLOW_MILLIS_MIN, FOLLOW_MILLIS_MAX);
    this.followSilenceNanos = Math.max(FOLLOW_SILENCE_MILLIS_MIN, 4 * wait) * 1_000_000;
    this.followed =
        settings.cacheFollows().stream()
            .sorted(Comparator.comparingInt(FollowedKeys.Prefix::length).reversed())
            .map(prefix -> new FollowedKeys(prefix, (int) wait, followSilenceNanos))
            .toList();
  }

  /** Of which keys changes are followed for the caches of sessions; the longest prefix first. */
  List<FollowedKeys> followed() {
    return followed;
  }

  /** Begins to follow their changes, unless that has begun. */
  void follow(FollowedKeys keys) {
    if (keys.isFirstWanted()) {
      new Follower(this, keys, followSilenceNanos).begin();
    }
  }

  /** Adds a client's ways to its datacenters. */
  private interface Ways {
    void add(Datacenters to, Timers timers, EventLoopGroup loops);
  }

  private static OsierClient start(ClientSettings settings, Ways ways) {
    EventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(
            1, Answering.threads("osier-client"), NioIoHandler.newFactory());
    Timers timers = new LoopTimers(loops);
    Runnable end = () -> loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    Datacenters datacenters = new Datacenters(settings);
    try {
      OsierClient client = new OsierClient(settings, timers, datacenters, end);
      ways.add(datacenters, timers, loops);
      datacenters.open();
      return client;
    } catch (RuntimeException | Error e) {
      datacenters.close();
      end.run(); // nothing is left of a client that cannot be built
      throw e;
    }
  }

  private static OsierClient connect(ClientSettings settings) {
    Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
    settings.endpoints().forEach((dc, address) -> addresses.put(dc, parse(dc, address)));
    return start(
        settings,
        (datacenters, timers, loops) -> {
          Network network = Sockets.over(loops);
          addresses.forEach(
              (dc, address) ->
                  datacenters.add(
                      new RemoteConnection(
                          dc, address, settings, timers, network, datacenters::changed)));
          long pause = Math.max(1, settings.pingInterval().toMillis());
          loops.scheduleWithFixedDelay(datacenters::measure, pause, pause, TimeUnit.MILLISECONDS);
        });
  }

  private static InetSocketAddress parse(String dc, String address) {
    return HostPort.parse(address)
        .map(a -> InetSocketAddress.createUnresolved(a.host(), a.port()))
        .orElseThrow(
            () ->
                new OsierException(
                    ErrorCode.INVALID_ARGUMENT,
                    "endpoint '"
                        + dc
                        + "' must be "
                        + HostPort.ALLOWED
                        + ", not '"
                        + address
                        + "'"));
  }

  /**
   * A client of a datacenter in this process: its requests take no network and are not encoded.
   * Closing it does not close the datacenter.
   */
  public static OsierClient inProcess(InProcess datacenter) {
    return inProcess(datacenter, Values.plain());
  }

  /** As {@link #inProcess(InProcess)}, with typed handles that keep objects so. */
  public static OsierClient inProcess(InProcess datacenter, Values values) {
    return inProcess(datacenter, new Builder().values(values));
  }

  /** As {@link #inProcess(InProcess)}, with the settings of a builder that has no endpoint yet. */
  static OsierClient inProcess(InProcess datacenter, Builder builder) {
    ClientSettings settings = builder.endpoint(datacenter.replica().dc(), "in process").settings();
    return start(
        settings,
        (all, timers, loops) ->
            all.add(
                new LocalConnection(
                    datacenter, settings, timers, LocalConnection.Alarm.of(loops))));
  }

  /** Starts to build a client. */
  public static Builder builder() {
    return new Builder();
  }

  ClientSettings settings() {
    return settings;
  }

  boolean isClosed() {
    return closed;
  }

  Timers timers() {
    return timers;
  }

  Datacenters datacenters() {
    return datacenters;
  }

  Inquiries inquiries() {
    return inquiries;
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
   * @param atMost how long; at 0 or less it only looks
   * @throws OsierException UNAVAILABLE if none is within the time, the code with which all refuse,
   *     or CANCELLED if the thread is interrupted
   */
  public void awaitConnected(Duration atMost) {
    long nanos = TimeLimit.nanos(present(atMost, "a time limit"));
    CompletableFuture<Boolean> up = datacenters.whenUp();
    try {
      if (!up.isDone() && Answering.mustNotWait()) {
        throw Calls.error(CallFuture.GivenUp.WAITS_FOR_ITSELF);
      }
      if (!up.get(nanos, TimeUnit.NANOSECONDS)) {
        throw unavailable();
      }
    } catch (TimeoutException e) {
      throw unavailable();
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OsierException(
          ErrorCode.CANCELLED,
          "the calling thread was interrupted while it waited to be connected");
    } finally {
      up.cancel(false); // nobody waits any more
    }
  }

  OsierException unavailable() {
    return closing
        ? new OsierException(
            ErrorCode.UNAVAILABLE, closed ? "this client is closed" : "this client is closing")
        : datacenters.unavailable();
  }

  /** Whether a datacenter is up, so that calls can be answered: the client's health. */
  public boolean isConnected() {
    return !closing && datacenters.nearest() != null;
  }

  /** The datacenter that requests go to now; empty if none is up. */
  public Optional<String> nearest() {
    return Optional.ofNullable(datacenters.nearest()).map(Connection::dc);
  }

  /**
   * The keyspaces of the datacenter that requests go to now, as it told when it was connected, in
   * the order of their names; none if no datacenter is up.
   */
  public List<String> keyspaces() {
    Connection at = datacenters.nearest();
    return at == null ? List.of() : at.keyspaces().keySet().stream().sorted().toList();
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
    return datacenters.status();
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
    return inquiries.report(
        datacenters.get(dc), new Request.Inspect(topic, keyspace, limit), settings.timeout());
  }

  /** Administers all datacenters. */
  public Admin admin() {
    return new Admin(this);
  }

  CompletableFuture<String> administer(Request.Administer request, Duration timeout) {
    Connection nearest = datacenters.nearest();
    return nearest == null
        ? CompletableFuture.failedFuture(unavailable())
        : inquiries.report(nearest, request, timeout);
  }

  /**
   * Lets one datacenter make a backup of its store while it goes on.
   *
   * @param name of the backup: letters, digits, '.', '_' and '-'; empty to let the datacenter
   *     choose
   * @param timeout how long it may take: above 0
   * @return one JSON object: where the backup is, and its bytes
   * @throws OsierException INVALID_ARGUMENT if the timeout is 0 or less
   */
  public CompletableFuture<String> backupAsync(String dc, Optional<String> name, Duration timeout) {
    Duration limit = TimeLimit.positive("a backup's timeout", timeout);
    return inquiries.report(datacenters.get(dc), new Request.Backup(name), limit);
  }

  /**
   * Takes no further calls (they fail with UNAVAILABLE), waits until those that are under way have
   * ended, and closes.
   *
   * @param atMost how long to wait, at 0 or less not at all; what is still under way then fails as
   *     of {@link #close()}. An interrupt ends the waiting, and a callback does not wait: it is
   *     closed all the same
   * @return whether all had ended
   */
  public boolean close(Duration atMost) {
    closing = true;
    try {
      long nanos = TimeLimit.nanos(present(atMost, "a time limit"));
      return room.awaitEmpty(Answering.mustNotWait() ? 0 : nanos);
    } finally {
      close();
    }
  }

  /** Whether calls that begin now are refused. */
  boolean isClosing() {
    return closing;
  }

  /** Closes all connections; requests that are open fail. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      closing = true;
    }
    // Each whatever becomes of those before: they run others' code.
    try {
      datacenters.close();
    } finally {
      room.close();
      try {
        timers.close();
      } finally {
        end.run();
      }
    }
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
    private final List<FollowedKeys.Prefix> cacheFollows = new ArrayList<>();
    private ClientMetrics metrics = ClientMetrics.NONE;
    private Optional<TlsOptions> tls = Optional.empty();
    private Optional<Login.User> user = Optional.empty();
    private TracedAnswers traces = TracedAnswers.NONE;
    private Values values = Values.plain();
    private ClientObserver observer = ClientObserver.NONE;

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
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "a client's name has at most " + NAME_BYTES_MAX + " bytes, not " + bytes);
      }
      name = clientName;
      return this;
    }

    /** How long a call may take, tries elsewhere included; 10 s unless set. */
    public Builder timeout(Duration atMost) {
      timeout = TimeLimit.positive("timeout", atMost);
      return this;
    }

    /** How long the opening of a connection may take; 3 s unless set. */
    public Builder connectTimeout(Duration atMost) {
      connectTimeout = TimeLimit.positive("connectTimeout", atMost);
      return this;
    }

    /** How often the way to each datacenter is measured; 500 ms unless set. */
    public Builder pingInterval(Duration pause) {
      pingInterval = TimeLimit.positive("pingInterval", pause);
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
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "inFlightMax must be at least 1, not " + most);
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
      if (entriesMax < 1) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "entriesMax must be at least 1, not " + entriesMax);
      }
      cacheStaleness = TimeLimit.positive("staleness", staleness);
      cacheEntriesMax = entriesMax;
      return this;
    }

    /**
     * Lets sessions keep answers about some keys of a {@code session} keyspace until the key
     * changes, instead of for the staleness of {@link #cache}, which must be set, too. The client
     * follows the changes of these keys ({@link Keyspace#watchPrefix}), with one watcher for all
     * its sessions, from the first read on until it is closed; a change drops the key's answers.
     *
     * <p>An answer is kept so only if the datacenter that gave it is the one whose changes are
     * followed, the nearest, and they were when it was asked. It is then as old as the news of a
     * change takes, usually some milliseconds, and never older than four {@linkplain #pingInterval
     * ping intervals}, at least 1 s and at most 20 s: if no news comes for so long, and at once
     * where the connection is lost, such answers serve no longer than others. They serve again when
     * nothing was missed meanwhile; otherwise, as at another datacenter, it begins anew. What has a
     * time to live is not kept for more than 15/16 of it; how long it lives is asked for with a
     * second request, when the answer is used again for the first time.
     *
     * <p>It needs the right to read all of these keys. A user who has it not has a plain cache, and
     * a line in the log. Each call adds a prefix, 64 at most, of which each takes 256 KiB; of
     * several that fit a key the longest counts. Worth it for what is read far more often than the
     * keys with the prefix change: each change of theirs comes to this client.
     *
     * @param prefix the keys that begin with this text, in UTF-8; all keys if it is empty
     * @param atMost how long an answer is kept at most, above the staleness
     */
    public Builder cacheFollowing(String keyspace, String prefix, Duration atMost) {
      present(keyspace, "a keyspace's name");
      present(prefix, "a prefix");
      FollowedKeys.Prefix follows =
          FollowedKeys.Prefix.of(keyspace, prefix, TimeLimit.positive("atMost", atMost));
      cacheFollows.removeIf(follows::isOfTheSameKeys);
      cacheFollows.add(follows);
      if (cacheFollows.size() > FOLLOWED_MAX) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "at most " + FOLLOWED_MAX + " prefixes are followed");
      }
      return this;
    }

    /** Who hears of the client's figures. */
    public Builder metrics(ClientMetrics listener) {
      metrics = GuardedMetrics.of(present(listener, "a listener"));
      return this;
    }

    /** Who hears of each call as a whole: where timers and spans are made. */
    public Builder observer(ClientObserver ofCalls) {
      observer = GuardedObserver.of(present(ofCalls, "an observer"));
      return this;
    }

    /** Speaks TLS with all datacenters. Off unless set. */
    public Builder tls(TlsOptions options) {
      tls = Optional.of(present(options, "options"));
      return this;
    }

    /**
     * Logs in to all datacenters as a user. Without, the client is the datacenters' default user,
     * if they have one, or the one whom its certificate names.
     *
     * @param password asked for before each connection is made, by a thread that may wait; the
     *     array that it gives is overwritten
     */
    public Builder user(String userName, Supplier<char[]> password) {
      user = Optional.of(new Login.User(userName, password));
      return this;
    }

    /**
     * As the other one, with a password that does not change.
     *
     * @param password copied; the caller may overwrite it afterwards
     * @throws OsierException INVALID_ARGUMENT if it cannot be a password
     */
    public Builder user(String userName, char[] password) {
      char[] copy = ScramCredential.checked(present(password, "a password")).clone();
      return user(userName, copy::clone);
    }

    /**
     * Who hears of the updates that are followed by traces.
     *
     * @param sample the share of updates that is followed, as the datacenters have it in {@code
     *     osier.trace.sample}: from 0 to 1
     */
    public Builder traces(double sample, ClientTraces listener) {
      present(listener, "a listener");
      try {
        traces = new TracedAnswers(TraceSample.of(sample), listener);
      } catch (IllegalArgumentException e) {
        throw new OsierException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
      }
      return this;
    }

    /**
     * How typed handles ({@link ObjectSpace#register(String, Class)} and its like) keep objects;
     * {@link Values#plain} unless set.
     */
    public Builder values(Values known) {
      values = present(known, "values");
      return this;
    }

    /**
     * Builds the client and starts to connect; see {@link OsierClient#awaitConnected}.
     *
     * @throws OsierException INVALID_ARGUMENT if there is no endpoint, one is malformed, or the
     *     preferred one is none; CONFIGURATION if a file of the TLS options cannot be used
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
      for (FollowedKeys.Prefix follows : cacheFollows) {
        if (cacheStaleness.isZero() || follows.atMost().compareTo(cacheStaleness) <= 0) {
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "cacheFollowing of "
                  + follows
                  + " needs cache(staleness, entriesMax), with a staleness below its "
                  + follows.atMost());
        }
      }
      return connect(settings());
    }

    ClientSettings settings() {
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
          List.copyOf(cacheFollows),
          metrics,
          tls.map(TlsOptions::context),
          user,
          traces,
          values,
          observer);
    }
  }
}
