package io.osier.propagation.in;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An answer with a large state that is still to be pulled. It counts when that has come: what it
 * says of an origin is of it, too. Not thread-safe.
 */
final class PendingAnswer {
  private final ReplicaId sender;
  private final Frame.States states;
  private final Frame.Offer offer;

  /** What came with the offer takes so much in the heap, about. */
  private final long statesBytes;

  /** Null before it begins. */
  private @Nullable StatePull pull;

  /** Nothing of the state has come. */
  PendingAnswer(ReplicaId sender, Frame.StatesAndOffer answer) {
    this.sender = sender;
    this.states = answer.states();
    this.offer = answer.offer();
    this.statesBytes = states.shipments().stream().mapToLong(Shipment::heapBytes).sum();
  }

  /** Which origin it is about; empty if it is about objects. */
  Optional<ReplicaId> origin() {
    return states.origin();
  }

  Frame.Offer offer() {
    return offer;
  }

  /**
   * Begins, unless it has begun and that is as it was.
   *
   * @param from what is here of the object, or has come of it; what is here is not counted
   * @return whether it has begun: the version here may just be read anew
   */
  boolean begin(Supplier<HalfPulled.Part> from, long nowNanos) {
    if (pull == null || pull.version().isEmpty()) {
      HalfPulled.Part part = from.get();
      pull =
          Decomposition.hold(part.version())
              ? new StatePull(sender, offer, part.version(), part.bytes(), nowNanos)
              : null;
      if (pull != null && !part.isHalf()) {
        pull.lookIfSame();
      }
    }
    return hasBegun();
  }

  /** Whether the pull has begun. */
  boolean hasBegun() {
    return pull != null;
  }

  /** The answer without what was offered: what is here covers that. */
  Answer besidesOffer() {
    return Answer.of(states);
  }

  /** What to ask for, of something that has begun; of entries so many ranges at most. */
  Frame.Pull ask(int rangesMax) {
    if (pull == null) {
      throw new IllegalStateException("nothing of " + offer + " has begun");
    }
    return pull.ask(rangesMax);
  }

  /** Takes a page of ranges. Returns whether it was waited for. */
  boolean take(Frame.Ranges ranges) {
    return pull != null
        && ranges.object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(ranges));
  }

  /** Takes entries. Returns whether they were waited for. */
  boolean take(Frame.Entries entries) {
    return pull != null
        && entries.entries().object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(entries));
  }

  /** The answer, if all of it has come, and is as it was. */
  Optional<Answer> answer() {
    if (pull == null || !pull.isComplete() || pull.version().isEmpty()) {
      return Optional.empty();
    }
    Causal state = pull.shipment().content();
    ReplicaId origin = states.origin().orElse(sender);
    long last = state.context().through(origin);
    List<Shipment> all = new ArrayList<>(states.shipments());
    all.add(new Shipment(offer.object(), origin, 0, VersionVector.EMPTY, last, 0, 0, state));
    Frame.States whole =
        new Frame.States(
            states.request(),
            states.origin(),
            states.next(),
            states.through(),
            states.changes(),
            states.deps(),
            all);
    return Optional.of(new Answer(whole, Optional.of(offer.object())));
  }

  /** What has come of the state, if anything. */
  Optional<HalfPulled.Part> part() {
    StatePull open = pull;
    return open == null
        ? Optional.empty()
        : open.version().map(version -> HalfPulled.Part.half(version, open.heapBytes()));
  }

  /** Keeps what has come as it is for a time; what has not stayed so begins once more. */
  void hold() {
    if (pull != null && pull.version().isEmpty()) {
      pull = null;
    }
  }

  /** What has come takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return statesBytes + (pull == null ? 0 : pull.heapBytes());
  }
}
