package io.osier.proxy.connection;

import io.osier.core.Partitioning;
import io.osier.core.net.HostPort;
import io.osier.protocol.Reply;
import io.osier.proxy.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds connections to the holders of keyspaces that the nearest datacenter does not hold. It
 * collects what datacenters tell about holders, and dials holders that are no endpoints of the
 * client (learned datacenters). A learned datacenter serves only keyspaces of which an endpoint
 * says that others hold them. Thread-safe.
 */
public final class HolderRoutes {
  /**
   * The pause between two queries for the holders of a keyspace none of whose holders can be
   * reached.
   */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Opens connections to datacenters that are no endpoints. */
  @FunctionalInterface
  public interface Dialler {
    Connection dial(String dc, HostPort at);
  }

  private record Learned(String address, Connection connection) {}

  private final Collection<Connection> endpoints;
  private final Optional<String> preferred;

  /** The learned datacenters, by name; at most those of the cluster. Changed with the lock held. */
  private final Map<String, Learned> learned = new ConcurrentHashMap<>();

  /** The connection in use for each known keyspace. */
  private final Map<String, Connection> chosen = new ConcurrentHashMap<>();

  /** When the holders of each forwarded keyspace were asked for last. */
  private final Map<String, Long> lookedAt = new ConcurrentHashMap<>();

  private volatile Optional<Dialler> dialler = Optional.empty();
  private boolean closed;

  HolderRoutes(Collection<Connection> endpoints, Optional<String> preferred) {
    this.endpoints = endpoints;
    this.preferred = preferred;
  }

  /** Sets how datacenters are dialled that are no endpoints. Called before any other use. */
  public void setDialler(Dialler by) {
    dialler = Optional.of(by);
  }

  /** Returns the connections to learned datacenters. */
  List<Connection> learned() {
    return learned.values().stream().map(Learned::connection).toList();
  }

  /** Returns the connection to a learned datacenter; null if there is none. */
  @Nullable Connection learned(String dc) {
    Learned found = learned.get(dc);
    return found == null ? null : found.connection;
  }

  /** Returns the address of a learned datacenter; empty if there is none. */
  Optional<String> address(String dc) {
    return Optional.ofNullable(learned.get(dc)).map(Learned::address);
  }

  /**
   * Returns the datacenters that hold a keyspace, as far as is known; empty if no datacenter knows
   * it.
   */
  public SortedSet<String> holders(String keyspace) {
    SortedSet<String> holders = new TreeSet<>(claimed(keyspace));
    for (Connection c : endpoints) {
      if (c.keyspace(keyspace) != null) {
        holders.add(c.name());
      }
    }
    return holders;
  }

  /**
   * Returns a keyspace's partitioning as a datacenter told it, even one that is down; null if none
   * has.
   */
  public @Nullable Partitioning partitioning(String keyspace) {
    // What a lost connection has told may be old. No streams: this runs for each call.
    Reply.KeyspaceInfo old = null;
    for (Connection c : endpoints) {
      Reply.KeyspaceInfo info = c.told(keyspace);
      if (info != null && c.isUp()) {
        return info.partitioning();
      }
      old = old == null ? info : old;
    }
    for (Learned way : learned.values()) {
      Reply.KeyspaceInfo info = way.connection.told(keyspace);
      if (info != null && way.connection.isUp()) {
        return info.partitioning();
      }
      old = old == null ? info : old;
    }
    return old == null ? null : old.partitioning();
  }

  /** Returns whether an endpoint says that other datacenters hold a keyspace. */
  boolean isElsewhere(String keyspace) {
    return !claimed(keyspace).isEmpty();
  }

  /** Returns the datacenters that hold a keyspace according to endpoints that do not hold it. */
  private Set<String> claimed(String keyspace) {
    Set<String> claimed = new TreeSet<>();
    for (Connection c : endpoints) {
      claimed.addAll(c.elsewhere().holders(keyspace));
    }
    return claimed;
  }

  private List<Connection> ways(String keyspace) {
    Set<String> claimed = claimed(keyspace);
    List<Connection> ways = new ArrayList<>();
    for (Connection c : endpoints) {
      if (c.keyspace(keyspace) != null || claimed.contains(c.name())) {
        ways.add(c);
      }
    }
    if (!claimed.isEmpty()) {
      for (Connection c : learned()) {
        if (c.keyspace(keyspace) != null || claimed.contains(c.name())) {
          ways.add(c);
        }
      }
    }
    return ways;
  }

  /**
   * Returns the connection to the nearest datacenter that holds a keyspace. If none is up, dials
   * the holders that are no endpoints.
   *
   * @param except datacenters that were tried in vain
   * @return null if none is up
   */
  @Nullable Connection route(String keyspace, Set<String> except) {
    Connection present = chosen.get(keyspace);
    if (except.isEmpty()
        && present != null
        && present.isUp()
        && present.keyspace(keyspace) != null) {
      return present;
    }
    List<Connection> ways = ways(keyspace);
    // A datacenter that itself tells that it holds the keyspace is preferred to one of which others
    // tell it.
    List<Connection> sure = ways.stream().filter(c -> c.keyspace(keyspace) != null).toList();
    Connection best = Datacenters.choose(sure, preferred, among(sure, present), except);
    if (best == null) {
      best = Datacenters.choose(ways, preferred, among(ways, present), except);
    }
    if (best == null && ways.stream().noneMatch(Connection::isUp)) {
      dialOthers(keyspace);
    } else if (best != null && except.isEmpty()) {
      chosen.put(keyspace, best);
    }
    return best;
  }

  /**
   * Returns whether it is time to ask again which datacenters hold a keyspace whose calls are
   * forwarded: a holder may have returned with another address.
   */
  public boolean looksAgain(String keyspace, long nowNanos) {
    Long last = lookedAt.get(keyspace);
    boolean isTime = last == null || nowNanos - last >= LOOK_NANOS;
    if (isTime) {
      lookedAt.put(keyspace, nowNanos);
    }
    return isTime;
  }

  /**
   * Returns the connection to the nearest endpoint that forwards requests to a holder, once it is
   * certain that this client cannot reach any holder.
   *
   * @param except datacenters that were tried in vain
   * @return null if there is no forwarder, or a holder may still be reached
   */
  public @Nullable Connection forwarder(String keyspace, Set<String> except) {
    if (ways(keyspace).stream().anyMatch(c -> c.isUp() || c.trouble() == null)) {
      return null;
    }
    List<Connection> all =
        endpoints.stream().filter(c -> !c.elsewhere().holders(keyspace).isEmpty()).toList();
    return Datacenters.choose(all, preferred, null, except);
  }

  /**
   * Chooses again for each keyspace, after a connection has come up or gone down or changed its
   * round trip.
   */
  void changed() {
    for (String keyspace : chosen.keySet()) {
      chosen.computeIfPresent(
          keyspace,
          (k, present) -> {
            List<Connection> ways = ways(k);
            return Datacenters.choose(ways, preferred, among(ways, present), Set.of());
          });
    }
  }

  /** Returns the connection in use if it is still one of the holders'; otherwise null. */
  private static @Nullable Connection among(List<Connection> ways, @Nullable Connection present) {
    return present != null && ways.contains(present) ? present : null;
  }

  private void dialOthers(String keyspace) {
    for (Connection c : endpoints) {
      Reply.Elsewhere told = c.elsewhere();
      for (String holder : told.holders(keyspace)) {
        String address = told.addresses().get(holder);
        if (address != null && endpoints.stream().noneMatch(e -> e.name().equals(holder))) {
          dial(holder, address);
        }
      }
    }
  }

  private void dial(String dc, String address) {
    Learned before = learned.get(dc);
    boolean isAtHand =
        before != null && (before.address.equals(address) || before.connection.isUp());
    if (isAtHand || dialler.isEmpty()) {
      return;
    }
    Optional<HostPort> at = HostPort.parse(address);
    if (at.isEmpty()) {
      return;
    }
    Connection made;
    synchronized (this) {
      if (closed || learned.get(dc) != before) {
        return; // another thread was faster
      }
      made = dialler.get().dial(dc, at.get());
      learned.put(dc, new Learned(address, made));
    }
    made.open();
    if (before != null) {
      before.connection.close();
    }
  }

  /** Closes the connections to learned datacenters, for good. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    learned().forEach(Connection::close);
  }
}
