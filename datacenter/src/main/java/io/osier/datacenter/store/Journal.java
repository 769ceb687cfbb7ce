package io.osier.datacenter.store;

import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.TransactionId;
import java.util.Optional;

/**
 * Writes a partition's applied updates, in groups. One thread appends and commits; an adapter may
 * write in another one, so that the next batch is executed meanwhile.
 */
public interface Journal {
  /** Keeps nothing: everything counts as durable at once. */
  Journal NONE =
      new Journal() {
        @Override
        public void append(Shipment update, CrdtState state) {}

        @Override
        public void committed(TransactionId transaction, long number) {}

        @Override
        public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
          whenDurable.run();
        }
      };

  /**
   * Adds an update to the present group.
   *
   * @param state the object with the update
   */
  void append(Shipment update, CrdtState state);

  /** Adds a committed transaction to the present group, with its last commit number. */
  void committed(TransactionId transaction, long number);

  /**
   * Ends the present group.
   *
   * @param progress the partition's progress, if it must be written: always when there are records
   * @param whenDurable runs once, in any thread, when the group and all before it are durable
   */
  void commit(Optional<PartitionProgress> progress, Runnable whenDurable);
}
