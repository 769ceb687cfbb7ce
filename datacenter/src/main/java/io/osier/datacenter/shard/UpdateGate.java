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
 * Decides whether a keyspace takes updates: not while the disk is full, not while it is being
 * created, and not while every other holder refuses it because configurations differ, since
 * acknowledged updates would reach nobody until that is mended. Updates and reads are refused while
 * a peer says that this datacenter was removed from the cluster and no connected peer takes its
 * updates: its data is old and stays so. One peer's word is enough, since the others may be out of
 * reach.
 *
 * <p>A peer that cannot be reached is no reason to refuse: network partitions end, and updates
 * travel then. But a peer's refusal counts until the peer itself agrees, also while it cannot be
 * reached. Thread-safe.
 */
public final class UpdateGate {
  private final String self;
  private final String keyspace;
  private volatile Set<String> peers;
  private Set<String> leaving = Set.of();
  private final Optional<StoreService> store;
  private final ToIntFunction<String> version;

  /** How a peer's keyspace of this name differs from this one, by peer. */
  private final Map<String, String> differing = new HashMap<>();

  /** Why a peer does not let this datacenter in, by peer. */
  private final Map<String, OsierException> unwelcome = new HashMap<>();

  /** The peers to which this keyspace's updates can be sent at present. */
  private final Set<String> connected = new HashSet<>();

  /** Why a peer does not take this keyspace's updates, by peer. */
  private volatile SortedMap<String, String> refusals = new TreeMap<>();

  private volatile boolean refusedByAll;
  private volatile boolean stranger;
  private volatile boolean unsure;

  /** The name of a holder that not every protocol version can read; empty if there is none. */
  private volatile Optional<String> illegible = Optional.empty();

  /** Why no updates are taken; empty if there is no such reason. */
  private volatile Optional<String> held = Optional.empty();

  /** Why a datacenter talks to another process of this name, by datacenter. */
  private volatile Map<String, String> second = Map.of();

  /** The datacenters that must have the keyspace before it takes updates. */
  private volatile Collection<String> awaited = List.of();

  /**
   * @param peers the keyspace's other holders
   * @param store empty if everything is in memory only
   * @param version tells which version of the peer protocol another datacenter speaks; 0 if that is
   *     not known
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

  /** Sets the keyspace's other holders. */
  synchronized void setPeers(Collection<String> others) {
    peers = Set.copyOf(others);
    differing.keySet().retainAll(peers);
    unwelcome.keySet().retainAll(peers);
    judge();
  }

  /**
   * Sets the peers that are leaving the keyspace: they may have dropped it, so their refusals do
   * not count.
   */
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

  /** A peer cannot be reached any more: it may change its mind meanwhile. */
  public synchronized void parted(String dc) {
    connected.remove(dc);
    judge();
  }

  /**
   * Sets whether this datacenter may have been removed from the keyspace's holders without having
   * heard it.
   */
  void setUnsure(boolean now) {
    unsure = now;
  }

  /** Refuses updates for a reason in words, or takes them again. */
  void hold(Optional<String> why) {
    held = why;
  }

  /**
   * Sets the datacenters that talk to another process of this one's name and incarnation, or cannot
   * tell which of the two is right: while there are any, no updates are taken.
   *
   * @param why the reasons in words, by datacenter
   */
  void setSecond(Map<String, String> why) {
    second = Map.copyOf(why);
  }

  /**
   * A peer and this datacenter have compared their keyspaces. That does not tell whether the peer
   * lets this datacenter in, since a peer that dials here does not say so.
   *
   * @param difference how the peer's keyspace differs; empty if it is the same
   */
  public synchronized void compared(String dc, Optional<String> difference) {
    if (peers.contains(dc)) {
      difference.ifPresentOrElse(what -> differing.put(dc, what), () -> differing.remove(dc));
      judge();
    }
  }

  /** A peer does not let this datacenter in, until {@link #welcomed}. */
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

  /**
   * Returns whether a peer says that this datacenter was removed from the cluster, and no connected
   * peer takes its updates.
   */
  public boolean isStranger() {
    return stranger;
  }

  /** Returns why peers do not take this keyspace's updates, by peer. */
  public Map<String, String> refusals() {
    return Collections.unmodifiableMap(refusals);
  }

  /** Refuses updates until these datacenters have the keyspace, which was just created. */
  void setAwaited(Collection<String> datacenters) {
    awaited = List.copyOf(datacenters);
  }

  /** Returns whether updates are refused because of the peers. */
  public boolean isRefusedByAll() {
    return refusedByAll;
  }

  /** Returns whether updates are refused because of other datacenters. */
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
          "this datacenter has started without data and does not know yet who holds keyspace '"
              + keyspace
              + "'; try again");
    }
    if (stranger) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '"
              + keyspace
              + "' cannot be read here, as this copy is out of date: "
              + refusals);
    }
  }

  /**
   * Throws if a holder of the keyspace would not understand an update of this kind. A holder whose
   * version is unknown counts as the oldest.
   *
   * @param needed the first version of the peer protocol that understands it
   * @param what says in words what kind it is; asked only if it is refused
   * @throws OsierException UNAVAILABLE, until the last holder is upgraded
   */
  void require(int needed, Supplier<String> what) {
    require(needed, what, true);
  }

  /**
   * As {@link #require(int, Supplier)}.
   *
   * @param ofAll whether a holder whose version is unknown counts as the oldest; otherwise it is
   *     passed over
   */
  private void require(int needed, Supplier<String> what, boolean ofAll) {
    for (String dc : peers) {
      int known = version.applyAsInt(dc);
      int spoken = Math.max(PeerVersions.oldestNaming(dc), known);
      if (spoken < needed && (ofAll || known != 0)) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            known == 0
                ? ("datacenter '%1$s' was never heard here, so its version may be too old to read"
                        + " %2$s (peer protocol %3$d), and it would stop at them for good: nothing"
                        + " was done. Start it, or see 'osier cli why %1$s'; once it was heard, it"
                        + " may be away")
                    .formatted(dc, what.get(), needed)
                : ("datacenter '%s' speaks version %d of the peer protocol, and %s need"
                        + " version %d: nothing was done; upgrade it first")
                    .formatted(dc, spoken, what.get(), needed));
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
              + "' takes no updates here, since no peer would accept them: another process runs"
              + " under this datacenter's name: "
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
      // A holder that was never heard may never come; if its version is too old, it is refused when
      // it comes.
      require(
          PeerVersions.oldestNaming(name.get()),
          () -> "updates beside '" + name.get() + "'",
          false);
    }
    if (refusedByAll) {
      throw new OsierException(
          ErrorCode.REFUSED_BY_PEERS,
          "keyspace '" + keyspace + "' takes no updates, as every peer refuses them: " + refusals);
    }
  }
}
