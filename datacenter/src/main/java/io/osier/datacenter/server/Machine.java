package io.osier.datacenter.server;

import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Outbox;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.store.PartitionProgress;

/**
 * What a {@link PartitionRunner} needs of a partition; tests put a scripted one in its place. Used
 * by the runner's thread alone, but for {@link #isReady}.
 */
interface Machine {
  /** Handles one input; what is to be done goes to the outbox during the call. */
  void on(Input input, Now now, Outbox outbox);

  /** When an {@link Input.Tick} is due. */
  long nextTickNanos();

  /** Whether commands are served. For any thread. */
  boolean isReady();

  /** Whether every connected peer has acknowledged everything. */
  boolean isDrained();

  /** How far it has come, to be stored with the updates of a batch. */
  PartitionProgress progress();

  /** Changes when {@link #progress} may have. */
  long progressVersion();

  /** Takes note of how long the handling of received shipments took. */
  void handled(int shipments, long nanos);

  /** The machine of a partition. */
  static Machine of(Partition partition) {
    return new Machine() {
      @Override
      public void on(Input input, Now now, Outbox outbox) {
        partition.on(input, now, outbox);
      }

      @Override
      public void handled(int shipments, long nanos) {
        partition.handled(shipments, nanos);
      }

      @Override
      public long nextTickNanos() {
        return partition.nextTickNanos();
      }

      @Override
      public boolean isReady() {
        return partition.isReady();
      }

      @Override
      public boolean isDrained() {
        return partition.isDrained();
      }

      @Override
      public PartitionProgress progress() {
        return partition.progress();
      }

      @Override
      public long progressVersion() {
        return partition.progressVersion();
      }
    };
  }
}
