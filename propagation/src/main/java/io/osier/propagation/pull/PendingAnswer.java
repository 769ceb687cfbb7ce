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
 * An answer with a large state that is still to be pulled. The whole answer counts only when the
 * state was received, since the answer's statements about an origin include that state. Not
 * thread-safe.
 */
public final class PendingAnswer {
  private final ReplicaId sender;
  private final Frame.States states;
  private final Frame.Offer offer;

  /** About how many bytes the states that came with the offer take in the heap. */
  private final long statesBytes;

  /** The pull of the large state; null before it begins. */
  private @Nullable StatePull pull;

  public PendingAnswer(ReplicaId sender, Frame.StatesAndOffer answer) {
    this.sender = sender;
    this.states = answer.states();
    this.offer = answer.offer();
    this.statesBytes = states.shipments().stream().mapToLong(Shipment::heapBytes).sum();
  }

  /** Returns the origin that the answer is about; empty if it is about objects. */
  public Optional<ReplicaId> origin() {
    return states.origin();
  }

  public Frame.Offer offer() {
    return offer;
  }

  /**
   * Begins the pull, unless it has begun and its version has not changed.
   *
   * @param from returns the object's version here, or the part that was received; the version here
   *     is not counted
   * @return whether it has begun; it cannot while the version here is just being read again
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

  /** Returns the answer without the offered state, for when the version here covers that state. */
  public PeerAnswer besidesOffer() {
    return PeerAnswer.of(states);
  }

  /**
   * Returns the next request of a pull that has begun, for the entries of at most this many ranges.
   */
  public Frame.Pull ask(int rangesMax) {
    if (pull == null) {
      throw new IllegalStateException("nothing of " + offer + " has begun");
    }
    return pull.ask(rangesMax);
  }

  /** Takes a page of ranges. Returns whether it was expected. */
  public boolean take(Frame.Ranges ranges) {
    return pull != null
        && ranges.object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(ranges));
  }

  /** Takes entries. Returns whether they were expected. */
  public boolean take(Frame.Entries entries) {
    return pull != null
        && entries.entries().object().equals(offer.object())
        && (pull.version().isEmpty() || pull.take(entries));
  }

  /** Returns the answer, if all of it was received and its version has not changed. */
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

  /** Returns the received part of the state, if there is one. */
  public Optional<PartialPulls.Part> part() {
    StatePull open = pull;
    return open == null
        ? Optional.empty()
        : open.version().map(version -> PartialPulls.Part.half(version, open.heapBytes()));
  }

  /**
   * Keeps the version of the received part from changing for a time; if it has changed, the pull
   * begins again.
   */
  public void hold() {
    if (pull != null && pull.version().isEmpty()) {
      pull = null;
    }
  }

  /** Returns about how many bytes the received part takes in the heap. */
  long heapBytes() {
    return statesBytes + (pull == null ? 0 : pull.heapBytes());
  }
}
