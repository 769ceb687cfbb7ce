package io.osier.datacenter.server;

import io.osier.propagation.Shipment;

/**
 * Where a partition's applied updates are written, in groups. One thread appends and commits; an
 * adapter may write on another one, so that the next batch is executed meanwhile.
 */
public interface Journal {
  /** Keeps nothing: everything is as durable as it will ever be at once. */
  Journal NONE =
      new Journal() {
        @Override
        public void append(Shipment update) {}

        @Override
        public void commit(Runnable whenDurable) {
          whenDurable.run();
        }
      };

  /** Adds an update to the present group. */
  void append(Shipment update);

  /**
   * Ends the present group.
   *
   * @param whenDurable is run once, by any thread, when the group and all before it are durable
   */
  void commit(Runnable whenDurable);
}
