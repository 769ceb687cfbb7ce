package io.osier.datacenter.metrics.report;

import io.osier.core.OsierException;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.propagation.net.link.PeerVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/** Says in words whether a datacenter serves fully, and if not, why. Thread-safe. */
public final class Readiness {
  private final Map<String, KeyspaceShard> keyspaces;

  /** For each peer, the keyspaces that it holds and that are not configured here, in words. */
  private final Map<String, List<String>> unknown = new ConcurrentSkipListMap<>();

  private final Optional<StoreService> store;
  private volatile Supplier<Map<String, String>> second = Map::of;
  private final ClockWatch clocks = new ClockWatch();
  private volatile Supplier<Set<String>> unreachable = Set::of;
  private volatile Supplier<List<String>> membership = List::of;
  private volatile Supplier<Map<String, Integer>> spoken = Map::of;
  private volatile Supplier<List<String>> standing = List::of;

  /**
   * Makes it.
   *
   * @param keyspaces the keyspaces that are served here, by name
   * @param store empty if everything is in memory only
   */
  public Readiness(Map<String, KeyspaceShard> keyspaces, Optional<StoreService> store) {
    this.keyspaces = keyspaces;
    this.store = store;
  }

  /**
   * Notes the result of comparing keyspaces with a peer.
   *
   * @param differing the differences, by the keyspace's name
   */
  public void compared(String dc, Map<String, String> differing) {
    keyspaces.forEach((name, k) -> k.gate().compared(dc, Optional.ofNullable(differing.get(name))));
    List<String> others = new ArrayList<>();
    differing.forEach(
        (name, what) -> {
          if (!keyspaces.containsKey(name)) {
            others.add(notReplicated(name, dc, what));
          }
        });
    unknown.put(dc, others);
  }

  /** Sets the source of obstacles from the datacenter's membership. */
  public void setMembership(Supplier<List<String>> words) {
    membership = words;
  }

  /**
   * Sets the source of reasons why other datacenters take another process for this one, by
   * datacenter.
   */
  public void setSecond(Supplier<Map<String, String>> why) {
    second = why;
  }

  /** Returns what watches the clocks of the peers. */
  public ClockWatch clocks() {
    return clocks;
  }

  /** Sets the source of the names of the peers to which nothing can be sent at present. */
  public void setUnreachable(Supplier<Set<String>> names) {
    unreachable = names;
  }

  /** Sets the source of the protocol versions used with connected peers. */
  public void setSpoken(Supplier<Map<String, Integer>> versions) {
    spoken = versions;
  }

  /** Sets the source of the control plane's warnings. */
  public void setStanding(Supplier<List<String>> words) {
    standing = words;
  }

  /** Sets the names of all other datacenters. */
  public void setPeers(Set<String> others) {
    unknown.keySet().retainAll(others);
  }

  /** Notes that a peer is no longer connected. */
  public void parted(String dc) {
    keyspaces.values().forEach(k -> k.gate().parted(dc));
  }

  /** Notes that a peer has accepted this datacenter. */
  public void welcomed(String dc) {
    keyspaces.values().forEach(k -> k.gate().welcomed(dc));
  }

  /** Notes that a peer refuses this datacenter. */
  public void refused(String dc, OsierException why) {
    keyspaces.values().forEach(k -> k.gate().refused(dc, why));
    unknown.remove(dc);
  }

  private static String older(String dc, int version) {
    return dc
        + " is spoken to in version "
        + version
        + " of the peer protocol, and this datacenter speaks "
        + PeerVersions.NEWEST
        + ": upgrade "
        + dc
        + "; what needs the newer version is refused until then";
  }

  private static String notReplicated(String keyspace, String dc, String why) {
    return "keyspace '" + keyspace + "' is not replicated with " + dc + ": " + why;
  }

  /** Returns what keeps the datacenter from serving, one line each; empty if it is ready. */
  public List<String> obstacles() {
    List<String> obstacles = new ArrayList<>(membership.get());
    second
        .get()
        .forEach(
            (dc, why) ->
                obstacles.add(
                    "updates are refused (REFUSED_BY_PEERS), reads go on: "
                        + dc
                        + " knows another process by this datacenter's name, and refuses this one: "
                        + why));
    if (!keyspaces.values().stream()
        .flatMap(k -> k.partitions().stream())
        .allMatch(PartitionRunner::isReady)) {
      Set<String> away = unreachable.get();
      obstacles.add(
          "catching up with the peers" + (away.isEmpty() ? "" : "; not connected: " + away));
    }
    if (store.filter(StoreService::isReadOnly).isPresent()) {
      obstacles.add(
          "the disk was full at the start: the store is opened to be read only, updates are refused"
              + " (STORE_FULL), the other datacenters are not heard; it starts anew when there is"
              + " room");
    } else if (store.filter(s -> s.disk().isFull()).isPresent()) {
      obstacles.add(
          "the disk is full: updates are refused (STORE_FULL), and those of the other datacenters"
              + " are not taken; reads go on");
    }
    for (KeyspaceShard keyspace : keyspaces.values()) {
      if (keyspace.gate().isRefusedByAll()) {
        obstacles.add(
            "keyspace '"
                + keyspace.policy().name()
                + (keyspace.gate().isStranger()
                    ? "' is out of date here: updates and reads are refused (REFUSED_BY_PEERS): "
                    : "' is refused by every peer: updates are refused (REFUSED_BY_PEERS), reads"
                        + " go on: ")
                + keyspace.gate().refusals());
      }
    }
    return obstacles;
  }

  /** Returns what does not work although the datacenter is ready, one line each. */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>(standing.get());
    warnings.addAll(clocks.warnings());
    store.ifPresent(s -> warnings.addAll(s.damage()));
    for (KeyspaceShard keyspace : keyspaces.values()) {
      if (!keyspace.gate().isRefusedByAll()) {
        keyspace
            .gate()
            .refusals()
            .forEach((dc, why) -> warnings.add(notReplicated(keyspace.policy().name(), dc, why)));
      }
    }
    unknown.values().forEach(warnings::addAll);
    spoken
        .get()
        .forEach(
            (dc, version) -> {
              if (version < PeerVersions.NEWEST) {
                warnings.add(older(dc, version));
              }
            });
    return warnings;
  }
}
