package io.osier.core;

import java.util.Map;

/**
 * As which replica a datacenter holds a keyspace. What it had is dropped when it is removed from
 * the holders, and it may be added again in the same life: so that no number is given twice, it is
 * then a newer incarnation to that keyspace, as one that has lost what it had. The term, which
 * counts how often it was added again, stands in the upper bits of the incarnation. Static and
 * pure.
 */
public final class HolderTerms {
  /** An incarnation is a time in milliseconds, or little more. */
  private static final int SHIFT = 48;

  private HolderTerms() {}

  /** A datacenter's life as a holder in one of its terms. */
  public static ReplicaId in(ReplicaId life, Map<String, Integer> terms) {
    int term = terms.isEmpty() ? 0 : terms.getOrDefault(life.dc(), 0);
    return term == 0 ? life : new ReplicaId(life.dc(), ((long) term << SHIFT) | life.incarnation());
  }

  /** The life of a holder. */
  public static ReplicaId life(ReplicaId holder) {
    return term(holder) == 0
        ? holder
        : new ReplicaId(holder.dc(), holder.incarnation() & ((1L << SHIFT) - 1));
  }

  /** A datacenter's life in its latest term as a holder that is known; if none is, the life. */
  public static ReplicaId latest(VersionVector of, ReplicaId life) {
    ReplicaId latest = life;
    for (int i = 0; i < of.size(); i++) { // ascending
      if (life(of.replica(i)).equals(life)) {
        latest = of.replica(i);
      }
    }
    return latest;
  }

  /** How often a holder had been added again. */
  public static long term(ReplicaId holder) {
    return holder.incarnation() >>> SHIFT;
  }

  /** Whether a replica may be one of a keyspace: other keyspaces have others. */
  public static boolean isOf(ReplicaId replica, Map<String, Integer> terms) {
    return term(replica) <= terms.getOrDefault(replica.dc(), 0);
  }
}
