package io.osier.propagation.receive;

import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.pull.StatePull;
import io.osier.propagation.wire.Frame;
import java.util.Optional;

/**
 * Pulls the large states that peers offer in their streams, as far as there is room. It hands pages
 * that belong to an answer to {@link AnswerPulls}. Pure; not thread-safe.
 */
public final class OfferPulls {
  private final ReplicationContext around;
  private final Visibility visibility;
  private final Backpressure backpressure;
  private final AnswerPulls answerPulls;

  OfferPulls(
      ReplicationContext around,
      Visibility visibility,
      Backpressure backpressure,
      AnswerPulls answerPulls) {
    this.around = around;
    this.visibility = visibility;
    this.backpressure = backpressure;
    this.answerPulls = answerPulls;
  }

  private void send(InboundStream in, Frame frame) {
    around.sink().send(in.sender(), frame);
  }

  /** Takes an offer of a large state, and pulls what this datacenter lacks of it. */
  public void offered(InboundStream in, Frame.Offer offer, long nowNanos) {
    if (offer.epoch() != in.position().epoch() || in.position().isRefusing()) {
      return; // the offer is repeated, or the stream begins anew
    }
    StatePull before = in.pulls().get(offer.object());
    if (in.pulls().hasDone(offer)) {
      send(in, StatePull.done(offer)); // the former report was lost
    } else if (before != null && before.offer().isSame(offer)) {
      before.heard(offer, nowNanos);
      send(in, before.ask());
    } else if (before != null || backpressure.mayPullMore(in, nowNanos)) {
      // The received part of an offer that ended early need not be sent again.
      Optional<CrdtState> received =
          before != null
              ? before.version()
              : visibility.waitingState(in, offer).filter(Decomposition::hold);
      long bytes = before != null && received.isPresent() ? before.heapBytes() : 0;
      begin(in, offer, received, bytes, nowNanos);
    } // otherwise the offer is repeated
  }

  private void begin(
      InboundStream in,
      Frame.Offer offer,
      Optional<CrdtState> received,
      long bytes,
      long nowNanos) {
    CrdtState here = around.replica().state(offer.object());
    CrdtState own = here == null ? CrdtState.bottom(offer.object().type()) : here;
    if (received.isPresent() || Decomposition.hold(own)) {
      StatePull pull = new StatePull(in.sender(), offer, received.orElse(own), bytes, nowNanos);
      in.pulls().begin(pull);
      send(in, pull.ask());
    } // otherwise the object is just being read again: the offer is repeated
  }

  /**
   * Takes a page of ranges of an object that is pulled. Returns the answer that it completes, if it
   * completes one.
   */
  public Optional<PeerAnswer> pulled(
      InboundStream in, Frame.Ranges ranges, long nowNanos, long nowMillis) {
    if (ranges.epoch() == Frame.Offer.OF_ANSWER) {
      return answerPulls.pulled(in, ranges.number(), answer -> answer.take(ranges), nowNanos);
    }
    StatePull pull = in.pulls().get(ranges.object());
    if (pull != null && pull.take(ranges)) {
      goOn(in, pull, nowNanos, nowMillis);
    }
    return Optional.empty();
  }

  /**
   * Takes entries of an object that is pulled. Returns the answer that they complete, if they
   * complete one.
   */
  public Optional<PeerAnswer> pulled(
      InboundStream in, Frame.Entries entries, long nowNanos, long nowMillis) {
    if (entries.epoch() == Frame.Offer.OF_ANSWER) {
      return answerPulls.pulled(in, entries.number(), answer -> answer.take(entries), nowNanos);
    }
    StatePull pull = in.pulls().get(entries.entries().object());
    if (pull != null && pull.take(entries)) {
      goOn(in, pull, nowNanos, nowMillis);
    }
    return Optional.empty();
  }

  private void goOn(InboundStream in, StatePull pull, long nowNanos, long nowMillis) {
    pull.heard(nowNanos);
    if (pull.version().isEmpty()) {
      begin(in, pull.offer(), Optional.empty(), 0, nowNanos);
    } else if (pull.isComplete()) {
      around.stats().pulled();
      visibility.pulled(in, pull.shipment(), nowNanos, nowMillis);
      backpressure.weigh(nowNanos);
      in.pulls().end(pull);
      send(in, StatePull.done(pull.offer()));
    } else {
      send(in, pull.ask());
    }
  }
}
