package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.Optional;

/**
 * What a peer has answered, and is all here.
 *
 * @param pulled of which object it has a state that was pulled: that state may read what it shares
 *     with the version here from where that lies
 */
public record PeerAnswer(Frame.States states, Optional<ObjectId> pulled) {
  /** All of it came in one frame. */
  public static PeerAnswer of(Frame.States states) {
    return new PeerAnswer(states, Optional.empty());
  }

  /** What came in the frame, in bytes. */
  public long frameBytes() {
    return states.shipments().stream()
        .filter(s -> pulled.isEmpty() || !pulled.get().equals(s.object()))
        .mapToLong(s -> s.content().sizeBytes())
        .sum();
  }
}
