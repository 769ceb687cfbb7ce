package io.osier.protocol;

import io.osier.core.VersionVector;

/** A request that asks how far a partition, or what others have of it, has come. */
public sealed interface ProgressRequest extends Request.OfKeyspace {
  /** Returns the partition's number, from 0. */
  int partition();

  /**
   * Asks for the number up to which a partition has every replica's updates. Answered by {@link
   * Reply.Through}.
   */
  record Through(String keyspace, int partition) implements ProgressRequest {}

  /**
   * Asks which other datacenters have what a partition has committed here. Held updates leave at
   * once. Answered by {@link Reply.Spread} as soon as enough datacenters have it, or when the wait
   * is over. Not for clients: it travels only between datacenters.
   *
   * @param number up to which commit number; 0 for everything that is committed when this is asked,
   *     and {@link #ANY} if this partition's commits do not count
   * @param seen those datacenters, and this one, must have all of these updates as well
   * @param datacenters how many datacenters to wait for
   * @param waitMillis at most {@link #WAIT_MILLIS_MAX}
   */
  record Spread(
      String keyspace,
      int partition,
      long number,
      VersionVector seen,
      int datacenters,
      int waitMillis)
      implements ProgressRequest {
    /** Stands for no commit number: the partition's own commits do not count. */
    public static final long ANY = -1;
  }

  /**
   * Waits until a partition has updates that were seen elsewhere. Answered by {@link
   * Reply.Through}. For the process that asks: it does not travel.
   */
  record Reach(String keyspace, int partition, VersionVector after, int waitMillis)
      implements ProgressRequest {}
}
