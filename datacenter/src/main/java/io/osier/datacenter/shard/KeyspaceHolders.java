package io.osier.datacenter.shard;

import io.osier.core.HolderTerms;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.control.ControlHost;
import io.osier.datacenter.control.ControlHost.Holding;
import io.osier.datacenter.control.ControlHost.Part;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Who holds the keyspaces of a datacenter, as far as that was altered. Thread-safe. */
public final class KeyspaceHolders {
  private final String self;

  /** By keyspace; also of some that are not open. */
  private final Map<String, Holding> holdings = new ConcurrentHashMap<>();

  /** Those that this datacenter gives up. */
  private final Set<String> ceased = ConcurrentHashMap.newKeySet();

  /** Whether it is not known yet which holders were altered. */
  private volatile boolean unsure;

  public KeyspaceHolders(String self) {
    this.self = self;
  }

  public void set(String keyspace, Holding now) {
    holdings.put(keyspace, now);
  }

  /** From now on it is known which holders were altered, or it is not. */
  public void setUnsure(boolean now) {
    unsure = now;
  }

  /** Whether somebody else may have become a keyspace's holder, and was not heard yet. */
  public boolean isUnsure(KeyspacePolicy policy) {
    return unsure && !policy.replicas().isEmpty();
  }

  public void forget(String keyspace) {
    holdings.remove(keyspace);
    ceased.remove(keyspace);
  }

  private Optional<Holding> of(String keyspace) {
    return Optional.ofNullable(holdings.get(keyspace));
  }

  // ---------------------------------------------------------------- what this one does

  /** Requests are not to be served here any more. */
  public void cease(String keyspace) {
    ceased.add(keyspace);
  }

  /** They are again. Returns whether they were not. */
  public boolean resume(String keyspace) {
    return ceased.remove(keyspace);
  }

  public boolean hasCeased(String keyspace) {
    return ceased.contains(keyspace);
  }

  /** Whether clients' requests are served here. */
  public boolean isServed(KeyspacePolicy policy) {
    return policy.heldBy(self)
        && !policy.name().equals(KeyspacePolicy.CONTROL)
        && !ceased.contains(policy.name())
        && of(policy.name()).map(h -> h.part() == Part.SERVES).orElse(true);
  }

  /** Whether this one has not what the others hold yet. */
  public boolean joins(String keyspace) {
    return of(keyspace).filter(Holding::joins).isPresent();
  }

  // ---------------------------------------------------------------- who else

  public KeyspacePolicy all(KeyspacePolicy policy) {
    return of(policy.name()).map(h -> policy.withReplicas(h.holders())).orElse(policy);
  }

  /** A keyspace's policy with the replicas that it began with: that is the same everywhere. */
  private KeyspacePolicy asItBegan(KeyspacePolicy policy) {
    return of(policy.name()).map(h -> policy.withReplicas(h.first())).orElse(policy);
  }

  /** Of these datacenters those that get a part of the rights of new counters. */
  public List<String> sharers(KeyspacePolicy policy, Collection<String> among) {
    Set<String> unshared = of(policy.name()).map(Holding::unshared).orElse(Set.of());
    return among.stream()
        .filter(dc -> policy.heldBy(dc) && !unshared.contains(dc))
        .sorted()
        .toList();
  }

  /** Whether a datacenter holds a keyspace, and does not give it up. */
  public boolean stays(KeyspacePolicy policy, String dc) {
    return policy.heldBy(dc) && of(policy.name()).map(h -> !h.leaving().contains(dc)).orElse(true);
  }

  /** Whether a datacenter has held a keyspace since it began: that is the same everywhere. */
  public boolean hasAlwaysHeld(KeyspacePolicy policy, String dc) {
    return asItBegan(policy).heldBy(dc)
        && policy.heldBy(dc)
        && !terms(policy.name()).containsKey(dc);
  }

  Set<String> leaving(String keyspace) {
    return of(keyspace).map(Holding::leaving).orElse(Set.of());
  }

  /** How often holders were added again. */
  public Map<String, Integer> terms(String keyspace) {
    Holding holding = holdings.get(keyspace);
    return holding == null ? Map.of() : holding.terms();
  }

  public String fingerprint(KeyspacePolicy policy, Optional<String> created, String peer) {
    return fingerprint(asItBegan(policy), created, terms(policy.name()), self, peer);
  }

  /**
   * The fingerprint of a keyspace for one peer. Where either was added to the holders, or added
   * again, the creation carries that, so that for this pair it is like a keyspace just created.
   *
   * @param began with the replicas that it began with
   * @param created tells it from another creation of its name
   * @param terms how often holders were added again
   */
  public static String fingerprint(
      KeyspacePolicy began,
      Optional<String> created,
      Map<String, Integer> terms,
      String self,
      String peer) {
    StringBuilder again = new StringBuilder();
    terms.forEach(
        (dc, term) -> {
          if (dc.equals(peer) || dc.equals(self)) {
            again.append('+').append(dc).append('.').append(term);
          }
        });
    boolean isOfFirst = began.heldBy(peer) && began.heldBy(self) && again.isEmpty();
    return began.fingerprint(
        isOfFirst ? created : Optional.of(created.orElse(ControlHost.FROM_FILE) + again));
  }

  /** As which replica a datacenter holds a keyspace. */
  public ReplicaId holder(String keyspace, ReplicaId life) {
    return HolderTerms.in(life, terms(keyspace));
  }
}
