package io.osier.propagation.host;

import io.osier.core.VersionVector;
import java.util.List;

/**
 * How far an object's updates have come: what waits where, since when and for what.
 *
 * @param held what is held here for a round, and has not left
 * @param leavesNanos in how long that leaves; 0 if it is due, or if nothing is held
 * @param missing by peer, what was shipped and it has not acknowledged; only peers that lack some
 * @param waiting by sender, what has come and is not visible yet
 */
public record ObjectProgress(
    Count held, long leavesNanos, List<Missing> missing, List<Waiting> waiting) {
  /**
   * Some updates.
   *
   * @param updates how many, at most
   * @param nanos how long ago the first of them was made, or came, at most
   */
  public record Count(int updates, long nanos) {
    public static final Count NONE = new Count(0, 0);
  }

  /**
   * Updates that were shipped, and a peer has not acknowledged.
   *
   * @param downNanos since when no frame can be sent to it; 0 if one can
   */
  public record Missing(String dc, Count count, long downNanos) {}

  /**
   * Updates that have come and wait.
   *
   * @param from who has sent them
   * @param needs what they wait for, as far as that is known
   */
  public record Waiting(String from, Count count, VersionVector needs) {}

  /** Whether everything is everywhere, as far as this datacenter knows. */
  public boolean isDone() {
    return held.updates == 0 && missing.isEmpty() && waiting.isEmpty();
  }
}
