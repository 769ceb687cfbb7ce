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
 * A session's state: what it has seen, what it keeps of that, and where its requests go.
 * Thread-safe.
 */
public final class SessionCore {
  private final ClientCore client;
  private final ReadCache cache;
  private final SessionContext past = new SessionContext();

  /** How long calls wait for what the session has seen; Long.MAX_VALUE for as long as they can. */
  private final long patienceNanos;

  /** The only datacenter to use, or null. */
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
    cache.clear(); // what is kept may be another's, and nothing would be asked there
  }

  public void unpin() {
    pinned = null;
  }

  /** Goes on at a datacenter that lacks something of what a request asked for; false if not. */
  public boolean goOn(String keyspace, int partition, VersionVector asked, VersionVector there) {
    boolean went = past.giveUp(keyspace, partition, asked, there);
    cache.clear();
    return went;
  }

  /**
   * Where to send a request of a keyspace: to who holds it, as far as is known.
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
   * Who has a request done by a holder of its keyspace, where {@link #route} has nowhere to go.
   *
   * @return null if there is none
   */
  public @Nullable Connection forwarder(String keyspace, Set<String> tried) {
    return pinned == null ? client.datacenters().forwarder(keyspace, tried) : null;
  }

  /**
   * Who is to be asked which keyspaces there are, before a request goes on or is given up.
   *
   * @param way where it would go, whose keyspaces lack the one that is wanted; null for nowhere
   * @param asked who has told it
   * @return null if there is nobody else
   */
  public @Nullable Connection teller(@Nullable Connection way, Set<String> asked) {
    if (way != null && !asked.contains(way.dc())) {
      return way;
    }
    return pinned == null ? client.datacenters().choose(asked) : null;
  }

  /** That a datacenter to which requests go does not hold a keyspace. */
  public OsierException without(Connection at, String keyspace) {
    Set<String> holders = client.datacenters().holders(keyspace);
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
            at.name()
                + ", where this session is pinned, does not hold keyspace '"
                + keyspace
                + "'; it is held by "
                + String.join(", ", holders)
                + ": unpin() the session, or pin it to one of these");
  }

  /** Why there is nowhere to send a request of a keyspace to. */
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
            only.name()
                + ", where this session is pinned, cannot be reached ("
                + (trouble == null ? "no answer yet" : trouble)
                + "); wait, or unpin() it");
  }

  /** Another datacenter serves it from now on; {@code from} is null if it has not moved. */
  public void moved(@Nullable ReplicaId from, ReplicaId to) {
    if (from != null) {
      client.settings().metrics().moved(from.dc(), to.dc());
      cache.clear();
    }
  }

  /** How a keyspace's keys are divided, as far as that is known without asking; or null. */
  public @Nullable Partitioning partitioning(String keyspace) {
    synchronized (past) {
      Partitioning seen = past.clocks(keyspace).partitioning();
      if (seen != null) {
        return seen;
      }
    }
    Connection nearest = route(keyspace, Set.of());
    Reply.KeyspaceInfo info = nearest == null ? null : nearest.keyspace(keyspace);
    return info == null ? client.datacenters().partitioning(keyspace) : info.partitioning();
  }

  /** The homes of a keyspace that nobody in reach may hold, as far as somebody has told them. */
  public Homes homes(String keyspace) {
    Partitioning told = client.datacenters().partitioning(keyspace);
    return told == null ? Homes.NONE : told.homes();
  }
}
