package io.osier.datacenter.partition;

import io.osier.core.VersionVector;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ReplicationProgress;
import java.util.Map;
import java.util.Optional;

/** Finds out which part of a partition's progress must be stored anew. Not thread-safe. */
final class ProgressToStore {
  private final ObjectStore store;
  private final Propagation propagation;
  private final Sequencer sequencer;
  private final VisibleChanges changes;
  private final CatchUpState readiness;

  /** The streams' progress as it was last stored. */
  private ReplicationProgress progress;

  private long progressVersion = -1;

  /** The number through which all peers had this partition's updates, as last stored. */
  private long shippedStored = -1;

  /** The forgotten updates as last stored. */
  private Forgetting unremembered = Forgetting.UNKNOWN;

  ProgressToStore(
      ObjectStore store,
      Propagation propagation,
      Sequencer sequencer,
      VisibleChanges changes,
      CatchUpState readiness) {
    this.store = store;
    this.propagation = propagation;
    this.sequencer = sequencer;
    this.changes = changes;
    this.readiness = readiness;
    this.progress = propagation.progress();
  }

  /**
   * Returns the progress to store: with every group of records, and whenever it has grown without
   * one.
   *
   * @param hasRecords whether the batch has records to store
   */
  Optional<PartitionProgress> next(boolean hasRecords) {
    long version =
        propagation.progressVersion()
            + (readiness.isCaughtUp() ? 1 : 0)
            + (readiness.isReady() ? 1 : 0);
    boolean tellsShipped = store.isDamaged() && propagation.status().shipped() != shippedStored;
    if (version != progressVersion || unremembered != changes.unremembered() || tellsShipped) {
      progressVersion = version;
      progress = come();
      unremembered = changes.unremembered();
    } else if (!hasRecords) {
      return Optional.empty();
    }
    shippedStored = propagation.status().shipped();
    return Optional.of(
        new PartitionProgress(
            sequencer.committed(),
            sequencer.lastTimestamp(),
            progress,
            shippedStored,
            readiness.isCaughtUp(),
            unremembered));
  }

  /**
   * Returns the streams' progress. While a mended store is refilled, nothing half fetched counts:
   * otherwise the next start would not know that something is missing.
   */
  private ReplicationProgress come() {
    ReplicationProgress come = propagation.progress();
    return readiness.isMending()
        ? new ReplicationProgress(VersionVector.EMPTY, Map.of(), come.settled())
        : come;
  }
}
