package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/**
 * No frame grows with the number of objects that something is wrong with: beside its largest object
 * it has a few frames' worth of bytes at most, whatever is asked for.
 */
final class FrameCheck {
  /** What a frame may hold beside its largest object: in production in proportion. */
  private static final int BYTES_MAX = 4 * SimNode.FRAME_BYTES;

  private FrameCheck() {}

  static void check(ReplicaId from, String to, Frame frame, int bytes) {
    if (bytes <= BYTES_MAX) {
      return;
    }
    int largest = 0;
    for (Shipment shipment : shipments(frame)) {
      largest = Math.max(largest, FrameCodec.sizeOf(from, shipment));
    }
    if (bytes - largest > BYTES_MAX) {
      throw new Violation(
          "",
          "%s sends %s a frame (%s) of %d bytes, of which its largest object has %d",
          from,
          to,
          frame.getClass().getSimpleName(),
          bytes,
          largest);
    }
  }

  private static List<Shipment> shipments(Frame frame) {
    return switch (frame) {
      case Frame.Updates u -> u.shipments();
      case Frame.States s -> s.shipments();
      case Frame.StatesAndOffer s -> s.states().shipments();
      case Frame.Verified v -> v.shipments();
      case Frame.Entries e -> List.of(e.entries());
      default -> List.of();
    };
  }
}
