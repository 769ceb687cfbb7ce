package io.osier.propagation.pull;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
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
public final class PendingAnswer {
  private final ReplicaId sender;
  private final Frame.States states;
  private final Frame.Offer offer;

  /** What came with the offer takes so much in the heap, about. */
  private final long statesBytes;

  /** Null before it begins. */
  private @Nullable StatePull pull;

  public PendingAnswer(ReplicaId sender, Frame.StatesAndOffer answer) {
    this.sender = sender;
    this.states = answer.states();
    this.offer = answer.offer();
    this.statesBytes = states.shipments().stream().mapToLong(Shipment::heapBytes).sum();
  }

  /** Which origin it is about; empty if it is about objects. */
  public Optional<ReplicaId> origin() {
    return states.origin();
  }

  public Frame.Offer offer() {
    return offer;
  }

  /**
   * Begins, unless it has begun and that is as it was.
   *
   * @param from what is here of the object, or has come of it; what is here is not counted
   * @return whether it has begun: the version here may just be read anew
   */
  public boolean begin(Supplier<PartialPulls.Part> from, long nowNanos) {
    if (pull == null || pull.version().isEmpty()) {
      PartialPulls.Part part = from.get();
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

  public boolean hasBegun() {
    return pull != null;
  }

  /** The answer without what was offered: what is here covers that. */
  public PeerAnswer besidesOffer() {
    return PeerAnswer.of(states);
  }

  /** What to ask for, of something that has begun; of entries so many ranges at most. */
  public Frame.Pull ask(int rangesMax) {
    if (pull == null) {
      throw new IllegalStateException("nothing of " + offer + " has begun");
    }
    return pull.ask(rangesMax);
  }

  /** Takes a page of ranges. Returns whether it was waited for. */
  public boolean take(Frame.Ranges ranges) {
    return pull != null
        && ranges.object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(ranges));
  }

  /** Takes entries. Returns whether they were waited for. */
  public boolean take(Frame.Entries entries) {
    return pull != null
        && entries.entries().object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(entries));
  }

  /** The answer, if all of it has come, and is as it was. */
  public Optional<PeerAnswer> answer() {
    if (pull == null || !pull.isComplete() || pull.version().isEmpty()) {
      return Optional.empty();
    }
    CrdtState state = pull.shipment().content();
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
    return Optional.of(new PeerAnswer(whole, Optional.of(offer.object())));
  }

  /** What has come of the state, if anything. */
  public Optional<PartialPulls.Part> part() {
    StatePull open = pull;
    return open == null
        ? Optional.empty()
        : open.version().map(version -> PartialPulls.Part.half(version, open.heapBytes()));
  }

  /** Keeps what has come as it is for a time; what has not stayed so begins once more. */
  public void hold() {
    if (pull != null && pull.version().isEmpty()) {
      pull = null;
    }
  }

  /** What has come takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return statesBytes + (pull == null ? 0 : pull.heapBytes());
  }
}
