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

/** Knows the holders of a datacenter's keyspaces, as far as they were altered. Thread-safe. */
public final class KeyspaceHolders {
  private final String self;

  /** The holders by keyspace; also of keyspaces that are not open. */
  private final Map<String, Holding> holdings = new ConcurrentHashMap<>();

  /** The keyspaces that this datacenter gives up. */
  private final Set<String> ceased = ConcurrentHashMap.newKeySet();

  /** Whether it is still unknown which holders were altered. */
  private volatile boolean unsure;

  public KeyspaceHolders(String self) {
    this.self = self;
  }

  public void set(String keyspace, Holding now) {
    holdings.put(keyspace, now);
  }

  /** Sets whether it is unknown which holders were altered. */
  public void setUnsure(boolean now) {
    unsure = now;
  }

  /**
   * Returns whether a keyspace may have other holders now, which this datacenter has not heard yet.
   */
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

  // ---------------------------------------------------------------- this datacenter

  /** Stops serving requests of a keyspace here. */
  public void cease(String keyspace) {
    ceased.add(keyspace);
  }

  /** Serves them again. Returns whether they were not served. */
  public boolean resume(String keyspace) {
    return ceased.remove(keyspace);
  }

  public boolean hasCeased(String keyspace) {
    return ceased.contains(keyspace);
  }

  /** Returns whether clients' requests for a keyspace are served here. */
  public boolean isServed(KeyspacePolicy policy) {
    return policy.heldBy(self)
        && !policy.name().equals(KeyspacePolicy.CONTROL)
        && !ceased.contains(policy.name())
        && of(policy.name()).map(h -> h.part() == Part.SERVES).orElse(true);
  }

  /** Returns whether this datacenter is catching up with the keyspace's other holders. */
  public boolean joins(String keyspace) {
    return of(keyspace).filter(Holding::joins).isPresent();
  }

  // ---------------------------------------------------------------- other holders

  public KeyspacePolicy all(KeyspacePolicy policy) {
    return of(policy.name()).map(h -> policy.withReplicas(h.holders())).orElse(policy);
  }

  /** Returns a keyspace's policy with its first replicas, which is the same everywhere. */
  private KeyspacePolicy asItBegan(KeyspacePolicy policy) {
    return of(policy.name()).map(h -> policy.withReplicas(h.first())).orElse(policy);
  }

  /** Returns which of these datacenters share the rights of new counters. */
  public List<String> sharers(KeyspacePolicy policy, Collection<String> among) {
    Set<String> unshared = of(policy.name()).map(Holding::unshared).orElse(Set.of());
    return among.stream()
        .filter(dc -> policy.heldBy(dc) && !unshared.contains(dc))
        .sorted()
        .toList();
  }

  /** Returns whether a datacenter holds a keyspace and is not leaving it. */
  public boolean stays(KeyspacePolicy policy, String dc) {
    return policy.heldBy(dc) && of(policy.name()).map(h -> !h.leaving().contains(dc)).orElse(true);
  }

  /**
   * Returns whether a datacenter has held a keyspace since its creation; all datacenters agree on
   * that.
   */
  public boolean hasAlwaysHeld(KeyspacePolicy policy, String dc) {
    return asItBegan(policy).heldBy(dc)
        && policy.heldBy(dc)
        && !terms(policy.name()).containsKey(dc);
  }

  Set<String> leaving(String keyspace) {
    return of(keyspace).map(Holding::leaving).orElse(Set.of());
  }

  /** Returns how often holders were added again, by datacenter. */
  public Map<String, Integer> terms(String keyspace) {
    Holding holding = holdings.get(keyspace);
    return holding == null ? Map.of() : holding.terms();
  }

  public String fingerprint(KeyspacePolicy policy, Optional<String> created, String peer) {
    return fingerprint(asItBegan(policy), created, terms(policy.name()), self, peer);
  }

  /**
   * Returns the fingerprint of a keyspace for one peer. If one of the two was added to the holders,
   * or added again, the fingerprint's creation tells that, so that the pair treats the keyspace as
   * one just created.
   *
   * @param began the policy with its first replicas
   * @param created tells creations of its name apart
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

  /** Returns the replica as which a datacenter holds a keyspace. */
  public ReplicaId holder(String keyspace, ReplicaId life) {
    return HolderTerms.in(life, terms(keyspace));
  }
}
