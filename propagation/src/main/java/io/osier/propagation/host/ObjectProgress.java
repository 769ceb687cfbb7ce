package io.osier.propagation.host;

import io.osier.core.VersionVector;
import java.util.List;

/**
 * The progress of an object's updates: which ones wait where, since when and for what.
 *
 * @param held updates that are held here for a round, and have not left
 * @param leavesNanos in how long they leave; 0 if they are due, or if none is held
 * @param missing by peer, the shipped updates that it has not acknowledged; only peers that lack
 *     some
 * @param waiting by sender, the received updates that are not visible yet
 */
public record ObjectProgress(
    Count held, long leavesNanos, List<Missing> missing, List<Waiting> waiting) {
  /**
   * A number of updates.
   *
   * @param updates how many, at most
   * @param nanos how long ago the first of them was made, or came, at most
   */
  public record Count(int updates, long nanos) {
    public static final Count NONE = new Count(0, 0);
  }

  /**
   * Updates that were shipped and that a peer has not acknowledged.
   *
   * @param downNanos for how long no frame could be sent to the peer; 0 if one can
   */
  public record Missing(String dc, Count count, long downNanos) {}

  /**
   * Received updates that wait.
   *
   * @param from the datacenter that has sent them
   * @param needs the updates that they wait for, as far as those are known
   */
  public record Waiting(String from, Count count, VersionVector needs) {}

  /** Whether all updates are everywhere, as far as this datacenter knows. */
  public boolean isDone() {
    return held.updates == 0 && missing.isEmpty() && waiting.isEmpty();
  }
}
