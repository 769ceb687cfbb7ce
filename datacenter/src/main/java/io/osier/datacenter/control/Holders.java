package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.crdt.Reading;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tells which keyspaces another datacenter holds completely, too, by this datacenter's file and
 * store while it does not run: holders that are catching up or gone do not count. Immutable and
 * pure.
 */
public final class Holders {
  private final Set<String> others;

  /** The keyspaces by their names in the store. */
  private final Map<String, KeyspacePolicy> policies;

  private Holders(Set<String> others, Map<String, KeyspacePolicy> policies) {
    this.others = others;
    this.policies = policies;
  }

  /**
   * Makes the holders from file and store.
   *
   * @param peers the other datacenters that the file names
   * @param configured the keyspaces that the file names
   * @param datacenters the stored {@link ControlPlane#DATACENTERS}
   * @param keyspaces the stored {@link ControlPlane#KEYSPACES}
   */
  public static Holders of(
      Set<String> peers,
      Collection<KeyspacePolicy> configured,
      Reading.Fields datacenters,
      Reading.Fields keyspaces) {
    Membership membership = Membership.of(datacenters);
    Set<String> others = new TreeSet<>(peers);
    if (membership.isInForce()) {
      others.retainAll(membership.active());
    }
    Map<String, KeyspacePolicy> policies = new HashMap<>();
    Map<String, KeyspacePolicy> files = new HashMap<>();
    configured.forEach(policy -> files.put(policy.name(), policy));
    ControlState state =
        ControlState.of(keyspaces, files, membership.all().keySet(), membership.active());
    for (KeyspaceDefinition one : state.all()) {
      String stored = one.isOfFile() ? one.name() : one.name() + "@" + one.created();
      policies.put(stored, one.holders().whole(one.policy()));
    }
    return new Holders(others, policies);
  }

  /**
   * The holders if the store cannot tell the changes at run time: only those of {@code _osier} are
   * known.
   */
  public static Holders unknown(Set<String> peers) {
    return new Holders(Set.copyOf(peers), Map.of());
  }

  /**
   * Returns whether another datacenter has a keyspace, too.
   *
   * @param stored its name in the store: with its creation, if it was created at run time
   */
  public boolean hold(String stored) {
    if (stored.equals(KeyspacePolicy.CONTROL)) {
      return !others.isEmpty();
    }
    KeyspacePolicy policy = policies.get(stored);
    return policy != null && others.stream().anyMatch(policy::heldBy);
  }
}
