package io.osier.propagation;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.InboundStream;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.repair.RepairAnswers;
import io.osier.propagation.repair.Repairer;
import io.osier.propagation.repair.Verifier;
import io.osier.propagation.send.Outbound;
import io.osier.propagation.send.PeerStream;
import io.osier.propagation.wire.Frame;
import java.util.Optional;

/** Handles each kind of frame, including the effects on other streams. Not thread-safe. */
final class FrameHandlers {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final Repairer repairer;
  private final RepairAnswers answers;
  private final Verifier verifier;
  private final Origins origins;
  private final ReplicationStatus standing;

  FrameHandlers(
      ReplicationContext around,
      ReceivedVector knowledge,
      Outbound outbound,
      Inbound inbound,
      Repairer repairer,
      RepairAnswers answers,
      Verifier verifier,
      Origins origins,
      ReplicationStatus standing) {
    this.around = around;
    this.knowledge = knowledge;
    this.outbound = outbound;
    this.inbound = inbound;
    this.repairer = repairer;
    this.answers = answers;
    this.verifier = verifier;
    this.origins = origins;
    this.standing = standing;
  }

  /** Notes that a peer was heard. */
  void heard(InboundStream in, Frame frame, long nowNanos, long nowMillis) {
    in.liveness().heard(nowNanos, nowMillis, around.retryNanos(), wayMillis(frame, nowMillis));
  }

  /**
   * Handles a frame.
   *
   * @param in the stream of the peer that sent it, which is its datacenter's newest incarnation
   * @param stream the stream to that peer
   */
  void handle(InboundStream in, PeerStream stream, Frame frame, long nowNanos, long nowMillis) {
    ReplicaId peer = in.sender();
    switch (frame) {
      case Frame.Updates f -> {
        if (inbound.updates(in, f, nowNanos, nowMillis)) {
          resume(in, nowNanos);
        }
      }
      case Frame.Ack f -> outbound.acknowledged(stream, peer, f, nowNanos);
      case Frame.Resume f -> {
        checkOwn(peer, f.through());
        outbound.resume(stream, peer, f, nowNanos, nowMillis);
      }
      case Frame.Status f -> status(in, stream, f, nowNanos, nowMillis);
      case Frame.Offer f -> inbound.offerPulls().offered(in, f, nowNanos);
      case Frame.Pull f -> pull(stream, peer, f, nowNanos, nowMillis);
      case Frame.Ranges f ->
          takeIfAny(
              in, inbound.offerPulls().pulled(in, f, nowNanos, nowMillis), nowNanos, nowMillis);
      case Frame.Entries f ->
          takeIfAny(
              in, inbound.offerPulls().pulled(in, f, nowNanos, nowMillis), nowNanos, nowMillis);
      case Frame.Heal f -> answers.repair(peer, f, nowNanos);
      case Frame.Rights f -> around.replica().rightsWanted(peer.dc(), f);
      case Frame.Fetch f -> answers.fetch(peer, f, nowNanos);
      case Frame.Verify f -> answers.verify(peer, f);
      case Frame.Verified f -> {
        inbound.verified(in, f, nowNanos, nowMillis);
        if (verifier.answered(peer.dc(), f, nowNanos)) {
          resume(in, nowNanos);
        }
      }
      case Frame.States f -> take(in, PeerAnswer.of(f), nowNanos, nowMillis);
      case Frame.StatesAndOffer f -> statesAndOffer(in, f, nowNanos, nowMillis);
      case Frame.Withdrawn f ->
          inbound.answerPulls().withdrawn(in, f, repairer::comesNot, nowNanos);
    }
  }

  /** Sends a peer the requests that are due. */
  void tick(InboundStream in, long nowNanos, long nowMillis) {
    String dc = in.sender().dc();
    PeerStream stream = outbound.stream(dc);
    if (stream == null || !stream.linkUp()) {
      return; // the datacenter may be no peer any more
    }
    if (verifier.isDue(dc, in.heardNanos())) {
      resume(in, nowNanos);
    }
    takeIfAny(in, inbound.answerPulls().next(in, nowNanos), nowNanos, nowMillis);
    inbound.tick(in, () -> repairer.toFetch(in.sender(), nowNanos), nowNanos);
    if (verifier.isDone(dc)) {
      repairer.check(
          in.sender(),
          in.heardNanos(),
          origin -> origins.comesFrom(origin, stream, nowNanos),
          nowNanos);
    }
  }

  private void pull(
      PeerStream stream, ReplicaId peer, Frame.Pull pull, long nowNanos, long nowMillis) {
    if (pull.epoch() == Frame.Offer.OF_ANSWER) {
      answers.pull(peer, pull, nowNanos);
    } else {
      outbound.pull(stream, peer, pull, nowNanos, nowMillis);
    }
  }

  private void statesAndOffer(
      InboundStream in, Frame.StatesAndOffer answer, long nowNanos, long nowMillis) {
    Frame.States states = answer.states();
    boolean comes =
        states.origin().isPresent()
            ? repairer.comes(in.sender(), states, nowNanos)
            : in.fetcher().comes(states, nowNanos);
    if (comes) {
      takeIfAny(in, inbound.answerPulls().begin(in, answer, nowNanos), nowNanos, nowMillis);
    } else {
      inbound.answerPulls().notWanted(in, answer.offer());
    }
  }

  private void status(
      InboundStream in, PeerStream stream, Frame.Status status, long nowNanos, long nowMillis) {
    long has = status.through().get(around.self());
    checkOwn(in.sender(), has);
    if (knowledge.isNewest(in.sender())) { // the newest incarnation may lack what a former one has
      outbound.lags().confirmed(stream, has, nowNanos);
      knowledge.status(in.sender(), status);
      answers.prune();
      long delayNanos = in.liveness().delayNanos(wayMillis(status, nowMillis));
      standing.heard(in.sender().dc(), status, delayNanos, nowNanos);
    }
    // The status was sent after everything that was lost with the connection of the stream.
    boolean wasCut = status.wantResume() && in.hasBegun() && verifier.isDone(in.sender().dc());
    if (inbound.status(in, status, nowNanos)) {
      if (wasCut) {
        answersMayBeLost(in.sender().dc(), nowNanos);
      }
      resume(in, nowNanos);
    }
  }

  private void takeIfAny(
      InboundStream in, Optional<PeerAnswer> answer, long nowNanos, long nowMillis) {
    answer.ifPresent(whole -> take(in, whole, nowNanos, nowMillis));
  }

  private void take(InboundStream in, PeerAnswer answer, long nowNanos, long nowMillis) {
    boolean expected =
        answer.states().origin().isPresent() && repairer.received(in.sender(), answer, nowNanos);
    inbound.states(in, answer, expected, nowNanos, nowMillis);
    endRepairs(nowNanos);
  }

  /**
   * Gives up repairs that were interrupted or not needed for too long, and ends those that have
   * brought everything.
   */
  void endRepairs(long nowNanos) {
    repairer.giveUp(nowNanos, (peer, origin) -> inbound.givenUp(peer, origin, nowNanos));
    repairer.takeDone(nowNanos).forEach(inbound::repaired);
  }

  /**
   * Notes that a peer speaks; returns the stream of its datacenter's newest incarnation that did.
   */
  InboundStream meet(ReplicaId peer, long nowNanos) {
    if (inbound.meet(peer, nowNanos)) {
      repairer.ended(peer.dc());
      answers.ended(peer.dc());
    }
    return requireNonNull(inbound.stream(peer.dc()), "whoever spoke has a stream");
  }

  /**
   * Requests a peer's stream, unless the verifier must ask the peer first. The verifier asks only
   * while frames can be sent to the peer: a request that nobody can answer would be repeated ever
   * more seldom, and not when the link comes up.
   */
  void resume(InboundStream in, long nowNanos) {
    String dc = in.sender().dc();
    boolean verified =
        verifier.isDone(dc)
            || (outbound.isLinkUp(dc) && verifier.ask(in.sender(), in.heardNanos(), nowNanos));
    if (verified) {
      inbound.resume(in, nowNanos);
    }
  }

  /** Repeats the requests to a peer, since frames to or from it may have been lost. */
  void answersMayBeLost(String dc, long nowNanos) {
    repairer.interrupted(dc, nowNanos);
    verifier.down(dc);
    InboundStream in = inbound.stream(dc);
    if (in != null) {
      inbound.answersMayBeLost(in, nowNanos);
    }
  }

  /** Returns how long a frame took, by the two wall clocks; Long.MIN_VALUE if that is unknown. */
  private static long wayMillis(Frame frame, long nowMillis) {
    return switch (frame) {
      case Frame.Updates f -> nowMillis - f.sentMillis();
      case Frame.Status f -> nowMillis - f.sentMillis();
      default -> Long.MIN_VALUE;
    };
  }

  /**
   * Throws if a peer has more of this datacenter's updates than can have come from it: commits here
   * then get numbers that were given before, and no peer would take them.
   *
   * @throws OsierException STORE_DAMAGED
   */
  private void checkOwn(ReplicaId peer, long has) {
    if (has > outbound.told()) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED,
          peer
              + " has update "
              + has
              + " of this datacenter, which has sent nothing after "
              + outbound.told()
              + ": its store lost what it had confirmed, or is a copy from before that. 'osier"
              + " rebuild' sets it aside and fetches everything from the peers");
    }
  }
}
