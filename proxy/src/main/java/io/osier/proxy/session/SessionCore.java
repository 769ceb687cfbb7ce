package io.osier.proxy.session;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.Reply;
import io.osier.proxy.Connection;
import io.osier.proxy.cache.ReadCache;
import io.osier.proxy.client.ClientCore;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A session's state: what it has seen, its cache, and the datacenter to which its requests go.
 * Thread-safe.
 */
public final class SessionCore {
  private final ClientCore client;
  private final ReadCache cache;
  private final SessionContext past = new SessionContext();

  /**
   * How long calls wait for updates that the session has seen; Long.MAX_VALUE for no limit of its
   * own.
   */
  private final long patienceNanos;

  /** The datacenter to which the session is pinned; null if it is not. */
  private volatile @Nullable Connection pinned;

  public SessionCore(ClientCore client, Optional<Duration> patience) {
    this.client = client;
    this.cache =
        new ReadCache(client.settings().caching(), client.followed(), client.timers()::nanoTime);
    long half = client.settings().timeout().toNanos() / 2;
    this.patienceNanos =
        patience.map(p -> Math.clamp(TimeLimit.nanos(p), 0, half)).orElse(Long.MAX_VALUE);
  }

  public ClientCore client() {
    return client;
  }

  public SessionContext past() {
    return past;
  }

  public ReadCache cache() {
    return cache;
  }

  public long patienceNanos() {
    return patienceNanos;
  }

  public void pin(String endpoint) {
    pinned = client.datacenters().get(endpoint);
    cache.clear(); // answers of another datacenter would hide that this one is behind
  }

  public void unpin() {
    pinned = null;
  }

  /**
   * Gives up updates that a datacenter lacks; returns whether the request may be sent to it again.
   */
  public boolean goOn(String keyspace, int partition, VersionVector asked, VersionVector there) {
    boolean went = past.giveUp(keyspace, partition, asked, there);
    cache.clear();
    return went;
  }

  /**
   * Returns the connection for a request of a keyspace: to a holder, as far as is known.
   *
   * @param tried the datacenters that were tried in vain
   * @return null if there is none
   */
  public @Nullable Connection route(String keyspace, Set<String> tried) {
    Connection only = pinned;
    if (only != null) {
      return only.isUp() && !tried.contains(only.dc()) ? only : null;
    }
    return client.datacenters().route(keyspace, tried);
  }

  /**
   * Returns the connection to a datacenter that forwards the request to a holder, for when {@link
   * #route} finds none.
   *
   * @return null if there is none
   */
  public @Nullable Connection forwarder(String keyspace, Set<String> tried) {
    return pinned == null ? client.datacenters().holders().forwarder(keyspace, tried) : null;
  }

  /**
   * Returns the connection to ask for its datacenter's keyspaces, before a request is sent or
   * fails.
   *
   * @param way the request's connection, whose datacenter has not told the keyspace; null for none
   * @param asked the datacenters that were asked already
   * @return null if no other datacenter is left
   */
  public @Nullable Connection teller(@Nullable Connection way, Set<String> asked) {
    if (way != null && !asked.contains(way.dc())) {
      return way;
    }
    return pinned == null ? client.datacenters().choose(asked) : null;
  }

  /** Returns the error that says that the datacenter used does not hold the keyspace. */
  public OsierException without(Connection at, String keyspace) {
    Set<String> holders = client.datacenters().holders().holders(keyspace);
    if (holders.contains(at.name())) {
      return OsierException.of(
          ErrorCode.UNAVAILABLE, at.name() + " has not opened keyspace '" + keyspace + "' yet");
    }
    return holders.isEmpty()
        ? OsierException.of(
            ErrorCode.UNKNOWN_KEYSPACE,
            at.name() + " has no keyspace '" + keyspace + "'; there are " + at.allKeyspaces())
        : OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            ("%s, where this session is pinned, does not hold keyspace '%s'; it is held"
                    + " by %s: unpin() the session, or pin it to one of these")
                .formatted(at.name(), keyspace, String.join(", ", holders)));
  }

  /** Returns the error that says why a request of a keyspace can be sent nowhere. */
  public OsierException unreachable(String keyspace) {
    Connection only = pinned;
    if (only == null) {
      return client.unavailable(keyspace);
    }
    OsierException refused = only.refused();
    String trouble = only.trouble();
    return refused != null
        ? refused
        : OsierException.of(
            ErrorCode.UNAVAILABLE,
            "%s, where this session is pinned, cannot be reached (%s); wait, or unpin() it"
                .formatted(only.name(), trouble == null ? "no answer yet" : trouble));
  }

  /** Handles a move to another datacenter; {@code from} is null if the session has not moved. */
  public void moved(@Nullable ReplicaId from, ReplicaId to) {
    if (from != null) {
      client.settings().metrics().moved(from.dc(), to.dc());
      cache.clear();
    }
  }

  /** Returns a keyspace's partitioning if it is known without asking; otherwise null. */
  public @Nullable Partitioning partitioning(String keyspace) {
    synchronized (past) {
      Partitioning seen = past.clocks(keyspace).partitioning();
      if (seen != null) {
        return grown(keyspace, seen);
      }
    }
    Connection nearest = route(keyspace, Set.of());
    Reply.KeyspaceInfo info = nearest == null ? null : nearest.keyspace(keyspace);
    return info == null
        ? client.datacenters().holders().partitioning(keyspace)
        : info.partitioning();
  }

  /** Returns what the session knows of a keyspace, with homes that were added since. */
  private Partitioning grown(String keyspace, Partitioning seen) {
    Partitioning told =
        seen.homes().isEmpty() ? null : client.datacenters().holders().partitioning(keyspace);
    return told != null && told.hasGrownFrom(seen) ? told : seen;
  }

  /**
   * Returns the homes of a keyspace that perhaps no reachable datacenter holds, as far as they were
   * told.
   */
  public Homes homes(String keyspace) {
    Partitioning told = client.datacenters().holders().partitioning(keyspace);
    return told == null ? Homes.NONE : told.homes();
  }
}
