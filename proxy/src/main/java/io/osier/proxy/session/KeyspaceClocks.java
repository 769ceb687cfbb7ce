package io.osier.proxy.session;

import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a session has seen of each partition of a keyspace, and which process serves it. Guarded by
 * the lock of its {@link SessionContext}.
 */
public final class KeyspaceClocks {
  /** By partition number + 1; the first one is for requests that are for no single partition. */
  private PartitionClock[] clocks = {};

  /** How many partitions the keyspace has; 0 until it is known. */
  private int partitions;

  /** The keyspace's partitioning; null until a datacenter has told it. */
  private @Nullable Partitioning partitioning;

  /** The process that serves the keyspace's requests; null before the first request. */
  private @Nullable ReplicaId at;

  /**
   * Grows when requests move to another datacenter, and when the session sees an update that their
   * datacenter may lack. A request of an earlier epoch did not carry that update, so its answer
   * does not prove that the datacenter has received all that the session has seen.
   */
  private long epoch;

  /** Returns the clock of a partition; of -1 for requests that are for no single partition. */
  public PartitionClock get(int partition) {
    int place = partition + 1;
    if (clocks.length <= place) {
      clocks = Arrays.copyOf(clocks, Math.max(place, partitions) + 1);
    }
    if (clocks[place] == null) {
      clocks[place] = new PartitionClock();
    }
    return clocks[place];
  }

  /** Returns whether the keyspace has this number of partitions, or adopts it if none is known. */
  public boolean fits(int number) {
    if (partitions == 0) {
      partitions = number;
    }
    return partitions == number;
  }

  /**
   * Returns whether the keyspace has this partitioning. Adopts it if none is known, or if homes
   * were added; a datacenter may not have told of these again yet.
   */
  public boolean fits(Partitioning told) {
    Partitioning known = partitioning;
    boolean isNews = known == null ? fits(told.count()) : told.hasGrownFrom(known);
    if (isNews) {
      partitioning = told;
    }
    return isNews || (known != null && known.hasGrownFrom(told));
  }

  /** Returns the keyspace's partitioning; null if no datacenter has told it. */
  @Nullable Partitioning partitioning() {
    return partitioning;
  }

  int partitions() {
    return partitions;
  }

  /** Returns the version vectors by partition; empty if nothing was seen. */
  List<VersionVector> seen() {
    boolean any = false;
    List<VersionVector> seen = new ArrayList<>();
    for (int i = 1; i < Math.max(clocks.length, partitions + 1); i++) {
      PartitionClock clock = i < clocks.length ? clocks[i] : null;
      seen.add(clock == null ? VersionVector.EMPTY : clock.seen());
      any |= !seen.getLast().isEmpty();
    }
    return any ? seen : List.of();
  }

  public void saw(List<VersionVector> seen) {
    for (int i = 0; i < seen.size(); i++) {
      if (!seen.get(i).isEmpty()) {
        get(i).saw(seen.get(i));
      }
    }
  }

  long epoch() {
    return epoch;
  }

  /**
   * Returns whether requests go to this process now, over the connection that returned this object.
   */
  @SuppressWarnings("ReferenceEquality")
  public boolean isAt(ReplicaId replica) {
    return replica == at;
  }

  /**
   * As {@link SessionContext#moveTo}. A new connection to the same process counts as a move: what a
   * process forwarded for an earlier connection, it remembers for that connection alone.
   */
  @Nullable ReplicaId moveTo(ReplicaId to) {
    if (isAt(to)) {
      return null;
    }
    ReplicaId from = to.equals(at) ? null : at;
    at = to;
    sawStranger();
    return from;
  }

  /** Notes that the session saw an update that the process serving the keyspace may lack. */
  public void sawStranger() {
    epoch++; // no partition is attached in the new epoch
  }

  void forget() {
    partitions = 0;
    partitioning = null;
    for (PartitionClock clock : clocks) {
      if (clock != null) {
        clock.forget();
      }
    }
  }
}
