package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.propagation.net.link.PeerVersions;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
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
public final class UpdateGate {
  private final String self;
  private final String keyspace;
  private volatile Set<String> peers;
  private Set<String> leaving = Set.of();
  private final Optional<StoreService> store;
  private final ToIntFunction<String> version;

  /** By peer, in what its keyspace of this name is another one than this. */
  private final Map<String, String> differing = new HashMap<>();

  /** By peer, why it does not let this datacenter in. */
  private final Map<String, OsierException> unwelcome = new HashMap<>();

  /** The peers to which this keyspace's updates can be sent at present. */
  private final Set<String> connected = new HashSet<>();

  /** By peer, why it does not take this keyspace's updates. */
  private volatile SortedMap<String, String> refusals = new TreeMap<>();

  private volatile boolean refusedByAll;
  private volatile boolean stranger;
  private volatile boolean unsure;

  /** A datacenter whose name not every version can read; empty if there is none. */
  private volatile Optional<String> illegible = Optional.empty();

  /** Why nothing is taken; empty if it is. */
  private volatile Optional<String> held = Optional.empty();

  /** By datacenter, why it talks to another process of this name. */
  private volatile Map<String, String> second = Map.of();

  /** The datacenters that must have the keyspace before it takes updates. */
  private volatile Collection<String> awaited = List.of();

  /**
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
    differing.keySet().retainAll(peers);
    unwelcome.keySet().retainAll(peers);
    judge();
  }

  /** These peers give the keyspace up, and may have dropped it: what they say of it is nothing. */
  synchronized void setLeaving(Collection<String> peers) {
    leaving = Set.copyOf(peers);
    judge();
  }

  private void judge() {
    illegible =
        Stream.concat(Stream.of(self), peers.stream())
            .filter(dc -> PeerVersions.oldestNaming(dc) > PeerVersions.OLDEST)
            .min(String::compareTo);
    SortedMap<String, String> now = new TreeMap<>(differing);
    unwelcome.forEach((dc, why) -> now.put(dc, why.code() + ": " + why.reason()));
    refusals = now;
    boolean hasFriend =
        connected.stream().anyMatch(dc -> peers.contains(dc) && !now.containsKey(dc));
    stranger =
        !hasFriend && unwelcome.values().stream().anyMatch(e -> e.code() == ErrorCode.NOT_A_MEMBER);
    List<String> staying = peers.stream().filter(dc -> !leaving.contains(dc)).toList();
    refusedByAll = stranger || (!staying.isEmpty() && now.keySet().containsAll(staying));
  }

  /** A peer is connected, and the keyspace's updates can be sent to it. */
  public synchronized void up(String dc) {
    connected.add(dc);
    judge();
  }

  /** A peer cannot be reached any more: what it has agreed to may have changed meanwhile. */
  public synchronized void parted(String dc) {
    connected.remove(dc);
    judge();
  }

  /**
   * Whether others may know that this datacenter holds the keyspace no more, which it has not
   * heard.
   */
  void setUnsure(boolean now) {
    unsure = now;
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

  /**
   * A peer and this datacenter have compared their keyspaces. Whether it lets this one in is
   * another matter: who dials here does not say that.
   *
   * @param difference in what this keyspace is another one there; empty if it is the same
   */
  public synchronized void compared(String dc, Optional<String> difference) {
    if (peers.contains(dc)) {
      difference.ifPresentOrElse(what -> differing.put(dc, what), () -> differing.remove(dc));
      judge();
    }
  }

  /** A peer does not let this datacenter in; until it is {@link #welcomed}. */
  public synchronized void refused(String dc, OsierException why) {
    if (peers.contains(dc)) {
      unwelcome.put(dc, why);
      judge();
    }
  }

  /** A peer has let this datacenter in. */
  public synchronized void welcomed(String dc) {
    unwelcome.remove(dc);
    judge();
  }

  /** Whether it is told that this datacenter was removed from the cluster, and nobody differs. */
  public boolean isStranger() {
    return stranger;
  }

  /** By peer, why it does not take this keyspace's updates. */
  public Map<String, String> refusals() {
    return Collections.unmodifiableMap(refusals);
  }

  /** Updates wait until these datacenters have the keyspace, which was just created. */
  void setAwaited(Collection<String> datacenters) {
    awaited = List.copyOf(datacenters);
  }

  /** Whether no update can be taken because of the peers. */
  public boolean isRefusedByAll() {
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
   * @throws OsierException REFUSED_BY_PEERS or UNAVAILABLE
   */
  public void checkRead() {
    if (unsure) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "who holds keyspace '"
              + keyspace
              + "' is not known here yet, after a start with nothing");
    }
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
   * @param what says what it is, in words; asked only if it is refused
   * @throws OsierException UNAVAILABLE: once the last one is upgraded, it is taken
   */
  void require(int needed, Supplier<String> what) {
    require(needed, what, true);
  }

  /**
   * As the other one.
   *
   * @param ofAll whether one of which no version is known counts as the oldest; else it is passed
   *     over
   */
  private void require(int needed, Supplier<String> what, boolean ofAll) {
    for (String dc : peers) {
      int known = version.applyAsInt(dc);
      int spoken = Math.max(PeerVersions.oldestNaming(dc), known);
      if (spoken < needed && (ofAll || known != 0)) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            "datacenter '"
                + dc
                + "' speaks version "
                + spoken
                + " of the peer protocol, and "
                + what.get()
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
      store.get().disk().checkRoom();
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
      require(
          PeerVersions.oldestNaming(name.get()),
          () -> "updates beside '" + name.get() + "'",
          false);
    }
    if (refusedByAll) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '" + keyspace + "' takes no updates, which would go nowhere: " + refusals);
    }
  }
}
