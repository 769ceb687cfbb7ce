package io.osier.core;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The rules on which datacenters hold a keyspace: limits that neither a person nor placement may
 * break, and whether the holders follow the load. Immutable.
 *
 * @param placement who may change the holders
 * @param holdersMin the least number of holders, also while one is replaced; 0 if it was not set
 * @param allow only these datacenters may hold the keyspace, sorted; empty if all may
 * @param deny these may not, sorted
 */
public record PlacementRules(
    Placement placement, int holdersMin, List<String> allow, List<String> deny) {
  /**
   * No limits, and holders change only by hand: the rules of a keyspace for which none were set.
   */
  public static final PlacementRules NONE =
      new PlacementRules(Placement.FIXED, 0, List.of(), List.of());

  /** The least number of holders if they follow the load, and if keys have homes. */
  private static final int PAIR = 2;

  /** Who changes the holders of a keyspace. */
  public enum Placement {
    /** People and programs. */
    FIXED,
    /** Also its load. */
    ADAPTIVE,
    /** As adaptive, but nothing is moved at present; demand is counted. */
    PINNED
  }

  public PlacementRules {
    if (holdersMin < 0) {
      throw new IllegalArgumentException("holders-min must be 1 or more, not " + holdersMin);
    }
    allow = names(allow);
    deny = names(deny);
  }

  private static List<String> names(List<String> dcs) {
    return dcs.stream().map(ReplicaId::checkDcName).distinct().sorted().toList();
  }

  /** Whether the demand for the keyspace is counted. */
  public boolean counts() {
    return placement != Placement.FIXED;
  }

  /** Returns the least number of datacenters that must hold the keyspace. */
  public int least() {
    return holdersMin > 0 ? holdersMin : counts() ? PAIR : 1;
  }

  /** Returns these rules, with at least two holders unless another number was set. */
  public PlacementRules pairs() {
    return holdersMin > 0 ? this : new PlacementRules(placement, PAIR, allow, deny);
  }

  /** Whether a datacenter may hold the keyspace. */
  public boolean mayHold(String dc) {
    return (allow.isEmpty() || allow.contains(dc)) && !deny.contains(dc);
  }

  /**
   * Returns what is wrong with these rules for the present or future holders of the keyspace, and
   * what to do about it; empty if nothing is. Parts that are unchanged from the former rules are
   * not checked again.
   *
   * @param former the rules until now
   * @param replicas the datacenters that hold it; empty means all
   * @param whole those of them that have all data and stay
   * @param known the names of all datacenters
   */
  public Optional<String> objection(
      PlacementRules former,
      Collection<String> replicas,
      Collection<String> whole,
      Set<String> known) {
    if (equals(former)) {
      return Optional.empty();
    }
    if (replicas.isEmpty()) {
      return Optional.of(
          "all datacenters hold it, so it has no holders-min, allow, deny or placement; these are"
              + " of a keyspace that names its replicas");
    }
    boolean isNarrower = !allow.equals(former.allow) || !deny.equals(former.deny);
    Set<String> strangers = new TreeSet<>(allow);
    strangers.addAll(deny);
    strangers.removeAll(known);
    strangers.removeAll(former.allow); // some of them may have left
    strangers.removeAll(former.deny);
    if (!strangers.isEmpty()) {
      return Optional.of(
          "allow and deny name datacenters, and there are no "
              + strangers
              + "; there are "
              + known);
    }
    return (isNarrower ? forbidden(replicas) : Optional.<String>empty())
        .or(() -> least() > former.least() ? tooFew(whole) : Optional.empty());
  }

  /**
   * Returns what is wrong with datacenters as holders; empty if all of them may hold the keyspace.
   */
  public Optional<String> forbidden(Collection<String> dcs) {
    List<String> forbidden = dcs.stream().filter(dc -> !mayHold(dc)).toList();
    return forbidden.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ("may not hold it by its laws (%s): %s; remove them from its replicas, or"
                    + " alter allow and deny first")
                .formatted(laws(), forbidden));
  }

  private String laws() {
    return (allow.isEmpty() ? "" : "allow = " + String.join(",", allow))
        + (allow.isEmpty() || deny.isEmpty() ? "" : ", ")
        + (deny.isEmpty() ? "" : "deny = " + String.join(",", deny));
  }

  /** Returns what is wrong if only these hold the keyspace; empty if they are enough. */
  public Optional<String> tooFew(Collection<String> whole) {
    return whole.size() >= least()
        ? Optional.empty()
        : Optional.of(
            ("at least %d datacenters must hold it (holders-min%s), and only these would:"
                    + " %s; add holders, or alter holders-min first")
                .formatted(
                    least(),
                    holdersMin == 0 && counts() ? ", which is 2 where placement is adaptive" : "",
                    whole));
  }
}
