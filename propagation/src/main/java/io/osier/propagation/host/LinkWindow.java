package io.osier.propagation.host;

/**
 * What all partitions together have sent to one peer and not heard of. It is spent for all at once;
 * each stream then still has a small share of its own, so that one whose peer is slow to
 * acknowledge delays the others little, and no stream waits for another's acknowledgement.
 */
public interface LinkWindow {
  /** Is never spent: for a partition that has its links for itself. */
  LinkWindow NONE =
      new LinkWindow() {
        @Override
        public boolean isOpen() {
          return true;
        }

        @Override
        public void take(long bytes) {}

        @Override
        public void give(long bytes) {}
      };

  /** Whether more may be sent. */
  boolean isOpen();

  /** Something was sent. */
  void take(long bytes);

  /** Something was acknowledged, or is given up. */
  void give(long bytes);
}
