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
 * Pulls the large states that belong to peers' answers: of each peer one after the other. What is
 * not answered is asked for again, and what came of an answer that ended early is kept for the
 * next. Pure; not thread-safe.
 */
public final class AnswerPulls {
  private final ReplicationContext around;
  private final InboundStreams streams;
  private final Visibility visibility;
  private final Predicate<String> linkUp;

  /** What has come of states whose answers ended early, from whomever. */
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
   * Takes an answer that is waited for, as far as it has come: the rest is pulled. Returns it if
   * the rest is here already.
   */
  public Optional<PeerAnswer> begin(InboundStream in, Frame.StatesAndOffer answer, long nowNanos) {
    end(in, answer.states().origin(), nowNanos);
    in.answers().add(new PendingAnswer(in.sender(), answer));
    return next(in, nowNanos);
  }

  /** What was offered with an answer is not pulled, or no more: nobody need hold it. */
  public void notWanted(InboundStream in, Frame.Offer offer) {
    if (linkUp.test(in.sender().dc())) {
      send(in, StatePull.done(offer));
    }
  }

  /**
   * Something has come of what belongs to an answer.
   *
   * @param number of the offer
   * @param take takes it; whether it was waited for
   * @return the answer, if all of it is here
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
   * Asks for what is next, or was asked and did not come. Returns the answer if nothing of it is
   * lacking: most often what one origin has made came with what another one has.
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
    } // otherwise it is tried again, as if that were lost
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

  /** Of an object what came in part, or has come and waits, or is here. */
  private PartialPulls.Part known(InboundStream in, Frame.Offer offer) {
    ObjectId object = offer.object();
    CrdtState here = around.replica().state(object);
    Optional<PartialPulls.Part> came =
        halfPulled
            .take(object)
            // It may have come otherwise meanwhile.
            .filter(part -> here == null || !here.context().covers(part.version().context()));
    if (came.isPresent()) {
      return came.get();
    }
    CrdtState version =
        visibility
            .waitingState(in, offer)
            .filter(Decomposition::hold)
            .orElseGet(() -> here == null ? CrdtState.bottom(object.type()) : here);
    return PartialPulls.Part.version(version);
  }

  /** The state of an answer about an origin, or objects, is pulled no more. */
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

  /** Nothing of a peer's answers is pulled any more: they are asked for again, if need be. */
  void endAll(InboundStream in, long nowNanos) {
    in.answers().all().forEach(answer -> end(in, answer.origin(), nowNanos));
  }

  /**
   * What was offered with an answer is not to be had any more.
   *
   * @param notComing hears of what origin the answer does not come
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

  /** Keeps what has come as it is for a time. */
  void hold(long nowNanos) {
    halfPulled.hold(nowNanos);
    for (InboundStream in : streams.all()) {
      in.answers().all().forEach(PendingAnswer::hold);
    }
  }

  /** What is kept for next answers takes so much in the heap, about, in bytes. */
  long keptBytes() {
    return halfPulled.heapBytes();
  }
}
