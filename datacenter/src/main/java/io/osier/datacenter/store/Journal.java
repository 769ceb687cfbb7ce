package io.osier.datacenter.store;

import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.TransactionId;
import java.util.Optional;

/**
 * Where a partition's applied updates are written, in groups. One thread appends and commits; an
 * adapter may write on another one, so that the next batch is executed meanwhile.
 */
public interface Journal {
  /** Keeps nothing: everything is as durable as it will ever be at once. */
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
   * @param state the object with it
   */
  void append(Shipment update, CrdtState state);

  /** Adds to the present group that a transaction was committed, and its last commit number. */
  void committed(TransactionId transaction, long number);

  /**
   * Ends the present group.
   *
   * @param progress how far the partition has come, if it is to be written: always with records
   * @param whenDurable is run once, by any thread, when the group and all before it are durable
   */
  void commit(Optional<PartitionProgress> progress, Runnable whenDurable);
}
