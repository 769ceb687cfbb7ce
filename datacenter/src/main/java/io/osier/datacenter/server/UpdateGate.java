package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.propagation.transport.PeerTransport;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Whether a keyspace takes updates: not while the disk is full, not while it is being created, and
 * not while every peer that holds it refuses it because their configurations differ, since then
 * what is acknowledged would go nowhere until somebody mends that. And neither is it updated nor
 * read while a peer says that this datacenter is none of the cluster any more, and none that is
 * connected takes what it has: it is old and stays so. One word is enough, since the others may be
 * out of reach.
 *
 * <p>A peer that cannot be reached is no reason: a partition ends by itself, and updates travel
 * then. So a refusal counts until the peer itself agrees, also while it cannot be reached.
 * Thread-safe.
 */
final class UpdateGate {
  private final String self;
  private final String keyspace;
  private volatile Set<String> peers;
  private final Optional<StoreService> store;
  private final ToIntFunction<String> version;

  /** By peer, why it does not take this keyspace's updates. */
  private final SortedMap<String, String> refusals = new ConcurrentSkipListMap<>();

  /** The peers that refuse this datacenter since it was removed from the cluster. */
  private final Set<String> strangerTo = new HashSet<>();

  /** The peers to which this keyspace's updates can be sent at present. */
  private final Set<String> connected = new HashSet<>();

  private volatile boolean refusedByAll;
  private volatile boolean stranger;

  /** A datacenter whose name not every version can read; empty if there is none. */
  private volatile Optional<String> illegible = Optional.empty();

  /** Why nothing is taken; empty if it is. */
  private volatile Optional<String> held = Optional.empty();

  /** By datacenter, why it talks to another process of this name. */
  private volatile Map<String, String> second = Map.of();

  /** The datacenters that must have the keyspace before it takes updates. */
  private volatile Collection<String> awaited = List.of();

  /**
   * An open gate.
   *
   * @param self this datacenter's name
   * @param peers the others that hold the keyspace
   * @param store empty if everything is in memory only
   * @param version of the peer protocol that another datacenter speaks; 0 if none is known
   */
  UpdateGate(
      String self,
      String keyspace,
      Collection<String> peers,
      Optional<StoreService> store,
      ToIntFunction<String> version) {
    this.self = self;
    this.version = version;
    this.keyspace = keyspace;
    this.peers = Set.copyOf(peers);
    this.store = store;
    judge();
  }

  /** From now on these others hold the keyspace. */
  synchronized void setPeers(Collection<String> others) {
    peers = Set.copyOf(others);
    refusals.keySet().retainAll(peers);
    strangerTo.retainAll(peers);
    judge();
  }

  private void judge() {
    illegible =
        Stream.concat(Stream.of(self), peers.stream())
            .filter(dc -> PeerTransport.versionMin(dc) > PeerTransport.VERSION_MIN)
            .min(String::compareTo);
    boolean hasFriend =
        connected.stream().anyMatch(dc -> peers.contains(dc) && !refusals.containsKey(dc));
    stranger = !strangerTo.isEmpty() && !hasFriend;
    refusedByAll = stranger || (!peers.isEmpty() && refusals.size() == peers.size());
  }

  /** A peer is connected, and the keyspace's updates can be sent to it. */
  synchronized void up(String dc) {
    connected.add(dc);
    judge();
  }

  /** A peer cannot be reached any more: what it has agreed to may have changed meanwhile. */
  synchronized void parted(String dc) {
    connected.remove(dc);
    judge();
  }

  /** No updates are taken, for a reason in words; or they are again. */
  void hold(Optional<String> why) {
    held = why;
  }

  /**
   * These datacenters talk to another process that bears this one's name and incarnation, or do not
   * know which of the two is the one: no updates are taken while there are any.
   *
   * @param why by datacenter, in words
   */
  void setSecond(Map<String, String> why) {
    second = Map.copyOf(why);
  }

  /** A peer's last word: why it does not take the keyspace's updates, or that it does. */
  void heard(String dc, Optional<String> refusal) {
    heard(dc, refusal, false);
  }

  /** A peer refuses this datacenter. */
  void refused(String dc, OsierException why) {
    String text = why.code() + ": " + why.getMessage();
    heard(dc, Optional.of(text), why.code() == ErrorCode.NOT_A_MEMBER);
  }

  /** Judged once: a refusal that is repeated must not open the gate for a moment. */
  private synchronized void heard(String dc, Optional<String> refusal, boolean isStranger) {
    if (!peers.contains(dc)) {
      return;
    }
    refusal.ifPresentOrElse(why -> refusals.put(dc, why), () -> refusals.remove(dc));
    if (isStranger) {
      strangerTo.add(dc);
    } else {
      strangerTo.remove(dc);
    }
    judge();
  }

  /** Whether it is told that this datacenter was removed from the cluster, and nobody differs. */
  boolean isStranger() {
    return stranger;
  }

  /** By peer, why it does not take this keyspace's updates. */
  Map<String, String> refusals() {
    return Map.copyOf(refusals);
  }

  /** Updates wait until these datacenters have the keyspace, which was just created. */
  void setAwaited(Collection<String> datacenters) {
    awaited = List.copyOf(datacenters);
  }

  /** Whether no update can be taken because of the peers. */
  boolean isRefusedByAll() {
    return refusedByAll;
  }

  /** Whether no update can be taken because of other datacenters. */
  boolean isClosed() {
    return refusedByAll
        || !second.isEmpty()
        || held.isPresent()
        || !awaited.isEmpty()
        || illegible.isPresent();
  }

  /**
   * Throws if reads must be refused.
   *
   * @throws OsierException REFUSED_BY_PEERS
   */
  void checkRead() {
    if (stranger) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '" + keyspace + "' is not read here, where it is out of date: " + refusals);
    }
  }

  /**
   * Throws if what is asked for must be refused, which not every datacenter that holds the keyspace
   * would understand. One of which no version is known counts as the oldest.
   *
   * @param needed the version of the peer protocol from which on it is understood
   * @param what it is, in words
   * @throws OsierException UNAVAILABLE: once the last one is upgraded, it is taken
   */
  void require(int needed, String what) {
    require(needed, what, true);
  }

  /**
   * As the other one.
   *
   * @param ofAll whether one of which no version is known counts as the oldest; else it is passed
   *     over
   */
  private void require(int needed, String what, boolean ofAll) {
    for (String dc : peers) {
      int known = version.applyAsInt(dc);
      int spoken = Math.max(PeerTransport.versionMin(dc), known);
      if (spoken < needed && (ofAll || known != 0)) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            "datacenter '"
                + dc
                + "' speaks version "
                + spoken
                + " of the peer protocol, and "
                + what
                + " need version "
                + needed
                + ": nothing was done; upgrade it first");
      }
    }
  }

  /**
   * Throws if updates must be refused.
   *
   * @throws OsierException STORE_FULL, REFUSED_BY_PEERS, or UNAVAILABLE
   */
  void check() {
    if (store.isPresent()) {
      store.get().checkRoom();
    }
    Map<String, String> taken = second;
    if (!taken.isEmpty()) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '"
              + keyspace
              + "' takes no updates here, which nobody would get, since another process has this"
              + " one's name: "
              + taken);
    }
    Optional<String> why = held;
    if (why.isPresent()) {
      throw new OsierException(ErrorCode.UNAVAILABLE, why.get());
    }
    Collection<String> missing = awaited;
    if (!missing.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "keyspace '"
              + keyspace
              + "' is being created and takes no updates until "
              + missing
              + " know it");
    }
    Optional<String> name = illegible;
    if (name.isPresent()) {
      // One that was never heard may never come; is it too old, it is refused when it comes.
      require(PeerTransport.versionMin(name.get()), "updates beside '" + name.get() + "'", false);
    }
    if (refusedByAll) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '" + keyspace + "' takes no updates, which would go nowhere: " + refusals);
    }
  }
}
