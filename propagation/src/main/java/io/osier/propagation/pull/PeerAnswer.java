package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.Optional;

/**
 * A peer's answer that was received completely.
 *
 * @param pulled the object whose state in the answer was pulled, if there is one: that state may
 *     read what it shares with the version here from where that version is stored
 */
public record PeerAnswer(Frame.States states, Optional<ObjectId> pulled) {
  /** Returns an answer that came in one frame. */
  public static PeerAnswer of(Frame.States states) {
    return new PeerAnswer(states, Optional.empty());
  }

  /** Returns the size of the part that came in the answer's frame, in bytes. */
  public long frameBytes() {
    return states.shipments().stream()
        .filter(s -> pulled.isEmpty() || !pulled.get().equals(s.object()))
        .mapToLong(s -> s.content().sizeBytes())
        .sum();
  }
}
