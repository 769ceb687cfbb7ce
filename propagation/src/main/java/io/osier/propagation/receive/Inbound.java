package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.wire.Frame;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the peers' shipments: finds gaps in their streams and requests the missing frames,
 * acknowledges frames, and hands the updates that are next to {@link Visibility}.
 *
 * <p>Pure; not thread-safe.
 */
public final class Inbound {
  /** Acknowledgements of operations are delayed by this: each is as large as an update. */
  private static final long ACK_DELAY_NANOS = 50_000_000;

  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final InboundStreams streams;
  private final Visibility visibility;
  private final Backpressure backpressure;
  private final AnswerPulls answerPulls;
  private final OfferPulls offerPulls;
  private final PathSkew skew;
  private final FetchPolicy fetches;
  private final LongSupplier requests;

  /**
   * @param early keeps repaired updates that have come too early
   * @param requests returns a new, larger number for each request
   * @param linkUp whether frames can be sent to a datacenter
   */
  public Inbound(
      ReplicationContext around,
      ReceivedVector knowledge,
      UpdateApplier applier,
      RepairBuffer early,
      LongSupplier requests,
      Predicate<String> linkUp) {
    this.around = around;
    this.knowledge = knowledge;
    this.requests = requests;
    this.streams = new InboundStreams(around);
    // An origin that is silent for longer counts as out of reach.
    this.skew = new PathSkew(around.healNanos() + around.retryNanos());
    this.fetches = new FetchPolicy(around, streams, applier, skew, linkUp);
    this.visibility =
        switch (around.cuts()) {
          case MARKED -> new CutVisibility(around, streams, knowledge, applier);
          case NONE ->
              new ObjectVisibility(around, streams, knowledge, applier, early, skew, fetches);
        };
    this.backpressure = new Backpressure(around, visibility, linkUp);
    this.answerPulls = new AnswerPulls(around, streams, visibility, linkUp);
    this.offerPulls = new OfferPulls(around, visibility, backpressure, answerPulls);
  }

  // ---------------------------------------------------------------- streams

  /** Notes that a peer has spoken. Returns whether its incarnation is heard for the first time. */
  public boolean meet(ReplicaId peer, long nowNanos) {
    knowledge.meet(peer);
    InboundStream in = streams.get(peer.dc());
    // The vector may know an incarnation from a third datacenter before it speaks here itself.
    if (in != null && in.sender().incarnation() >= peer.incarnation()) {
      if (in.sender().equals(peer) && in.isBack()) {
        visibility.returned(peer);
      }
      return false;
    }
    if (in != null) {
      visibility.ended(in.sender());
      answerPulls.endAll(in, nowNanos);
      in.end();
    }
    Optional<Frame.Cursor> cursor = Optional.ofNullable(around.recovered().cursors().get(peer));
    StreamPosition position = new StreamPosition(around.recovered().life(), cursor);
    streams.put(new InboundStream(peer, position, requests, around.retryNanos(), nowNanos));
    return true;
  }

  /**
   * Ends the stream of a datacenter that is no peer any more; the other peers have the updates that
   * are missing of it. Its received updates that wait become visible later: nobody else may have
   * them.
   */
  public void end(String dc, long nowNanos) {
    InboundStream in = streams.get(dc);
    if (in != null) {
      answerPulls.endAll(in, nowNanos);
      in.end();
      if (visibility.ended(in.sender()) && in.position().isStarted()) {
        in.dropped(); // the same incarnation may be a peer again
      }
    }
  }

  /** Returns the stream of a datacenter's last incarnation; null if it was never heard. */
  public @Nullable InboundStream stream(String dc) {
    return streams.get(dc);
  }

  /** Whether this partition waits for nothing in a datacenter's stream. */
  public boolean isAtRest(String dc) {
    InboundStream in = streams.get(dc);
    return in != null && in.isAtRest();
  }

  /** Excuses the silence of all streams up to now, since all datacenters are at rest. */
  public void rest(long nowNanos) {
    for (InboundStream in : streams.all()) {
      in.liveness().excuse(nowNanos, Quiescence.excusedNanos(around));
    }
  }

  public Collection<InboundStream> streams() {
    return streams.all();
  }

  /** Whether an update of an origin's own stream was applied here, in this life or before. */
  public boolean hasStreamed(ReplicaId origin) {
    return streams.haveBrought(origin);
  }

  /** Notes that frames can be sent to the peer. Returns whether its stream is to be requested. */
  public boolean up(InboundStream in, long nowNanos) {
    if (in.position().isStarted() && !in.position().isResuming()) {
      in.ackAgain(nowNanos);
      return false;
    }
    return true;
  }

  /** Requests the stream from the last applied place, in a new epoch. */
  public void resume(InboundStream in, long nowNanos) {
    skew.interrupted(in.sender().dc());
    send(in, in.position().resume(knowledge.through().get(in.sender()), nowNanos));
  }

  private void resumeAgain(InboundStream in, long nowNanos) {
    send(in, in.position().resumeAgain(knowledge.through().get(in.sender()), nowNanos));
  }

  private void send(InboundStream in, Frame frame) {
    around.sink().send(in.sender(), frame);
  }

  // ---------------------------------------------------------------- what comes

  /** Takes a frame of a stream. Returns whether the stream must start again. */
  public boolean updates(InboundStream in, Frame.Updates frame, long nowNanos, long nowMillis) {
    switch (in.position().verdict(frame)) {
      case STALE -> {}
      case DUPLICATE -> in.ackAgain(nowNanos);
      case GAP -> {
        in.position().cameWithGap();
        // A gap while resuming means that the stream has begun and its first frames were lost.
        if (!in.position().isResuming()
            || in.position().mayAskAgain(nowNanos, around.retryNanos())) {
          around.stats().gapSeen();
          return true;
        }
      }
      case NEXT -> {
        if (!backpressure.takes(in)) {
          in.position().refuse();
          return false;
        }
        in.liveness().arrived(frame.sentMillis(), nowMillis);
        if (around.observer().isOn()) {
          around.observer().arrived(in.sender(), frame);
        }
        // Rounds and catching up are acknowledged at once: a round's time is measured, and catching
        // up waits for its window.
        long ackNanos = frame.kind() == Frame.Kind.OPS ? nowNanos + ACK_DELAY_NANOS : nowNanos;
        visibility.updates(in, frame, ackNanos, nowNanos, nowMillis);
        backpressure.weigh(nowNanos);
      }
    }
    return false;
  }

  /** Takes a peer's report on its stream. Returns whether the stream must start again. */
  public boolean status(InboundStream in, Frame.Status status, long nowNanos) {
    if (in.position().isRefusing()) {
      return false; // the stream starts again when there is room
    }
    if (status.wantResume() && in.position().mayAskAgain(nowNanos, around.retryNanos())) {
      if (in.position().isResuming() && status.epoch() < in.position().epoch()) {
        // The sender has not heard of the epoch, or had not when it sent this status.
        resumeAgain(in, nowNanos);
        return false;
      }
      in.position().heardOf(status.epoch());
      return true;
    }
    if (in.position().missedTail(status)
        && in.position().mayBeginAnew(nowNanos, around.retryNanos())) {
      around.stats().gapSeen();
      return true;
    }
    // The last acknowledgement may have been lost. A peer that is not at rest sends a status every
    // half retry interval. Each is acknowledged, so that no peer takes this datacenter for a silent
    // one.
    in.ackAgain(nowNanos, around.retryNanos() / 4);
    return false;
  }

  /**
   * Takes a page of a peer's updates of an origin, or of objects that were fetched from it.
   *
   * @param expected whether it is the next page of a repair that is in progress
   */
  public void states(
      InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis) {
    Frame.States states = answer.states();
    if (around.observer().isOn()) {
      around.observer().brought(in.sender(), states.shipments());
    }
    if (expected) {
      answerPulls.end(in, states.origin(), nowNanos); // a former answer to the same request
    }
    visibility.states(in, answer, expected, nowNanos, nowMillis);
    backpressure.weigh(nowNanos);
    if (states.origin().isEmpty()) {
      in.fetcher().answered(states, nowNanos).ifPresent(next -> send(in, next));
    }
  }

  /** Repeats all open requests as a whole, since frames may have been lost. */
  public void answersMayBeLost(InboundStream in, long nowNanos) {
    in.fetcher().down();
    answerPulls.endAll(in, nowNanos);
  }

  /** Returns what pulls the large states of answers. */
  public AnswerPulls answerPulls() {
    return answerPulls;
  }

  /** Returns what pulls the large states that peers offer in their streams. */
  public OfferPulls offerPulls() {
    return offerPulls;
  }

  /** Takes states of objects of which a peer has forgotten what this datacenter remembers. */
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    visibility.verified(in, verified, nowNanos, nowMillis);
    backpressure.weigh(nowNanos);
  }

  /**
   * Gives up what a peer was sending of an origin: the rest will not come. Later all is requested.
   */
  public void givenUp(ReplicaId peer, ReplicaId origin, long nowNanos) {
    visibility.givenUp(peer, origin);
    endAnswer(peer, origin, nowNanos);
  }

  private void endAnswer(ReplicaId peer, ReplicaId origin, long nowNanos) {
    InboundStream in = streams.get(peer.dc());
    if (in != null && in.sender().equals(peer)) {
      answerPulls.end(in, Optional.of(origin), nowNanos);
    }
  }

  /** Notes that everything that a repair brought is here. */
  public void repaired(Frame.States last) {
    visibility.repaired(last);
  }

  // ---------------------------------------------------------------- time

  /**
   * Does what is due for a stream: acknowledges, repeats requests, fetches what is missing.
   *
   * @param besides returns more objects that are to be fetched from the peer
   */
  public void tick(InboundStream in, Supplier<List<ObjectId>> besides, long nowNanos) {
    backpressure.weigh(nowNanos);
    if (in.position().isRefusing() && backpressure.mayGoOn(in)) {
      resume(in, nowNanos);
    }
    if (in.acks().dueNanos() <= nowNanos
        && backpressure.mayGoOn(in)
        && in.acks().takeDue(nowNanos)) {
      send(in, in.position().ack());
    }
    long retry = around.retryNanos();
    if (in.position().isResuming() && nowNanos >= in.position().resumeDueNanos(retry)) {
      resumeAgain(in, nowNanos);
    }
    if (in.fetcher().isIdle()) {
      List<ObjectId> missing = fetches.due(in, nowNanos);
      if (missing.isEmpty()) {
        missing = besides.get();
      }
      if (!missing.isEmpty()) {
        missing.forEach(object -> around.stats().gapSeen());
        send(in, in.fetcher().fetch(fetches.largeLast(missing), nowNanos));
      }
    } else if (in.fetcher().isDue(in.heardNanos())) {
      send(in, in.fetcher().again(nowNanos));
    }
  }

  /** Returns when {@link #tick} has something to do for a stream, at the latest. */
  public long nextTickNanos(InboundStream in) {
    if (in.answers().isDue(in.heardNanos())) {
      return Long.MIN_VALUE;
    }
    long retry = around.retryNanos();
    long fetch = fetches.nextNanos(in);
    if (in.position().isRefusing() && backpressure.mayGoOn(in)) {
      return Long.MIN_VALUE;
    }
    long ack = in.acks().dueNanos();
    long next = ack < fetch && backpressure.mayGoOn(in) ? ack : fetch;
    return in.position().isResuming() ? Math.min(next, in.position().resumeDueNanos(retry)) : next;
  }

  /**
   * Gives up waiting updates of former incarnations that can never become visible.
   *
   * @param lost whether no datacenter has any more of an origin's updates
   */
  public void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis) {
    visibility.sweepLeft(lost, nowNanos, nowMillis);
  }

  /**
   * Keeps pulled large states from changing while they wait, and requests anew what was lost. To be
   * called at least each minute.
   *
   * @param lost is called with a peer and an origin when all that it has sent of the origin is lost
   */
  public void holdPulled(BiConsumer<ReplicaId, ReplicaId> lost, long nowNanos, long nowMillis) {
    answerPulls.hold(nowNanos);
    List<ReplicaId> begin =
        visibility.holdPulled(
            (peer, origin) -> {
              lost.accept(peer, origin);
              endAnswer(peer, origin, nowNanos);
            },
            nowNanos,
            nowMillis);
    for (InboundStream in : streams.all()) {
      if (begin.contains(in.sender())) {
        in.dropped();
        resume(in, nowNanos);
      }
    }
  }

  // ---------------------------------------------------------------- what is known

  /** Returns the places in the newest incarnations' streams up to which everything was applied. */
  public Map<ReplicaId, Frame.Cursor> cursors() {
    return streams.cursors(knowledge::isNewest);
  }

  /** Returns a number that changes whenever {@link #cursors} may have changed. */
  public long placesChanged() {
    return streams.placesChanged();
  }

  /** Returns how much is used of the budget for received updates that wait. */
  public Budget.Usage memory() {
    return backpressure.usage(answerPulls.keptBytes());
  }

  /** Returns how many received updates wait for their cut's end or its dependencies. */
  public int waiting() {
    return visibility.waiting();
  }

  /** Returns the waiting updates of an object, where each object becomes visible for itself. */
  public List<ObjectProgress.Waiting> waiting(ObjectId object, long nowNanos) {
    return streams.waiting(object, nowNanos);
  }

  /** Whether a closed cut of an origin, or what it left, waits for its dependencies. */
  public boolean isWaiting(ReplicaId origin) {
    return visibility.isWaiting(origin);
  }
}
