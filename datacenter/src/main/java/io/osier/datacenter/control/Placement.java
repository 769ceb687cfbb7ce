package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The keyspaces of the cluster and the holders of each, by {@code _osier} and the configuration
 * file, at one moment. Immutable and pure.
 *
 * @param keyspaces by name
 */
public record Placement(SortedMap<String, Placed> keyspaces) {
  /** No known keyspaces. */
  public static final Placement NOTHING = new Placement(new TreeMap<>());

  /**
   * A keyspace and its holders.
   *
   * @param holders in the order of their names, without those that are still joining; some may not
   *     have opened it yet
   * @param creation tells it from another keyspace of its name; empty if the files name it
   */
  public record Placed(KeyspacePolicy policy, List<String> holders, String creation) {
    public Placed {
      holders = List.copyOf(holders);
    }
  }

  public Placement {
    keyspaces = Collections.unmodifiableSortedMap(new TreeMap<>(keyspaces));
  }

  /**
   * Places keyspaces.
   *
   * @param creations by name
   * @param datacenters the datacenters that have caught up
   */
  static Placement of(
      Collection<KeyspacePolicy> policies,
      Map<String, String> creations,
      Collection<String> datacenters) {
    SortedMap<String, Placed> placed = new TreeMap<>();
    for (KeyspacePolicy policy : policies) {
      List<String> holders = datacenters.stream().filter(policy::heldBy).sorted().toList();
      String name = policy.name();
      placed.put(name, new Placed(policy, holders, creations.getOrDefault(name, "")));
    }
    return new Placement(placed);
  }

  /** Returns a keyspace; empty if the cluster is not known to have one of that name. */
  public Optional<Placed> find(String keyspace) {
    return Optional.ofNullable(keyspaces.get(keyspace));
  }

  /** Returns the keyspaces of which a datacenter is no holder, in the order of their names. */
  public List<Placed> elsewhere(String dc) {
    return keyspaces.values().stream().filter(k -> !k.policy().heldBy(dc)).toList();
  }
}
