package io.osier.proxy.client;

import static io.osier.core.Present.present;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.HostPort;
import io.osier.core.net.Network;
import io.osier.core.net.Sockets;
import io.osier.core.time.TimeLimit;
import io.osier.proxy.Connection;
import io.osier.proxy.InProcess;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Timers;
import io.osier.proxy.cache.ChangeFollower;
import io.osier.proxy.cache.FollowedKeys;
import io.osier.proxy.connection.CallbackThread;
import io.osier.proxy.connection.Datacenters;
import io.osier.proxy.connection.EventLoopTimers;
import io.osier.proxy.connection.InProcessConnection;
import io.osier.proxy.connection.RemoteConnection;
import io.osier.proxy.future.CallFuture;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

/**
 * The parts of a client: its settings, connections, limit of calls and followed keys; starts and
 * closes them. Thread-safe.
 */
public final class ClientCore {
  private static final long FOLLOW_MILLIS_MIN = 100;
  private static final long FOLLOW_MILLIS_MAX = 5_000;
  private static final long FOLLOW_SILENCE_MILLIS_MIN = 1_000;

  private final ClientSettings settings;
  private final Timers timers;
  private final Datacenters datacenters;
  private final CallLimiter limiter;

  /** The keys whose changes are followed for the sessions' caches, the longest prefix first. */
  private final List<FollowedKeys> followed;

  /** After so long without an answer, answers kept by following are treated as any others. */
  private final long followSilenceNanos;

  /** Ends the client's threads when it is closed. */
  private final Runnable end;

  private volatile boolean closed;
  private volatile boolean closing;

  /**
   * Makes a client.
   *
   * @param end ends the client's threads
   */
  public ClientCore(ClientSettings settings, Timers timers, Datacenters datacenters, Runnable end) {
    this.settings = settings;
    this.timers = timers;
    this.datacenters = datacenters;
    this.limiter = new CallLimiter(settings.inFlightMax());
    this.end = end;
    long pingMillis = settings.dialling().pingInterval().toMillis();
    long wait = Math.clamp(pingMillis, FOLLOW_MILLIS_MIN, FOLLOW_MILLIS_MAX);
    this.followSilenceNanos = Math.max(FOLLOW_SILENCE_MILLIS_MIN, 4 * wait) * 1_000_000;
    this.followed =
        settings.caching().follows().stream()
            .sorted((a, b) -> Integer.compare(b.length(), a.length()))
            .map(prefix -> new FollowedKeys(prefix, (int) wait, followSilenceNanos))
            .toList();
  }

  public List<FollowedKeys> followed() {
    return followed;
  }

  /** Begins to follow the changes of these keys, unless that has begun. */
  public void follow(FollowedKeys keys) {
    if (keys.isFirstWanted()) {
      new ChangeFollower(
              datacenters, timers, settings.metrics(), this::isClosing, keys, followSilenceNanos)
          .begin();
    }
  }

  /** Adds a client's connections to its datacenters. */
  private interface Ways {
    void add(Datacenters to, Timers timers, EventLoopGroup loops, Network network);
  }

  private static ClientCore start(ClientSettings settings, Ways ways) {
    EventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(
            1, CallbackThread.threads("osier-client"), NioIoHandler.newFactory());
    Timers timers = new EventLoopTimers(loops);
    Sockets network = Sockets.over(loops);
    Datacenters datacenters = new Datacenters(settings.endpoints(), settings.preferred());
    try {
      ClientCore client = new ClientCore(settings, timers, datacenters, network::end);
      ways.add(datacenters, timers, loops, network);
      datacenters.open();
      return client;
    } catch (RuntimeException | Error e) {
      datacenters.close();
      network.end(); // a client that cannot be built leaves no threads
      throw e;
    }
  }

  /**
   * Makes a client of datacenters over the network, and begins to connect.
   *
   * @throws OsierException INVALID_ARGUMENT if an endpoint's address is invalid
   */
  public static ClientCore connect(ClientSettings settings) {
    Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
    settings.endpoints().forEach((dc, address) -> addresses.put(dc, parse(dc, address)));
    return start(
        settings,
        (datacenters, timers, loops, network) -> {
          BiFunction<String, InetSocketAddress, Connection> remote =
              (dc, address) ->
                  new RemoteConnection(
                      dc,
                      address,
                      settings.dialling(),
                      settings.metrics(),
                      timers,
                      network,
                      datacenters::changed);
          addresses.forEach((dc, address) -> datacenters.add(remote.apply(dc, address)));
          datacenters.holders().setDialler((dc, at) -> remote.apply(dc, unresolved(at)));
          long pause = Math.max(1, settings.dialling().pingInterval().toMillis());
          loops.scheduleWithFixedDelay(datacenters::measure, pause, pause, TimeUnit.MILLISECONDS);
        });
  }

  private static InetSocketAddress parse(String dc, String address) {
    return HostPort.parse(address)
        .map(ClientCore::unresolved)
        .orElseThrow(
            () ->
                OsierException.of(
                    ErrorCode.INVALID_ARGUMENT,
                    "endpoint '%s' must be %s, not '%s'".formatted(dc, HostPort.ALLOWED, address)));
  }

  private static InetSocketAddress unresolved(HostPort at) {
    return InetSocketAddress.createUnresolved(at.host(), at.port());
  }

  public static ClientCore inProcess(InProcess datacenter, ClientSettings settings) {
    return start(
        settings,
        (all, timers, loops, network) ->
            all.add(
                new InProcessConnection(
                    datacenter, settings.metrics(), timers, InProcessConnection.Alarm.of(loops))));
  }

  public ClientSettings settings() {
    return settings;
  }

  public boolean isClosed() {
    return closed;
  }

  public Timers timers() {
    return timers;
  }

  public Datacenters datacenters() {
    return datacenters;
  }

  public CallLimiter limiter() {
    return limiter;
  }

  /**
   * Returns the nearest datacenter that is up, once there is one.
   *
   * @return fails if all datacenters refuse the login, the client is closing, or its time limit for
   *     calls ends
   */
  public CompletableFuture<Connection> whenNearest() {
    Connection now = datacenters.nearest();
    if (now != null) {
      return CallFuture.completed(now);
    }
    CompletableFuture<Boolean> up = datacenters.whenUp();
    timers.later(() -> up.complete(false), TimeLimit.millis(settings.timeout()));
    return CallFuture.of(up, given -> OsierException.of(given.code(), given.why()))
        .thenApply(
            is -> {
              Connection at = datacenters.nearest();
              if (at == null) {
                throw unavailable();
              }
              return at;
            });
  }

  /** Returns the error that says why no datacenter can be reached. */
  public OsierException unavailable() {
    return closing ? ending() : datacenters.unavailable();
  }

  /** Returns the error that says why no holder of a keyspace can be reached. */
  public OsierException unavailable(String keyspace) {
    return closing ? ending() : datacenters.unavailable(keyspace);
  }

  private OsierException ending() {
    return OsierException.of(
        ErrorCode.UNAVAILABLE, closed ? "this client is closed" : "this client is closing");
  }

  /** Returns whether new calls are refused. */
  public boolean isClosing() {
    return closing;
  }

  /** As {@link OsierClient#close(Duration)}. */
  public boolean close(Duration atMost) {
    closing = true;
    try {
      long nanos = TimeLimit.nanos(present(atMost, "a time limit"));
      return limiter.awaitEmpty(CallbackThread.mustNotWait() ? 0 : nanos);
    } finally {
      close();
    }
  }

  /** As {@link OsierClient#close()}. */
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      closing = true;
    }
    // Each step runs even if an earlier one throws, since they run callers' code.
    try {
      datacenters.close();
    } finally {
      limiter.close();
      try {
        timers.close();
      } finally {
        end.run();
      }
    }
  }
}
