package io.osier.propagation.in;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import io.osier.propagation.in.HalfPulled.Part;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An answer with large states that are still to be pulled, one after the other. It counts when all
 * have come: what it says of an origin is of them, too. Not thread-safe.
 */
final class PendingAnswer {
  /** After so many requests in vain it is asked for anew: it may be offered no more. */
  private static final int ATTEMPTS_MAX = 4;

  private final ReplicaId sender;
  private final Frame.States states;
  private final List<Frame.Offer> offers;
  private final Asking asking;

  /** What has come, in the order of the offers. */
  private final List<Part> came = new ArrayList<>();

  /** The one that is being pulled; null if none is yet, or all have come. */
  private @Nullable StatePull pull;

  private boolean begun;

  /** The number of the last request, for {@link #asking}. */
  private long asked;

  private int attempts;

  /** Nothing of it has come. */
  PendingAnswer(ReplicaId sender, Frame.StatesAndOffers answer, Asking asking) {
    this.sender = sender;
    this.states = answer.states();
    this.offers = answer.offers();
    this.asking = asking;
  }

  /** It ends early: keeps what has come. */
  void end(HalfPulled parts, long nowNanos) {
    for (int i = 0; i < came.size(); i++) {
      parts.keep(offers.get(i).object(), came.get(i), nowNanos);
    }
    StatePull open = pull;
    if (open != null) {
      open.version()
          .map(version -> new Part(version, open.heapBytes()))
          .ifPresent(part -> parts.keep(open.offer().object(), part, nowNanos));
    }
  }

  /** Which origin it is about; empty if it is about objects. */
  Optional<ReplicaId> origin() {
    return states.origin();
  }

  /** Whether all of it has come. */
  boolean isComplete() {
    return came.size() == offers.size();
  }

  /**
   * Begins with the next state, if none has begun.
   *
   * @param from what is here of an object, or has come of it; what is here is not counted
   */
  void begin(Function<ObjectId, Part> from, long nowNanos) {
    if (pull == null && !isComplete()) {
      Frame.Offer offer = offers.get(came.size());
      Part part = from.apply(offer.object());
      if (Decomposition.hold(part.version())) {
        pull = new StatePull(sender, offer, part.version(), part.bytes(), nowNanos);
      } // otherwise it is just being read anew: another time
    }
  }

  /** What to ask for; empty if nothing is being pulled. */
  Optional<Frame.Pull> ask(long nowNanos) {
    asked = asking.ask(nowNanos);
    attempts = 0;
    begun = true;
    return Optional.ofNullable(pull).map(StatePull::ask);
  }

  /** The same once more. */
  Optional<Frame.Pull> askAgain(long nowNanos) {
    long unused = asking.askAgain(nowNanos);
    attempts++;
    return Optional.ofNullable(pull).map(StatePull::ask);
  }

  /** Whether nothing was asked for yet. */
  boolean isNew() {
    return !begun;
  }

  /** Whether what was asked for should have come. */
  boolean isDue(long heardNanos) {
    return !begun || asking.isDue(heardNanos);
  }

  /** Whether it seems not to be offered any more. */
  boolean isLost() {
    return attempts >= ATTEMPTS_MAX;
  }

  /** Nothing can be asked at present: all of it will be asked for again. */
  void interrupted() {
    asking.cancel();
  }

  /** The one that is being pulled, if it is this one. */
  private @Nullable StatePull pull(long epoch, long number) {
    return pull != null && pull.offer().isOf(epoch, number) ? pull : null;
  }

  /** Takes a page of ranges. Returns whether it was waited for. */
  boolean take(Frame.Ranges ranges, long nowNanos) {
    StatePull of = pull(ranges.epoch(), ranges.number());
    return of != null && (isLost(of) || of.take(ranges)) && took(of, nowNanos);
  }

  /** Takes entries. Returns whether they were waited for. */
  boolean take(Frame.Entries entries, long nowNanos) {
    StatePull of = pull(entries.epoch(), entries.number());
    return of != null && (isLost(of) || of.take(entries)) && took(of, nowNanos);
  }

  /** Whether what it began with has not stayed as it was, since it took too long. */
  private static boolean isLost(StatePull of) {
    return of.version().isEmpty();
  }

  private boolean took(StatePull of, long nowNanos) {
    boolean unused = asking.answered(asked, nowNanos);
    if (isLost(of)) {
      pull = null; // once more
    } else if (of.isComplete()) {
      came.add(new Part(of.shipment().content(), of.heapBytes()));
      pull = null;
    }
    return true;
  }

  /** The answer, of which all has come. */
  Frame.States answer() {
    List<Shipment> all = new ArrayList<>(states.shipments());
    ReplicaId origin = states.origin().orElse(sender);
    for (int i = 0; i < came.size(); i++) {
      Causal state = came.get(i).version();
      long last = state.context().through(origin);
      all.add(
          new Shipment(offers.get(i).object(), origin, 0, VersionVector.EMPTY, last, 0, 0, state));
    }
    return new Frame.States(
        states.request(),
        states.origin(),
        states.next(),
        states.through(),
        states.changes(),
        states.deps(),
        all);
  }

  /** What to say when all of it was taken. */
  List<Frame.Pull> done() {
    return offers.stream().map(StatePull::done).toList();
  }

  /**
   * Keeps what has come as it is.
   *
   * @return whether it has stayed so until now
   */
  boolean hold() {
    boolean isHeld = true;
    for (Part state : came) {
      isHeld &= Decomposition.hold(state.version());
    }
    if (pull != null && isLost(pull)) {
      pull = null; // begins once more
    }
    return isHeld;
  }

  /** What has come takes so much in the heap, about, in bytes. */
  long heapBytes() {
    long bytes = pull == null ? 0 : pull.heapBytes();
    for (Part state : came) {
      bytes += state.bytes();
    }
    return bytes;
  }
}
