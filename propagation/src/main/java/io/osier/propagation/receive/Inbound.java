package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.core.Budget;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.ObjectFetcher;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.pull.PendingAnswers;
import io.osier.propagation.pull.RequestRetry;
import io.osier.propagation.pull.StatePull;
import io.osier.propagation.pull.StatePulls;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Takes what the peers ship: sees what is missing in their streams and asks for it, acknowledges,
 * and hands on to {@link Visibility} what is next.
 *
 * <p>Pure; not thread-safe.
 */
public final class Inbound {
  /**
   * Operations are acknowledged together for so long: an acknowledgement is as large as an update.
   */
  private static final long ACK_DELAY_NANOS = 50_000_000;

  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final UpdateApplier applier;
  private final InboundStreams streams;
  private final Visibility visibility;
  private final AnswerPulls answerPulls;
  private final PathSkew skew;
  private final LongSupplier requests;
  private final Predicate<String> linkUp;

  /**
   * By datacenter, the last incarnation that has ended and of whose stream something was applied.
   */
  private final Map<String, ReplicaId> endedStreams = new HashMap<>();

  /** With so many times the budget waiting for its cut, frames are not even taken. */
  private static final int TAKEN_FACTOR = 2;

  /**
   * What nothing was heard of for so many times the pause before something is said again is not
   * waited for, should others need its room: a sender's pauses are half as long at most.
   */
  private static final long SILENCE_RETRIES = 32;

  /** How many frames and offers came that had to wait to be acknowledged, or were not taken. */
  private long waitingSpent;

  /**
   * Nothing has come yet in this life.
   *
   * @param early keeps what healings bring too early
   * @param requests gives each request a number of its own, growing
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
    this.applier = applier;
    this.requests = requests;
    this.linkUp = linkUp;
    this.streams = new InboundStreams(around);
    // After that an origin counts as out of reach.
    this.skew = new PathSkew(around.healNanos() + around.retryNanos());
    this.visibility =
        switch (around.cuts()) {
          case MARKED -> new CutVisibility(around, streams, knowledge, applier);
          case NONE ->
              new ObjectVisibility(
                  around, streams, knowledge, applier, early, skew, this::isStreaming);
        };
    this.answerPulls = new AnswerPulls(around, streams, visibility, linkUp);
  }

  // ---------------------------------------------------------------- streams

  /** A peer speaks. Returns whether its incarnation does so for the first time. */
  public boolean meet(ReplicaId peer, long nowNanos) {
    knowledge.meet(peer);
    InboundStream in = streams.get(peer.dc());
    // The knowledge may have heard of the incarnation before it speaks here itself, from a third
    // one.
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
      if (in.position().applied().isPresent()) {
        endedStreams.put(peer.dc(), in.sender());
      }
    }
    Optional<Frame.Cursor> cursor = Optional.ofNullable(around.recovered().cursors().get(peer));
    long retry = around.retryNanos();
    StreamPosition position = new StreamPosition(around.recovered().life(), cursor);
    ObjectFetcher fetcher = new ObjectFetcher(new RequestRetry(requests, retry));
    PendingAnswers answers = new PendingAnswers(new RequestRetry(requests, retry), retry);
    streams.put(new InboundStream(peer, position, fetcher, answers, nowNanos));
    return true;
  }

  /**
   * Nothing is heard of a datacenter any more: what of it is missing, others have. What has come of
   * it, and waits for something else, becomes visible with that: nobody else may have it.
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

  /** The stream of a datacenter's last incarnation; null if it was never heard. */
  public @Nullable InboundStream stream(String dc) {
    return streams.get(dc);
  }

  /** Whether nothing of a datacenter is waited for, as far as its stream is concerned. */
  public boolean isAtRest(String dc) {
    InboundStream in = streams.get(dc);
    return in != null && in.isAtRest();
  }

  /** All are at rest: that somebody was not heard means nothing. */
  public void rest(long nowNanos) {
    for (InboundStream in : streams.all()) {
      in.liveness().excuse(nowNanos, Quiescence.excusedNanos(around));
    }
  }

  /** All streams. */
  public Collection<InboundStream> streams() {
    return streams.all();
  }

  /** Whether something of an origin's own stream was applied here, in this life or before. */
  public boolean hasStreamed(ReplicaId origin) {
    InboundStream in = streams.get(origin.dc());
    return (in != null && in.sender().equals(origin) && in.position().applied().isPresent())
        || origin.equals(endedStreams.get(origin.dc()))
        || around.recovered().cursors().containsKey(origin);
  }

  /** Whether an origin's stream flows: it has begun, long enough ago, and is heard. */
  private boolean isStreaming(ReplicaId origin, long nowNanos) {
    InboundStream in = streams.get(origin.dc());
    return in != null
        && in.sender().equals(origin)
        && linkUp.test(origin.dc())
        && !in.position().isResuming()
        && nowNanos - in.position().resumeSentNanos() >= around.retryNanos()
        && nowNanos - in.liveness().aliveNanos() < around.retryNanos();
  }

  /** Frames can be sent to the peer. Returns whether its stream is to be asked for. */
  public boolean up(InboundStream in, long nowNanos) {
    if (in.position().isStarted() && !in.position().isResuming()) {
      in.ackAgain(nowNanos);
      return false;
    }
    return true;
  }

  /** Asks for the stream from what was applied last, in a new epoch. */
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
        // While resuming: the stream has begun, and its first frames were lost.
        if (!in.position().isResuming()
            || in.position().mayAskAgain(nowNanos, around.retryNanos())) {
          around.stats().gapSeen();
          return true;
        }
      }
      case NEXT -> {
        if (!mayGoOn(in, 1)) {
          waitingSpent++;
          if (visibility.mayRefuse() && !mayGoOn(in, TAKEN_FACTOR)) {
            in.position().refuse();
            return false;
          }
        }
        in.liveness().arrived(frame.sentMillis(), nowMillis);
        if (around.observer().isOn()) {
          around.observer().arrived(in.sender(), frame);
        }
        // The time of a round is measured, and a catch-up waits for its window: both at once.
        long ackNanos = frame.kind() == Frame.Kind.OPS ? nowNanos + ACK_DELAY_NANOS : nowNanos;
        visibility.updates(in, frame, ackNanos, nowNanos, nowMillis);
        weigh(nowNanos);
      }
    }
    return false;
  }

  /** Looks who goes on, now that something has come. */
  private void weigh(long nowNanos) {
    visibility.weigh(new Heard(nowNanos));
  }

  private final class Heard implements Visibility.Hearing {
    private final long nowNanos;

    Heard(long nowNanos) {
      this.nowNanos = nowNanos;
    }

    @Override
    public boolean flows(InboundStream in) {
      return isLinkUp(in) && nowNanos - in.liveness().aliveNanos() < around.retryNanos();
    }

    @Override
    public boolean isGone(InboundStream in) {
      long patienceNanos = (SILENCE_RETRIES * around.retryNanos()) << in.patience();
      return nowNanos - in.liveness().aliveNanos() >= patienceNanos;
    }

    @Override
    public long silentNanos() {
      return Inbound.this.silentNanos(nowNanos);
    }
  }

  private long silentNanos(long nowNanos) {
    return nowNanos - SILENCE_RETRIES * around.retryNanos();
  }

  private boolean isLinkUp(InboundStream in) {
    return linkUp.test(in.sender().dc());
  }

  /** Takes what a peer says of its stream. Returns whether the stream must start again. */
  public boolean status(InboundStream in, Frame.Status status, long nowNanos) {
    if (in.position().isRefusing()) {
      return false; // it starts again when there is room
    }
    if (status.wantResume() && in.position().mayAskAgain(nowNanos, around.retryNanos())) {
      if (in.position().isResuming() && status.epoch() < in.position().epoch()) {
        resumeAgain(in, nowNanos); // it has not heard of the epoch, or had not when it sent this
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
    in.ackAgain(nowNanos); // the last acknowledgement may have been lost
    return false;
  }

  /**
   * Takes what a peer has of an origin, or of objects that were fetched from it.
   *
   * @param expected whether it is the next page of a healing that is under way
   */
  public void states(
      InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis) {
    Frame.States states = answer.states();
    if (around.observer().isOn()) {
      around.observer().brought(in.sender(), states.shipments());
    }
    if (expected) {
      answerPulls.end(in, states.origin(), nowNanos); // a former one to the same
    }
    visibility.states(in, answer, expected, nowNanos, nowMillis);
    weigh(nowNanos);
    if (states.origin().isEmpty()) {
      in.fetcher().answered(states, nowNanos).ifPresent(next -> send(in, next));
    }
  }

  /** Frames may have been lost: what was asked for is asked for again, as a whole. */
  public void answersMayBeLost(InboundStream in, long nowNanos) {
    in.fetcher().down();
    answerPulls.endAll(in, nowNanos);
  }

  /** What pulls the large states of answers. */
  public AnswerPulls answerPulls() {
    return answerPulls;
  }

  /** Takes an offer of a large state: pulls what is lacking here. */
  public void offered(InboundStream in, Frame.Offer offer, long nowNanos) {
    if (offer.epoch() != in.position().epoch() || in.position().isRefusing()) {
      return; // it is made again, or the stream begins anew
    }
    StatePull before = in.pulls().get(offer.object());
    if (in.pulls().hasDone(offer)) {
      send(in, StatePull.done(offer)); // that was lost
    } else if (before != null && before.offer().isSame(offer)) {
      before.heard(offer, nowNanos);
      send(in, before.ask());
    } else if (before != null || mayPullMore(in, nowNanos)) {
      // What has come of an offer that ended early need not come again.
      Optional<CrdtState> came =
          before != null
              ? before.version()
              : visibility.waitingState(in, offer).filter(Decomposition::hold);
      long bytes = before != null && came.isPresent() ? before.heapBytes() : 0;
      begin(in, offer, came, bytes, nowNanos);
    } else if (in.pulls().count() < StatePulls.MAX) {
      waitingSpent++; // it is made again
    }
  }

  /** Whether another pull may begin: while others are under way, only if there is room. */
  private boolean mayPullMore(InboundStream in, long nowNanos) {
    if (!hasRoomForPull(in)) {
      // Their offers may never come again.
      in.dropFormerPulls(silentNanos(nowNanos));
    }
    return hasRoomForPull(in);
  }

  private boolean hasRoomForPull(InboundStream in) {
    if (visibility.mayRefuse()) {
      return in.pulls().count() < StatePulls.MAX && mayGoOn(in, 1);
    }
    // What was pulled is visible at once: one goes on in any case.
    return in.pulls().count() == 0
        || (in.pulls().count() < StatePulls.MAX
            && visibility.waitingBytes() <= around.settings().memory().waiting());
  }

  private void begin(
      InboundStream in, Frame.Offer offer, Optional<CrdtState> came, long bytes, long nowNanos) {
    CrdtState here = around.replica().state(offer.object());
    CrdtState own = here == null ? CrdtState.bottom(offer.object().type()) : here;
    if (came.isPresent() || Decomposition.hold(own)) {
      StatePull pull = new StatePull(in.sender(), offer, came.orElse(own), bytes, nowNanos);
      in.pulls().begin(pull);
      send(in, pull.ask());
    } // otherwise it is just being read anew: the offer is made again
  }

  /** Takes a page of ranges of an object that is pulled. Returns an answer that is all here now. */
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

  /** Takes entries of an object that is pulled. Returns an answer that is all here now. */
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
      weigh(nowNanos);
      in.pulls().end(pull);
      send(in, StatePull.done(pull.offer()));
    } else {
      send(in, pull.ask());
    }
  }

  /** Takes states of objects of which a peer has forgotten what is remembered here. */
  public void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis) {
    visibility.verified(in, verified, nowNanos, nowMillis);
    weigh(nowNanos);
  }

  /** The rest of what a peer was giving of an origin will not come; another time all of it will. */
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

  /** Everything that a healing brought is here. */
  public void healed(Frame.States last) {
    visibility.healed(last);
  }

  // ---------------------------------------------------------------- time

  /**
   * Does what is due for a stream: acknowledges, asks again, fetches what is missing.
   *
   * @param besides more objects that are to be fetched from the peer
   */
  public void tick(InboundStream in, Supplier<List<ObjectId>> besides, long nowNanos) {
    weigh(nowNanos);
    if (in.position().isRefusing() && mayGoOn(in, 1)) {
      resume(in, nowNanos);
    }
    if (in.acks().dueNanos() <= nowNanos && mayGoOn(in, 1) && in.acks().takeDue(nowNanos)) {
      send(in, in.position().ack());
    }
    long retry = around.retryNanos();
    if (in.position().isResuming() && nowNanos >= in.position().resumeDueNanos(retry)) {
      resumeAgain(in, nowNanos);
    }
    if (in.fetcher().isIdle()) {
      long grace = skew.graceNanos(in.sender().dc());
      List<ObjectId> missing =
          in.toFetch(nowNanos, grace, retry, shipment -> comesLater(shipment, nowNanos));
      if (missing.isEmpty()) {
        missing = besides.get();
      }
      if (!missing.isEmpty()) {
        missing.forEach(object -> around.stats().gapSeen());
        send(in, in.fetcher().fetch(largeLast(missing), nowNanos));
      }
    } else if (in.fetcher().isDue(in.heardNanos())) {
      send(in, in.fetcher().again(nowNanos));
    }
  }

  /** The same objects, with those last whose states will be pulled: the others need not wait. */
  private List<ObjectId> largeLast(List<ObjectId> objects) {
    Map<Boolean, List<ObjectId>> byLarge =
        objects.stream().collect(Collectors.partitioningBy(this::isLarge));
    List<ObjectId> all = new ArrayList<>(requireNonNull(byLarge.get(false)));
    all.addAll(requireNonNull(byLarge.get(true)));
    return all;
  }

  private boolean isLarge(ObjectId object) {
    CrdtState here = around.replica().state(object);
    return here != null && here.sizeBytes() > around.settings().pullBytes();
  }

  /**
   * Whether a peer may go on sending: not while all that waits takes more than there is, and surely
   * comes to its end without more of the peer's.
   *
   * @param factor of what there is
   */
  private boolean mayGoOn(InboundStream in, int factor) {
    if (!visibility.mayHoldBack(in)) {
      return true; // mostly, and at once: who waits is added up each time
    }
    long bytes = visibility.waitingBytes() - visibility.leftBytes();
    return bytes <= factor * around.settings().memory().waiting();
  }

  /**
   * Whether an update waits for one of an origin whose stream stands still, or has just come back:
   * what that origin did meanwhile will come from itself or through a third datacenter, and once.
   */
  private boolean comesLater(Shipment shipment, long nowNanos) {
    CausalContext here = applier.context(shipment.object());
    VersionVector needs = shipment.needs();
    for (int i = 0; i < needs.size(); i++) {
      ReplicaId r = needs.replica(i);
      if (applier.seen(here, r) < needs.number(i) && !isStreaming(r, nowNanos)) {
        return true;
      }
    }
    return false;
  }

  /** When {@link #tick} has something to do for a stream, at the latest. */
  public long nextTickNanos(InboundStream in) {
    if (in.answers().isDue(in.heardNanos())) {
      return Long.MIN_VALUE;
    }
    long retry = around.retryNanos();
    long fetch = in.nextFetchNanos(skew.graceNanos(in.sender().dc()), retry);
    if (in.position().isRefusing() && mayGoOn(in, 1)) {
      return Long.MIN_VALUE;
    }
    long ack = in.acks().dueNanos();
    long next = ack < fetch && mayGoOn(in, 1) ? ack : fetch;
    return in.position().isResuming() ? Math.min(next, in.position().resumeDueNanos(retry)) : next;
  }

  /**
   * Looks at what former incarnations have left, and still waits.
   *
   * @param lost whether nobody has any more of an origin's updates
   */
  public void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis) {
    visibility.sweepLeft(lost, nowNanos, nowMillis);
  }

  /**
   * Sees to it that large states that were pulled stay as they are while they wait, and asks those
   * anew whose have not. To be called at least each minute.
   *
   * @param lost hears of what origin all that a peer has given of it is lost
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

  /** The places in the newest incarnations' streams up to which everything was applied. */
  public Map<ReplicaId, Frame.Cursor> cursors() {
    Map<ReplicaId, Frame.Cursor> cursors = new HashMap<>(around.recovered().cursors());
    cursors.keySet().removeIf(r -> !knowledge.isNewest(r));
    for (InboundStream in : streams.all()) {
      in.position().applied().ifPresent(cursor -> cursors.put(in.sender(), cursor));
    }
    return cursors;
  }

  /** Changes when {@link #cursors} may have. */
  public long placesChanged() {
    return streams.placesChanged();
  }

  /** What is used of the budget for what has come and waits. */
  public Budget.Usage memory() {
    return new Budget.Usage(
        "waiting",
        around.settings().memory().waiting(),
        visibility.waitingBytes() + answerPulls.keptBytes(),
        waitingSpent);
  }

  /** How many updates have come and wait for the rest of their cut, or for what it depends on. */
  public int waiting() {
    return visibility.waiting();
  }

  /** What has come of an object and waits, where each object becomes visible for itself. */
  public List<ObjectProgress.Waiting> waiting(ObjectId object, long nowNanos) {
    List<ObjectProgress.Waiting> waiting = new ArrayList<>();
    for (InboundStream in : streams.holding()) {
      PendingUpdates.Pending first = in.pending().first(object);
      if (first != null) {
        int updates = in.pending().of(object).stream().mapToInt(Shipment::updates).sum();
        waiting.add(
            new ObjectProgress.Waiting(
                in.sender().dc(),
                new ObjectProgress.Count(updates, nowNanos - first.sinceNanos()),
                first.missing()));
      }
    }
    return waiting;
  }

  /** Whether a closed cut of an origin, or what it left, waits for what it depends on. */
  public boolean isWaiting(ReplicaId origin) {
    return visibility.isWaiting(origin);
  }
}
