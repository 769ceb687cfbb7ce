package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.crdt.Reading;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Of which keyspaces another datacenter has what this one has, as its file and its store say while
 * it does not run: who is still catching up, or has gone, counts for nothing. Immutable and pure.
 */
public final class Holders {
  private final Set<String> others;

  /** By the name that the store has for it. */
  private final Map<String, KeyspacePolicy> policies;

  private Holders(Set<String> others, Map<String, KeyspacePolicy> policies) {
    this.others = others;
    this.policies = policies;
  }

  /**
   * What file and store say together.
   *
   * @param peers those that the file names
   * @param configured the keyspaces that the file names
   * @param datacenters what is there of {@link ControlPlane#DATACENTERS}
   * @param keyspaces what is there of {@link ControlPlane#KEYSPACES}
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
    Set<String> names = new TreeSet<>();
    configured.forEach(policy -> names.add(policy.name()));
    ControlState state =
        ControlState.of(keyspaces, names, membership.all().keySet(), membership.active());
    configured.forEach(policy -> policies.put(policy.name(), state.holders(policy).whole(policy)));
    for (KeyspaceDefinition one : state.created().values()) {
      policies.put(one.name() + "@" + one.created(), one.holders().whole(one.policy()));
    }
    return new Holders(others, policies);
  }

  /**
   * Where the store cannot say what was changed at run time: of {@code _osier} alone it is known.
   */
  public static Holders unknown(Set<String> peers) {
    return new Holders(Set.copyOf(peers), Map.of());
  }

  /**
   * Whether another datacenter has a keyspace, too.
   *
   * @param stored what the store calls it: with its creation, if it was created at run time
   */
  public boolean hold(String stored) {
    if (stored.equals(KeyspacePolicy.CONTROL)) {
      return !others.isEmpty();
    }
    KeyspacePolicy policy = policies.get(stored);
    return policy != null && others.stream().anyMatch(policy::heldBy);
  }
}
