package io.osier.datacenter.partition.mode;

/**
 * Measures what handling one shipment costs a receiver, expressed as the number of bytes on the
 * links that cost the same.
 *
 * <p>It measures the partition's time for received shipments, since that is where objects differ:
 * large ones are dearer to join. The other work for a shipment (encoding, sockets, decoding,
 * journal, acknowledgement) is in proportion to that, as the experiment {@code propagation} has
 * shown. The result is an average over the last few thousand shipments.
 */
final class ShipmentCost {
  /** The ratio of all work for a shipment at the receiver to the partition's part of it. */
  private static final double PATH_FACTOR = 3;

  /** A microsecond of a processor costs as much as sending this many bytes: 50 MB/s. */
  private static final double BYTES_PER_MICRO = 50;

  /** The cost before anything was measured: 14 µs. */
  private static final double INITIAL = 700;

  /** Bounds of the measured cost: a stalled machine must not make shipments look dear. */
  private static final double MIN = 50;

  private static final double MAX = 5_000;
  private static final int SAMPLE = 256;
  private static final double GAIN = 0.1;

  private double bytes = INITIAL;
  private long nanos;
  private int shipments;

  /** Takes note of how long handling this many shipments took. */
  void handled(int more, long tookNanos) {
    shipments += more;
    nanos += tookNanos;
    if (shipments >= SAMPLE) {
      double now = nanos / 1e3 / shipments * PATH_FACTOR * BYTES_PER_MICRO;
      bytes += GAIN * (Math.clamp(now, MIN, MAX) - bytes);
      shipments = 0;
      nanos = 0;
    }
  }

  double bytes() {
    return bytes;
  }
}
