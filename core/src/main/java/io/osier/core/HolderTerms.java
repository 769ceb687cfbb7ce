package io.osier.core;

import java.util.Map;

/**
 * Translates between a datacenter's life and the replica as which it holds a keyspace. When a
 * datacenter is removed from the holders, its data is dropped, and it may be added again in the
 * same life. So that no number is given twice, it is then a newer incarnation to that keyspace,
 * like one that has lost its data. The term, which counts how often it was added again, is in the
 * upper bits of the incarnation. Static and pure.
 */
public final class HolderTerms {
  /** An incarnation is a time in milliseconds, or little more, and takes fewer bits than this. */
  private static final int SHIFT = 48;

  private HolderTerms() {}

  /** Returns the replica as which a datacenter's life holds a keyspace, in its present term. */
  public static ReplicaId in(ReplicaId life, Map<String, Integer> terms) {
    int term = terms.isEmpty() ? 0 : terms.getOrDefault(life.dc(), 0);
    return term == 0 ? life : new ReplicaId(life.dc(), ((long) term << SHIFT) | life.incarnation());
  }

  /** Returns the life of a holder. */
  public static ReplicaId life(ReplicaId holder) {
    return term(holder) == 0
        ? holder
        : new ReplicaId(holder.dc(), holder.incarnation() & ((1L << SHIFT) - 1));
  }

  /**
   * Returns a datacenter's life in its latest known term as a holder; the life itself if none is
   * known.
   */
  public static ReplicaId latest(VersionVector of, ReplicaId life) {
    ReplicaId latest = life;
    for (int i = 0; i < of.size(); i++) { // ascending
      if (life(of.replica(i)).equals(life)) {
        latest = of.replica(i);
      }
    }
    return latest;
  }

  /** Returns how often a holder had been added again. */
  public static long term(ReplicaId holder) {
    return holder.incarnation() >>> SHIFT;
  }

  /** Whether a replica's term is possible in a keyspace with these terms. */
  public static boolean isOf(ReplicaId replica, Map<String, Integer> terms) {
    return term(replica) <= terms.getOrDefault(replica.dc(), 0);
  }
}
