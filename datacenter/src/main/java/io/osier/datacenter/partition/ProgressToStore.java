package io.osier.datacenter.partition;

import io.osier.core.VersionVector;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ReplicationProgress;
import java.util.Map;
import java.util.Optional;

/** How far a partition has come, as far as that is to be stored anew. Not thread-safe. */
final class ProgressToStore {
  private final ObjectStore store;
  private final Propagation propagation;
  private final Sequencer sequencer;
  private final VisibleChanges changes;
  private final CatchUpState readiness;

  /** How far the streams had come when that was last to be stored. */
  private ReplicationProgress progress;

  private long progressVersion = -1;

  /** What everybody had of it when that was last to be stored. */
  private long shippedStored = -1;

  /** What was to be stored of it last. */
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
   * How far this has come, with every record and whenever it has come further by itself.
   *
   * @param hasRecords whether there are records to be stored with it
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
   * How far it has come. What is half fetched of a store that was mended is not stored as fetched:
   * the next start would know no more that something is missing, and fetches it anew.
   */
  private ReplicationProgress come() {
    ReplicationProgress come = propagation.progress();
    return readiness.isMending()
        ? new ReplicationProgress(VersionVector.EMPTY, Map.of(), come.settled())
        : come;
  }
}
