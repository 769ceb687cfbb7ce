package io.osier.proxy.session;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.proxy.Session;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a session has seen of each partition, and which datacenters serve it. Thread-safe; callers
 * hold its lock for operations of several calls.
 */
public final class SessionContext {
  private final Map<String, KeyspaceClocks> keyspaces = new HashMap<>();

  /** The updates that were given up: at most one entry for each partition and lost replica. */
  private final Map<Session.Loss, Session.Loss> losses = new LinkedHashMap<>();

  private @Nullable ReplicaId at;

  /** Whether a token has added what another session saw. */
  private volatile boolean inherited;

  /** Returns the datacenter that served the session last; empty before the first request. */
  public synchronized Optional<String> datacenter() {
    return Optional.ofNullable(at).map(ReplicaId::dc);
  }

  /** Returns what was seen of a causal keyspace, which has one partition. */
  public synchronized VersionVector clock(String keyspace) {
    return clocks(keyspace).get(0).seen();
  }

  public synchronized void forget() {
    keyspaces.values().forEach(KeyspaceClocks::forget);
    losses.clear();
    inherited = false;
  }

  public synchronized List<Session.Loss> losses() {
    return List.copyOf(losses.values());
  }

  /**
   * Gives up the updates that a datacenter lacks.
   *
   * @param asked the version vector that the request carried
   * @param there the datacenter's version vector
   * @return whether to send the request again: updates were given up, by this call or another one,
   *     or the datacenter no longer lacks any
   */
  public synchronized boolean giveUp(
      String keyspace, int partition, VersionVector asked, VersionVector there) {
    PartitionClock clock = clocks(keyspace).get(partition);
    boolean any = false;
    boolean lacksMore = false;
    for (int i = 0; i < asked.size(); i++) {
      ReplicaId replica = asked.replica(i);
      long here = there.get(replica);
      if (asked.number(i) <= here) {
        continue;
      }
      long seen = clock.seen().get(replica);
      if (seen == asked.number(i)) {
        clock.lower(replica, here);
        Session.Loss loss = new Session.Loss(keyspace, partition, replica, here, asked.number(i));
        losses.merge(
            new Session.Loss(keyspace, partition, replica, 0, 0), loss, SessionContext::both);
        any = true;
      } else if (seen > asked.number(i)) {
        lacksMore = true; // another datacenter may have the newer updates
      } // else another call has given it up before
    }
    return any || !lacksMore;
  }

  private static Session.Loss both(Session.Loss a, Session.Loss b) {
    return new Session.Loss(
        a.keyspace(),
        a.partition(),
        a.replica(),
        Math.min(a.after(), b.after()),
        Math.max(a.through(), b.through()));
  }

  /** Returns what was seen of all keyspaces, by partition. */
  public synchronized Map<String, List<VersionVector>> seen() {
    Map<String, List<VersionVector>> seen = new HashMap<>();
    keyspaces.forEach((name, clocks) -> put(seen, name, clocks.seen()));
    return seen;
  }

  /** Returns what was seen of one keyspace and its homes, by keyspace and partition. */
  public synchronized Map<String, List<VersionVector>> seen(String keyspace) {
    Map<String, List<VersionVector>> seen = seen();
    seen.keySet().removeIf(name -> !name.equals(keyspace) && !Homes.base(name).equals(keyspace));
    return seen;
  }

  private static void put(
      Map<String, List<VersionVector>> to, String keyspace, List<VersionVector> seen) {
    if (!seen.isEmpty()) {
      to.put(keyspace, seen);
    }
  }

  /**
   * Adds what another session has seen.
   *
   * @param seen the version vectors of the partitions, by keyspace
   * @throws OsierException INVALID_ARGUMENT if a keyspace has another number of partitions in it;
   *     nothing was added
   */
  public synchronized void join(Map<String, List<VersionVector>> seen) {
    for (Map.Entry<String, List<VersionVector>> e : seen.entrySet()) {
      KeyspaceClocks clocks = clocks(e.getKey());
      if (!clocks.fits(e.getValue().size())) {
        throw misfit(e.getKey(), clocks, e.getValue().size() + " partitions");
      }
    }
    seen.forEach((keyspace, vectors) -> clocks(keyspace).saw(vectors));
    inherited = true;
    keyspaces.values().forEach(KeyspaceClocks::sawStranger);
  }

  /** Returns whether a token has added what another session saw. */
  public boolean isInherited() {
    return inherited;
  }

  /** Returns whether the session knows a keyspace as one without homes. */
  public synchronized boolean isWithoutHomes(String keyspace) {
    Partitioning known = clocks(keyspace).partitioning();
    return known != null && known.homes().isEmpty();
  }

  /** Returns the error that says that a keyspace has other partitions than the session knows. */
  public synchronized OsierException misfit(String keyspace, Partitioning told) {
    return misfit(keyspace, clocks(keyspace), told.toString());
  }

  private static OsierException misfit(String keyspace, KeyspaceClocks clocks, String told) {
    Partitioning known = clocks.partitioning();
    return OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "keyspace '%s' has %s, but this session's past is of one with %s; use a token of this cluster, or forget() the past"
            .formatted(keyspace, told, known == null ? clocks.partitions() : known));
  }

  // ---------------------------------------------------------------- with the lock held

  public KeyspaceClocks clocks(String keyspace) {
    KeyspaceClocks clocks = keyspaces.get(keyspace);
    if (clocks == null) {
      clocks = new KeyspaceClocks();
      keyspaces.put(keyspace, clocks);
    }
    return clocks;
  }

  /** Returns the largest commit number of a replica that is certain to exist; 0 if none is. */
  long known(PartitionClock clock, ReplicaId replica) {
    return inherited ? 0 : clock.seen().get(replica); // a token may claim anything
  }

  /**
   * Notes which process serves the session's requests of a keyspace; requests to a new one carry
   * what the session has seen of the keyspace.
   *
   * @return the process that served them before; null if they have not moved
   */
  public @Nullable ReplicaId moveTo(String keyspace, ReplicaId to) {
    at = to;
    return clocks(keyspace).moveTo(to);
  }
}
