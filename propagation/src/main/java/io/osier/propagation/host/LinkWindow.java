package io.osier.propagation.host;

/**
 * Limits what all partitions together have sent to one peer and is not acknowledged. It is spent
 * for all at once; each stream then still has a small share of its own, so that a stream whose peer
 * is slow to acknowledge delays the others little, and no stream waits for another's
 * acknowledgement.
 */
public interface LinkWindow {
  /** A window that is never spent: for a partition that has its links for itself. */
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

  /** Notes that bytes were sent. */
  void take(long bytes);

  /** Notes that bytes were acknowledged, or are given up. */
  void give(long bytes);
}
