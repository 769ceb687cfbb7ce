package io.osier.proxy.connection;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
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

/** Holds a client's connections to its datacenters, and chooses the one to use. Thread-safe. */
public final class Datacenters {
  /** Sessions move to another datacenter only if its round trip is shorter by this factor. */
  private static final double NEARER = 0.7;

  /** After this many measurements all datacenters are asked for their keyspaces again. */
  private static final int ASKED = 30;

  private static final long ASK_MILLIS = 10_000;

  private final Map<String, String> endpoints;
  private final Optional<String> preferred;
  private final Map<String, Connection> connections = new LinkedHashMap<>();
  private final HolderRoutes holders;

  /**
   * Futures that complete with true once a datacenter is up, or with false once certainly none will
   * be.
   */
  private final Set<CompletableFuture<Boolean>> waiting = ConcurrentHashMap.newKeySet();

  private volatile @Nullable Connection nearest;
  private volatile boolean closed;

  /**
   * How many measurements were made since the datacenters were asked; for the measuring thread
   * only.
   */
  private int measured;

  /**
   * Makes an empty set of connections; {@link #add} adds them.
   *
   * @param endpoints the datacenters' addresses, by the endpoints' names
   * @param preferred the endpoint that is used whenever it is up; empty for the nearest one
   */
  public Datacenters(Map<String, String> endpoints, Optional<String> preferred) {
    this.endpoints = endpoints;
    this.preferred = preferred;
    this.holders = new HolderRoutes(connections.values(), preferred);
  }

  /** Returns what is known of the holders of keyspaces, and the ways to them. */
  public HolderRoutes holders() {
    return holders;
  }

  /** Adds a connection. Called before any other use. */
  public void add(Connection connection) {
    connections.put(connection.dc(), connection);
  }

  public void open() {
    connections.values().forEach(Connection::open);
    changed();
  }

  /**
   * Measures the round trips, and from time to time asks all datacenters for their keyspaces: a new
   * holder of a keyspace may be nearer than the present ones, and a keyspace may have been dropped
   * and created anew under its name. For one thread at a time.
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
    // A datacenter that does not answer is asked again next time, and by each call that it refuses.
    var unused =
        of.refreshKeyspaces(ASK_MILLIS)
            .whenComplete(
                (told, error) -> {
                  if (error == null) {
                    changed();
                  }
                });
  }

  /** Called when a connection has come up or gone down: chooses the nearest datacenter again. */
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
   * Returns the connection for requests of a keyspace: to the nearest datacenter that holds it; if
   * no holder is known, to the nearest datacenter of all, which may know the keyspace by now.
   *
   * @param except datacenters that were tried in vain
   * @return null if no such datacenter is up
   */
  public @Nullable Connection route(String keyspace, Set<String> except) {
    Connection first = except.isEmpty() ? nearest() : choose(except);
    if (first != null && first.keyspace(keyspace) != null) {
      return first;
    }
    Connection holder = holders.route(keyspace, except);
    return holder == null && holders.holders(keyspace).isEmpty() ? first : holder;
  }

  /** Returns the connection that requests use now; null if no datacenter is up. */
  public @Nullable Connection nearest() {
    Connection c = nearest;
    return c != null && c.isUp() ? c : choose(Set.of());
  }

  /**
   * Chooses a connection among those that were not tried in vain.
   *
   * @return null if none of them is up
   */
  public @Nullable Connection choose(Set<String> except) {
    return choose(connections.values(), preferred, nearest, except);
  }

  /**
   * Chooses the preferred datacenter if it is up, otherwise the nearest that is up; keeps the
   * present one unless another is clearly nearer.
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
   * Returns the connection to a datacenter.
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
   * Returns a future that completes with true when a datacenter is up, and with false if all refuse
   * the login, or this is closed. A caller that no longer waits must cancel it.
   */
  @SuppressWarnings("CollectionUndefinedEquality") // each future is itself alone
  public CompletableFuture<Boolean> whenUp() {
    CompletableFuture<Boolean> up = new CompletableFuture<>();
    waiting.add(up);
    // Checked after the future was added, so that no change is missed.
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

  /** Returns the error that says why no datacenter can be reached. */
  public OsierException unavailable() {
    for (Connection c : connections.values()) {
      OsierException refused = c.refused();
      // A refused login at one datacenter is reported only if all others refuse it, too.
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

  /** Returns the error that says why no holder of a keyspace can be reached. */
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
                    "keyspace '%s' is held by %s, of which none can be reached ("
                        .formatted(keyspace, String.join(", ", names)),
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

  /**
   * Returns the connections' states, in the order of the endpoints; last those to other
   * datacenters.
   */
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
