package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PartialPulls;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.pull.PendingAnswer;
import io.osier.propagation.pull.StatePull;
import io.osier.propagation.wire.Frame;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Pulls the large states that belong to peers' answers, one after the other for each peer. A
 * request that is not answered is repeated, and if an answer ends early, the received part of the
 * state is kept for the next answer. Pure; not thread-safe.
 */
public final class AnswerPulls {
  private final ReplicationContext around;
  private final InboundStreams streams;
  private final Visibility visibility;
  private final Predicate<String> linkUp;

  /** The parts of large states that came with answers that ended early, from whatever peer. */
  private final PartialPulls halfPulled = new PartialPulls();

  AnswerPulls(
      ReplicationContext around,
      InboundStreams streams,
      Visibility visibility,
      Predicate<String> linkUp) {
    this.around = around;
    this.streams = streams;
    this.visibility = visibility;
    this.linkUp = linkUp;
  }

  private void send(InboundStream in, Frame frame) {
    around.sink().send(in.sender(), frame);
  }

  /**
   * Takes an expected answer and begins to pull the large state that belongs to it. Returns the
   * answer at once if that state is here already.
   */
  public Optional<PeerAnswer> begin(InboundStream in, Frame.StatesAndOffer answer, long nowNanos) {
    end(in, answer.states().origin(), nowNanos);
    in.answers().add(new PendingAnswer(in.sender(), answer));
    return next(in, nowNanos);
  }

  /**
   * Tells a peer that a state it offered with an answer is not pulled (any more), so that it need
   * not keep the version.
   */
  public void notWanted(InboundStream in, Frame.Offer offer) {
    if (linkUp.test(in.sender().dc())) {
      send(in, StatePull.done(offer));
    }
  }

  /**
   * Takes a page of ranges or entries of a large state that belongs to an answer.
   *
   * @param number of the offer
   * @param take takes the page; returns whether it was waited for
   * @return the answer, if all of it is here now
   */
  Optional<PeerAnswer> pulled(
      InboundStream in, long number, Predicate<PendingAnswer> take, long nowNanos) {
    PendingAnswer asked = in.answers().asked(number);
    if (asked == null || !take.test(asked)) {
      return Optional.empty();
    }
    in.answers().came(nowNanos);
    return ask(in, asked, nowNanos);
  }

  /**
   * Sends the next request of a peer's first pending answer, or repeats one that was not answered.
   * Returns the answer if nothing of it is lacking: often what one origin has written also came
   * with the updates of another.
   */
  public Optional<PeerAnswer> next(InboundStream in, long nowNanos) {
    PendingAnswer first = in.answers().first();
    return first != null && in.answers().isDue(in.heardNanos())
        ? ask(in, first, nowNanos)
        : Optional.empty();
  }

  private Optional<PeerAnswer> ask(InboundStream in, PendingAnswer first, long nowNanos) {
    int rangesMax = in.answers().ask(first, nowNanos);
    Optional<PeerAnswer> whole = whole(in, first, nowNanos);
    if (whole.isPresent()) {
      PendingAnswer unused = in.answers().remove(first.origin());
      around.stats().pulled();
      send(in, StatePull.done(first.offer()));
    } else if (first.hasBegun()) {
      send(in, first.ask(rangesMax));
    } // otherwise the next call tries again, as after a lost request
    return whole;
  }

  private Optional<PeerAnswer> whole(InboundStream in, PendingAnswer first, long nowNanos) {
    Frame.Offer offer = first.offer();
    CrdtState here = around.replica().state(offer.object());
    if (here != null && here.context().covers(offer.version().context())) {
      return Optional.of(first.besidesOffer());
    }
    return first.begin(() -> known(in, offer), nowNanos) ? first.answer() : Optional.empty();
  }

  /**
   * Returns what this datacenter has of an object: a part that came with an answer that ended
   * early, a version that waits to become visible, or the object's present state.
   */
  private PartialPulls.Part known(InboundStream in, Frame.Offer offer) {
    ObjectId object = offer.object();
    CrdtState here = around.replica().state(object);
    Optional<PartialPulls.Part> kept =
        halfPulled
            .take(object)
            // The object may have come in another way meanwhile.
            .filter(part -> here == null || !here.context().covers(part.version().context()));
    if (kept.isPresent()) {
      return kept.get();
    }
    CrdtState version =
        visibility
            .waitingState(in, offer)
            .filter(Decomposition::hold)
            .orElseGet(() -> here == null ? CrdtState.bottom(object.type()) : here);
    return PartialPulls.Part.version(version);
  }

  /** Stops pulling the state of a peer's answer about an origin, or about fetched objects. */
  void end(InboundStream in, Optional<ReplicaId> origin, long nowNanos) {
    PendingAnswer ended = in.answers().remove(origin);
    if (ended != null) {
      notWanted(in, ended.offer());
      long bytesMax = around.settings().memory().waiting();
      ended
          .part()
          .ifPresent(part -> halfPulled.keep(ended.offer().object(), part, bytesMax, nowNanos));
    }
  }

  /** Stops pulling the states of all answers of a peer: they are requested again if need be. */
  void endAll(InboundStream in, long nowNanos) {
    in.answers().all().forEach(answer -> end(in, answer.origin(), nowNanos));
  }

  /**
   * Notes that a peer no longer has a version that it offered with an answer.
   *
   * @param notComing is called with the peer and the origin whose answer will not come
   */
  public void withdrawn(
      InboundStream in,
      Frame.Withdrawn offer,
      BiConsumer<ReplicaId, ReplicaId> notComing,
      long nowNanos) {
    PendingAnswer asked = in.answers().asked(offer.number());
    if (asked != null) {
      end(in, asked.origin(), nowNanos);
      asked
          .origin()
          .ifPresentOrElse(
              origin -> notComing.accept(in.sender(), origin), () -> in.fetcher().comesNot());
    }
  }

  /** Keeps the versions that partly pulled states build on from changing, for a time. */
  void hold(long nowNanos) {
    halfPulled.hold(nowNanos);
    for (InboundStream in : streams.all()) {
      in.answers().all().forEach(PendingAnswer::hold);
    }
  }

  /** Returns about how many bytes the parts that are kept for later answers take in the heap. */
  long keptBytes() {
    return halfPulled.heapBytes();
  }
}
