package io.osier.proxy.session;

import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A keyspace's partitions, as a session knows them. Guarded by the lock of its {@link
 * SessionContext}.
 */
public final class KeyspaceClocks {
  /** By number of the partition; before them the one for requests to none in particular. */
  private PartitionClock[] clocks = {};

  /** How many partitions the keyspace has; 0 until it is known. */
  private int partitions;

  /** How its keys are divided among them; null until a datacenter has said so. */
  private @Nullable Partitioning partitioning;

  /** The datacenter's process that serves its requests; null before the first. */
  private @Nullable ReplicaId at;

  /**
   * Grows when requests go to another datacenter, and when something is seen that their datacenter
   * may lack. A request that was sent in an earlier epoch did not carry that, so its answer does
   * not prove that the datacenter covers what was seen.
   */
  private long epoch;

  /** A partition; -1 stands for none in particular. */
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

  /** Whether the keyspace has so many partitions, as far as is known. */
  public boolean fits(int number) {
    if (partitions == 0) {
      partitions = number;
    }
    return partitions == number;
  }

  /** Whether its keys are divided so, as far as is known. */
  public boolean fits(Partitioning told) {
    if (partitioning == null && fits(told.count())) {
      partitioning = told;
    }
    return told.equals(partitioning);
  }

  /** How its keys are divided; null if no datacenter has said so. */
  @Nullable Partitioning partitioning() {
    return partitioning;
  }

  int partitions() {
    return partitions;
  }

  /** What was seen, by partition; empty if nothing was. */
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

  /** Whether its requests go there now, over the connection that told this object. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isAt(ReplicaId replica) {
    return replica == at;
  }

  /**
   * As {@link SessionContext#moveTo}. Each connection to a process has an object of its own: what a
   * process had others do for an earlier one, it remembers for that one alone.
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

  /** Something was seen that the datacenter that serves the keyspace's requests may lack. */
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
