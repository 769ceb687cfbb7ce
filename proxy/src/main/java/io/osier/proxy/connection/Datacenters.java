package io.osier.proxy.connection;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.proxy.Connection;
import io.osier.proxy.OsierClient;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A client's ways to its datacenters, and which of them is used. Thread-safe. */
public final class Datacenters {
  /** Another datacenter must be nearer by this factor before sessions move to it. */
  private static final double NEARER = 0.7;

  /** After so many measurements all are asked who holds which keyspaces by now. */
  private static final int ASKED = 30;

  private static final long ASK_MILLIS = 10_000;

  private final Map<String, String> endpoints;
  private final Optional<String> preferred;
  private final Map<String, Connection> connections = new LinkedHashMap<>();
  private final HolderRoutes holders;

  /** Completed once a datacenter is up, or certainly none will be. */
  private final Set<CompletableFuture<Boolean>> waiting = ConcurrentHashMap.newKeySet();

  private volatile @Nullable Connection nearest;
  private volatile boolean closed;

  /** Since they were asked; of the thread that measures. */
  private int measured;

  /**
   * A client's datacenters: none before {@link #add}.
   *
   * @param endpoints their addresses, by the endpoints' names
   * @param preferred the endpoint that is used whenever it is up; empty for the nearest one
   */
  public Datacenters(Map<String, String> endpoints, Optional<String> preferred) {
    this.endpoints = endpoints;
    this.preferred = preferred;
    this.holders = new HolderRoutes(connections.values(), preferred);
  }

  /** How datacenters are dialled that are no endpoints; before anything else is asked. */
  public void setDialler(HolderRoutes.Dialler dialler) {
    holders.setDialler(dialler);
  }

  /** Adds one; before anything else is asked. */
  public void add(Connection connection) {
    connections.put(connection.dc(), connection);
  }

  public void open() {
    connections.values().forEach(Connection::open);
    changed();
  }

  /**
   * Measures the ways there and back, and now and then asks which keyspaces are held where, and how
   * they are: one that was added to a keyspace's holders may be nearer than those that are used,
   * and a keyspace may be another one of its name. By one thread at a time.
   */
  public void measure() {
    all().forEach(Connection::ping);
    changed();
    measured++;
    if (measured == ASKED) {
      measured = 0;
      all().filter(Connection::isUp).forEach(this::askWhoHolds);
    }
  }

  private void askWhoHolds(Connection of) {
    // One that does not tell is asked again next time, and by each call that it refuses.
    var unused =
        of.refreshKeyspaces(ASK_MILLIS)
            .whenComplete(
                (told, error) -> {
                  if (error == null) {
                    changed();
                  }
                });
  }

  /** Hears that one has come up or gone down. */
  public void changed() {
    nearest = choose(Set.of());
    holders.changed();
    if (nearest != null) {
      waiting.forEach(w -> w.complete(true));
    } else if (isEveryLoginRefused()) {
      waiting.forEach(w -> w.complete(false));
    }
  }

  /**
   * Where requests of a keyspace go to: the nearest datacenter that holds it; where nobody is known
   * to do so the nearest of all, which knows it if it was created since.
   *
   * @param except datacenters that were tried in vain
   * @return null if none is up
   */
  public @Nullable Connection route(String keyspace, Set<String> except) {
    Connection first = except.isEmpty() ? nearest() : choose(except);
    if (first != null && first.keyspace(keyspace) != null) {
      return first;
    }
    Connection holder = holders.route(keyspace, except);
    return holder == null && holders.holders(keyspace).isEmpty() ? first : holder;
  }

  /**
   * Who has requests of a keyspace done elsewhere, where {@link #route} has nowhere to go.
   *
   * @param except datacenters that were tried in vain
   * @return null if there is none, or a holder may yet be reached
   */
  public @Nullable Connection forwarder(String keyspace, Set<String> except) {
    return holders.forwarder(keyspace, except);
  }

  /** Whether it is time to ask again who holds a keyspace, whose calls are forwarded meanwhile. */
  public boolean looksAgain(String keyspace, long nowNanos) {
    return holders.looksAgain(keyspace, nowNanos);
  }

  /** The datacenters that hold a keyspace, as far as is known; none if nobody knows it. */
  public SortedSet<String> holders(String keyspace) {
    return holders.holders(keyspace);
  }

  /** How a keyspace's keys are divided, as one has said, also if it is down; null if none has. */
  public @Nullable Partitioning partitioning(String keyspace) {
    return holders.partitioning(keyspace);
  }

  /** The datacenter that requests go to; null if none is up. */
  public @Nullable Connection nearest() {
    Connection c = nearest;
    return c != null && c.isUp() ? c : choose(Set.of());
  }

  /**
   * The datacenter to use, of those that were not tried in vain.
   *
   * @return null if none is up
   */
  public @Nullable Connection choose(Set<String> except) {
    return choose(connections.values(), preferred, nearest, except);
  }

  /**
   * The preferred datacenter if it is up, otherwise the nearest that is, and the present one unless
   * another is clearly nearer.
   *
   * @param except datacenters that were tried in vain
   * @return null if none is up
   */
  static @Nullable Connection choose(
      Collection<Connection> connections,
      Optional<String> preferred,
      @Nullable Connection present,
      Set<String> except) {
    Connection best = null;
    for (Connection c : connections) {
      if (c.isUp() && !except.contains(c.dc())) {
        if (preferred.filter(c.dc()::equals).isPresent()) {
          return c;
        }
        best = best == null || roundTrip(c) < roundTrip(best) ? c : best;
      }
    }
    if (best != null
        && present != null
        && present.isUp()
        && !except.contains(present.dc())
        && roundTrip(best) > NEARER * roundTrip(present)) {
      return present;
    }
    return best;
  }

  private static double roundTrip(Connection c) {
    return Double.isNaN(c.roundTripNanos()) ? Double.MAX_VALUE / 2 : c.roundTripNanos();
  }

  /**
   * The way to a datacenter.
   *
   * @throws OsierException INVALID_ARGUMENT if there is no such endpoint
   */
  public Connection get(String dc) {
    Connection c = connections.getOrDefault(dc, holders.learned(dc));
    if (c == null) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "there is no endpoint '" + dc + "'; the endpoints are " + connections.keySet());
    }
    return c;
  }

  /**
   * Completes when one is up, with true; with false if all refuse the login, or this is closed. Who
   * does not wait any more cancels it.
   */
  @SuppressWarnings("CollectionUndefinedEquality") // each future is itself alone
  public CompletableFuture<Boolean> whenUp() {
    CompletableFuture<Boolean> up = new CompletableFuture<>();
    waiting.add(up);
    // Only now, when it is among those who wait: so no change is missed.
    if (choose(Set.of()) != null) {
      up.complete(true);
    } else if (closed || isEveryLoginRefused()) {
      up.complete(false);
    }
    up.whenComplete((is, e) -> waiting.remove(up));
    return up;
  }

  private boolean isEveryLoginRefused() {
    return !connections.isEmpty()
        && connections.values().stream().allMatch(Datacenters::isLoginRefused);
  }

  private static boolean isLoginRefused(Connection c) {
    OsierException refused = c.refused();
    return refused != null && refused.code() == ErrorCode.NOT_AUTHENTICATED;
  }

  /** Why none can be reached. */
  public OsierException unavailable() {
    for (Connection c : connections.values()) {
      OsierException refused = c.refused();
      // One that does not know the user is a trouble among others, as long as others may.
      if (refused != null && (!isLoginRefused(c) || isEveryLoginRefused())) {
        return refused;
      }
    }
    return OsierException.of(
        ErrorCode.UNAVAILABLE,
        connections.values().stream()
            .map(c -> c.dc() + " at " + address(c) + ": " + trouble(c))
            .collect(Collectors.joining("; ", "no datacenter can be reached (", ")")));
  }

  /** Why none can be reached that holds a keyspace. */
  public OsierException unavailable(String keyspace) {
    if (!holders.isElsewhere(keyspace) || isEveryLoginRefused()) {
      return unavailable();
    }
    SortedSet<String> names = holders.holders(keyspace);
    return OsierException.of(
        ErrorCode.UNAVAILABLE,
        names.stream()
            .map(this::trouble)
            .collect(
                Collectors.joining(
                    "; ",
                    "keyspace '"
                        + keyspace
                        + "' is held by "
                        + String.join(", ", names)
                        + ", of which none can be reached (",
                    ")")));
  }

  private String trouble(String holder) {
    return all()
        .filter(c -> c.name().equals(holder))
        .map(c -> holder + " at " + address(c) + ": " + trouble(c))
        .findFirst()
        .orElse(holder + ": its address is not known here; give it as an endpoint");
  }

  private Stream<Connection> all() {
    return Stream.concat(connections.values().stream(), holders.learned().stream());
  }

  private static String trouble(Connection c) {
    String trouble = c.trouble();
    return trouble == null ? "no answer yet" : trouble;
  }

  private String address(Connection c) {
    return Optional.ofNullable(endpoints.get(c.dc())).or(() -> holders.address(c.dc())).orElse("");
  }

  /** What the ways are doing, in the order of the endpoints; last those that are none. */
  public List<OsierClient.Status> status() {
    return all()
        .map(
            c ->
                new OsierClient.Status(
                    c.dc(),
                    address(c),
                    c.isUp(),
                    Optional.ofNullable(c.replica()),
                    c.roundTripNanos() / 1e6,
                    c.inFlight(),
                    Optional.ofNullable(c.trouble())))
        .toList();
  }

  public void close() {
    closed = true;
    try {
      connections.values().forEach(Connection::close);
      holders.close();
    } finally {
      waiting.forEach(w -> w.complete(false));
    }
  }
}
