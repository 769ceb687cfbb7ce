package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * No frame grows with the number of objects that something is wrong with: beside its largest object
 * it has a few frames' worth of bytes at most, whatever is asked for. And each can be encoded: the
 * transport drops what cannot, again and again.
 */
public final class FrameCheck {
  /** What a frame may hold beside its largest object: in production in proportion. */
  private static final int BYTES_MAX = 4 * Unit.FRAME_BYTES;

  private FrameCheck() {}

  public static void check(ReplicaId from, String to, Frame frame, int bytes) {
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

  /**
   * What a frame is as bytes, without most of the work.
   *
   * @param bytes how many it has
   * @param hash of its content; in each run of a seed the same
   */
  public record Print(int bytes, long hash) {}

  /**
   * What a frame of those that most are is as bytes; empty for others.
   *
   * @throws Violation if it cannot be encoded
   */
  public static Optional<Print> print(ReplicaId from, Frame frame) {
    if (frame instanceof Frame.Updates u) {
      return Optional.of(print(from, u));
    }
    if (frame instanceof Frame.Ack || frame instanceof Frame.Status) {
      byte[] bytes = encoded(from, frame);
      return Optional.of(new Print(bytes.length, Arrays.hashCode(bytes)));
    }
    return Optional.empty();
  }

  private static Print print(ReplicaId from, Frame.Updates updates) {
    byte[] head =
        encoded(
            from,
            new Frame.Updates(
                updates.kind(),
                updates.epoch(),
                updates.sequence(),
                updates.through(),
                updates.deps(),
                updates.cursor(),
                updates.outage(),
                updates.sentMillis(),
                List.of()));
    int bytes = head.length;
    long hash = Arrays.hashCode(head);
    for (Shipment s : updates.shipments()) {
      bytes += FrameCodec.sizeOf(from, s);
      hash = (hash * 31 + s.object().hashCode()) * 31 + s.origin().hashCode();
      hash = (hash * 31 + s.predecessor()) * 31 + s.last();
      CrdtState content = s.content();
      hash = hash * 31 + content.context().hashCode();
      hash = content.isFull() ? hash : hash * 31 + Arrays.hashCode(StateCodec.pack(content));
    }
    return new Print(bytes, hash);
  }

  /**
   * A frame's bytes.
   *
   * @throws Violation if it cannot be encoded
   */
  public static byte[] encoded(ReplicaId from, Frame frame) {
    try {
      return FrameCodec.encode(from, frame);
    } catch (RuntimeException e) {
      throw new Violation("", "%s sends a frame that cannot be encoded: %s: %s", from, e, frame);
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
