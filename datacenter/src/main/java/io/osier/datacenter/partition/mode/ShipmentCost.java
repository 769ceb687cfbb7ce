package io.osier.datacenter.partition.mode;

/**
 * What the handling of one shipment costs for each receiver, as the policy wants it: in bytes on
 * the links that are worth as much.
 *
 * <p>Measured is how long the partition takes for what it receives, since that is where objects
 * differ: large ones are dearer to join. What a shipment takes before and after it (encoding,
 * sockets, decoding, journal, acknowledgement) is in proportion to that, as the experiment {@code
 * propagation} has shown. The measure is an average over the last few thousand shipments.
 */
final class ShipmentCost {
  /** All work for a shipment over the partition's part of it, at the receiver. */
  private static final double PATH_FACTOR = 3;

  /** A microsecond of a processor is worth what 50 MB/s carry in it. */
  private static final double BYTES_PER_MICRO = 50;

  /** Before anything was measured: 14 µs. */
  private static final double INITIAL = 700;

  /** A stalled machine must not be taken for dear shipments. */
  private static final double MIN = 50;

  private static final double MAX = 5_000;
  private static final int SAMPLE = 256;
  private static final double GAIN = 0.1;

  private double bytes = INITIAL;
  private long nanos;
  private int shipments;

  /** Takes note of how long it took to handle so many. */
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
