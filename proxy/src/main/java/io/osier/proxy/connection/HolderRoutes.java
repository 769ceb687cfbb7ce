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
 * A client's ways to keyspaces that its nearest datacenter does not hold: which datacenters do, as
 * they and the others say, and connections to those that the client was not told of when it was
 * built. Such a connection serves only keyspaces of which an endpoint says that others hold them.
 * Thread-safe.
 */
public final class HolderRoutes {
  /** How often it is asked who holds a keyspace of which no holder can be reached. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Makes a way to a datacenter that is none of the endpoints. */
  @FunctionalInterface
  public interface Dialler {
    Connection dial(String dc, HostPort at);
  }

  private record Learned(String address, Connection connection) {}

  private final Collection<Connection> endpoints;
  private final Optional<String> preferred;

  /** By datacenter; grows with the cluster. Changed with the lock held. */
  private final Map<String, Learned> learned = new ConcurrentHashMap<>();

  /** By keyspace, which way is used; only of keyspaces that are known. */
  private final Map<String, Connection> chosen = new ConcurrentHashMap<>();

  /** By keyspace, when it was asked last who holds it; only of those that are forwarded. */
  private final Map<String, Long> lookedAt = new ConcurrentHashMap<>();

  private volatile Optional<Dialler> dialler = Optional.empty();
  private boolean closed;

  HolderRoutes(Collection<Connection> endpoints, Optional<String> preferred) {
    this.endpoints = endpoints;
    this.preferred = preferred;
  }

  void setDialler(Dialler by) {
    dialler = Optional.of(by);
  }

  /** The ways to datacenters that are no endpoints. */
  List<Connection> learned() {
    return learned.values().stream().map(Learned::connection).toList();
  }

  /** The way to a datacenter that is no endpoint; null if there is none. */
  @Nullable Connection learned(String dc) {
    Learned found = learned.get(dc);
    return found == null ? null : found.connection;
  }

  /** Where it was told that a datacenter is reached. */
  Optional<String> address(String dc) {
    return Optional.ofNullable(learned.get(dc)).map(Learned::address);
  }

  /** The datacenters that hold a keyspace, as far as is known; none if nobody knows it. */
  SortedSet<String> holders(String keyspace) {
    SortedSet<String> holders = new TreeSet<>(claimed(keyspace));
    for (Connection c : endpoints) {
      if (c.keyspace(keyspace) != null) {
        holders.add(c.name());
      }
    }
    return holders;
  }

  /** As {@link Datacenters#partitioning}. */
  @Nullable Partitioning partitioning(String keyspace) {
    // What those said that are down may be old. Without streams, as it is asked for each call.
    Reply.KeyspaceInfo old = null;
    for (Connection c : endpoints) {
      Reply.KeyspaceInfo info = info(c, keyspace);
      if (info != null && c.isUp()) {
        return info.partitioning();
      }
      old = old == null ? info : old;
    }
    for (Learned way : learned.values()) {
      Reply.KeyspaceInfo info = info(way.connection, keyspace);
      if (info != null && way.connection.isUp()) {
        return info.partitioning();
      }
      old = old == null ? info : old;
    }
    return old == null ? null : old.partitioning();
  }

  /** What a datacenter says of a keyspace that it holds, or that others do; null if nothing. */
  private static Reply.@Nullable KeyspaceInfo info(Connection c, String keyspace) {
    Reply.KeyspaceInfo held = c.keyspace(keyspace);
    return held != null
        ? held
        : c.elsewhere().find(keyspace).map(Reply.HeldElsewhere::keyspace).orElse(null);
  }

  /** Whether an endpoint says that others hold a keyspace. */
  boolean isElsewhere(String keyspace) {
    return !claimed(keyspace).isEmpty();
  }

  /** Of whom an endpoint that does not hold a keyspace says that they do. */
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
   * The way to the nearest datacenter that holds a keyspace. Where none is up, those that are no
   * endpoints are dialled.
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
    // Who says itself that it holds it goes before those of whom others say so.
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
   * Whether it is time to ask again who holds a keyspace, whose calls are forwarded meanwhile: a
   * holder may have come back at another address.
   */
  boolean looksAgain(String keyspace, long nowNanos) {
    Long last = lookedAt.get(keyspace);
    boolean isTime = last == null || nowNanos - last >= LOOK_NANOS;
    if (isTime) {
      lookedAt.put(keyspace, nowNanos);
    }
    return isTime;
  }

  /**
   * The way to the nearest endpoint that asks a holder in its clients' stead, once it is certain
   * that none can be reached from here.
   *
   * @param except datacenters that were tried in vain
   * @return null if there is none, or a holder may yet be reached
   */
  @Nullable Connection forwarder(String keyspace, Set<String> except) {
    if (ways(keyspace).stream().anyMatch(c -> c.isUp() || c.trouble() == null)) {
      return null;
    }
    List<Connection> all =
        endpoints.stream().filter(c -> !c.elsewhere().holders(keyspace).isEmpty()).toList();
    return Datacenters.choose(all, preferred, null, except);
  }

  /** A way has come up or gone down, or has become nearer or farther. */
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

  /** The way that is used, unless that one is told to hold the keyspace no longer. */
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
        return; // meanwhile
      }
      made = dialler.get().dial(dc, at.get());
      learned.put(dc, new Learned(address, made));
    }
    made.open();
    if (before != null) {
      before.connection.close();
    }
  }

  /** Closes the ways to datacenters that are no endpoints, for good. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    learned().forEach(Connection::close);
  }
}
