package io.osier.proxy.connection;

import io.netty.channel.Channel;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import io.osier.core.time.BackOff;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.Timers;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one datacenter over the network; reconnects with a growing pause when it is
 * lost. Pipelines requests, which are answered in any order ({@link RequestChannel}). Thread-safe.
 */
public final class RemoteConnection implements Connection, RequestChannel.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteConnection.class);
  private static final long BACK_OFF_MILLIS_MIN = 50;
  private static final long BACK_OFF_MILLIS_MAX = 2_000;
  private static final double ROUND_TRIP_GAIN = 0.2;

  // Pauses after refused logins, and the number of refusals in a row that end the attempts.
  private static final long LOGIN_MILLIS_MIN = 500;
  private static final long LOGIN_MILLIS_MAX = 60_000;
  private static final int LOGINS_MAX = 16;

  private final String dc;
  private final InetSocketAddress address;
  private final Dialling dialling;
  private final ClientMetrics metrics;
  private final Timers timers;
  private final Network network;
  private final Runnable onChange;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger loginsRefused = new AtomicInteger();

  /** The channel for requests and the process at its other end; they only change together. */
  private record Way(RequestChannel channel, ReplicaId replica) {}

  /** Null while no request can be sent. */
  private volatile @Nullable Way way;

  private volatile @Nullable ReplicaId replica; // of the present or last channel
  private volatile ToldKeyspaces keyspaces = new ToldKeyspaces(List.of(), Reply.Elsewhere.NOTHING);
  private volatile double roundTripNanos = Double.NaN;
  private volatile @Nullable OsierException refused;
  private volatile @Nullable String trouble;
  private volatile boolean closed;
  private final BackOff backOff = new BackOff(BACK_OFF_MILLIS_MIN, BACK_OFF_MILLIS_MAX);

  public RemoteConnection(
      String dc,
      InetSocketAddress address,
      Dialling dialling,
      ClientMetrics metrics,
      Timers timers,
      Network network,
      Runnable onChange) {
    this.dc = dc;
    this.address = address;
    this.dialling = dialling;
    this.metrics = metrics;
    this.timers = timers;
    this.network = network;
    this.onChange = onChange;
  }

  @Override
  public void open() {
    if (dialling.tls().isEmpty()) {
      connect();
      return;
    }
    // The files may have changed; the event loop must not wait for a disk.
    network.apart(
        "osier-client-tls",
        () -> {
          try {
            dialling.tls().get().refresh();
          } catch (OsierException e) {
            LOG.warn("{}; those that were read before are used", e.reason());
          }
          connect();
        });
  }

  private void connect() {
    if (!closed) {
      int timeoutMillis = Math.max(1, TimeLimit.intMillis(dialling.connectTimeout()));
      network.dial(address, timeoutMillis, this::opened, this::unreachable);
    }
  }

  private void opened(Channel at) {
    dialling
        .tls()
        .ifPresent(
            tls ->
                at.pipeline()
                    .addLast(
                        tls.dial(
                            at.alloc(),
                            address.getHostString(),
                            address.getPort(),
                            dialling.connectTimeout().toMillis())));
    at.pipeline().addLast(new RequestChannel(at, this, dialling, timers, network));
  }

  private void unreachable(Throwable cause) {
    trouble = ConnectionErrors.inWords(cause);
    LOG.debug("{}: {}", dc, trouble);
    openLater();
  }

  private void openLater() {
    if (closed) {
      return;
    }
    int refusals = loginsRefused.get();
    if (refusals == 0) {
      network.later(this::open, backOff.nextMillis(network.random()));
    } else {
      loginPauseMillis(refusals).ifPresent(pause -> network.later(this::open, pause));
    }
  }

  /**
   * Returns the pause before the next login, after so many refusals in a row; empty if the client
   * gives up. A wrong password stays wrong, but the user may be created meanwhile.
   */
  static OptionalLong loginPauseMillis(int refusals) {
    long pause = Math.min(LOGIN_MILLIS_MAX, LOGIN_MILLIS_MIN << Math.min(refusals - 1, 20));
    return refusals >= LOGINS_MAX ? OptionalLong.empty() : OptionalLong.of(pause);
  }

  // ---------------------------------------------------------------- its channels

  @Override
  public String name() {
    return Connection.super.name();
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void welcomed(RequestChannel at, Reply.Welcome as) {
    ReplicaId there = new ReplicaId(as.replica().dc(), as.replica().incarnation());
    replica = there;
    keyspaces = new ToldKeyspaces(as.keyspaces(), as.elsewhere());
    way = new Way(at, there);
    refused = null;
    trouble = null;
    backOff.reset();
    loginsRefused.set(0);
    if (closed) { // close() may not have seen this channel
      at.close();
      return;
    }
    ping();
    onChange.run();
  }

  @Override
  public void refused(RequestChannel at, ErrorCode code, @Nullable String message) {
    OsierException why = OsierException.of(code, dc + ": " + message);
    OsierException before = refused;
    if (before == null || !String.valueOf(before.reason()).equals(why.reason())) {
      LOG.warn("{} refuses this client: {}: {}", dc, code, message); // it is tried again and again
    }
    metrics.failed(dc, code);
    if (code == ErrorCode.NOT_AUTHENTICATED) {
      loginsRefused.incrementAndGet();
    }
    refused = why;
    trouble = why.reason();
    onChange.run();
    at.close();
  }

  @Override
  public void broken(Throwable cause) {
    String why = ConnectionErrors.inWords(cause);
    if (!why.equals(trouble)) { // it is tried again and again
      LOG.warn("connection to {} closed: {}", dc, why);
    }
    trouble = why;
  }

  @Override
  public void ending(RequestChannel at, boolean known) {
    Way of = way;
    if (of != null && of.channel == at) {
      way = null;
    }
    if (refused == null && !known) {
      trouble =
          replica == null
              ? "it closed the connection without a greeting (is this the port for clients, and"
                  + (dialling.tls().isPresent() ? " with TLS?)" : " without TLS?)")
              : "the connection was lost";
    }
  }

  @Override
  public void ended() {
    onChange.run();
    openLater();
  }

  @Override
  public void answered(PendingRequest to) {
    inFlight.decrementAndGet();
    // A watcher's poll waits until something changes, so its time is no measure.
    if (metrics != ClientMetrics.NONE && !(to.request() instanceof WatchRequest)) {
      metrics.answered(dc, timers.nanoTime() - to.startNanos());
    }
  }

  @Override
  public void failed(PendingRequest request, LostException cause) {
    inFlight.decrementAndGet();
    request.answered().lost(cause);
  }

  // ---------------------------------------------------------------- requests

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    long now = timers.nanoTime();
    send(request, now, now + Math.max(1, timeoutMillis) * 1_000_000, Answered.of(reply));
    return reply;
  }

  @Override
  public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    send(way, request, nowNanos, deadlineNanos, answered);
  }

  @Override
  @SuppressWarnings("ReferenceEquality")
  public void send(
      ReplicaId to, Request request, long nowNanos, long deadlineNanos, Answered answered) {
    Way over = way;
    if (over == null || to == over.replica) {
      send(over, request, nowNanos, deadlineNanos, answered);
    } else {
      answered.lost(Connection.isGone(to));
    }
  }

  private void send(
      @Nullable Way over, Request request, long nowNanos, long deadlineNanos, Answered answered) {
    if (over == null) {
      answered.lost(new LostException(ErrorCode.UNAVAILABLE, false, "not connected to " + name()));
      return;
    }
    inFlight.incrementAndGet();
    over.channel.send(new PendingRequest(request, answered, nowNanos, deadlineNanos));
  }

  @Override
  public void ping() {
    Way over = way;
    if (over == null) {
      return;
    }
    long start = timers.nanoTime();
    long patience = Math.max(1_000, TimeLimit.millis(dialling.pingInterval().multipliedBy(4)));
    send(new Request.Ping(), patience)
        .whenComplete(
            (pong, error) -> {
              if (error == null) {
                double took = timers.nanoTime() - start;
                roundTripNanos =
                    Double.isNaN(roundTripNanos)
                        ? took
                        : roundTripNanos + ROUND_TRIP_GAIN * (took - roundTripNanos);
              } else if (way == over && over.channel.isSilent(patience)) {
                LOG.warn("{} does not answer; connection closed", dc);
                over.channel.close();
              }
            });
  }

  @Override
  public String dc() {
    return dc;
  }

  @Override
  public boolean isUp() {
    return way != null;
  }

  @Override
  public @Nullable ReplicaId replica() {
    return replica;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    return keyspaces.here();
  }

  @Override
  public Reply.@Nullable KeyspaceInfo keyspace(String name) {
    return keyspaces.find(name);
  }

  @Override
  public Reply.Elsewhere elsewhere() {
    return keyspaces.elsewhere();
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    return TakenReply.of(
        send(new Request.Keyspaces(), timeoutMillis),
        reply -> {
          if (reply instanceof Reply.Keyspaces now) {
            keyspaces = new ToldKeyspaces(now.keyspaces(), now.elsewhere());
          } else if (reply instanceof Reply.Failure f && f.code() != ErrorCode.MALFORMED) {
            throw OsierException.of(f.code(), f.message());
          } // else an older datacenter does not know the request, and nothing changes
        });
  }

  @Override
  public double roundTripNanos() {
    return roundTripNanos;
  }

  @Override
  public @Nullable OsierException refused() {
    return refused;
  }

  @Override
  public @Nullable String trouble() {
    return trouble;
  }

  @Override
  public int inFlight() {
    return inFlight.get();
  }

  @Override
  public void close() {
    closed = true;
    Way over = way;
    if (over != null) {
      way = null;
      over.channel.close(); // fails open requests
    }
  }
}
