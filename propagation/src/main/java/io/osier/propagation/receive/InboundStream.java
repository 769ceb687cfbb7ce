package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.pull.ObjectFetcher;
import io.osier.propagation.pull.PendingAnswers;
import io.osier.propagation.pull.RequestRetry;
import io.osier.propagation.pull.StatePulls;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * One peer's stream to this partition: what has come, and what is asked of the peer. Not
 * thread-safe.
 */
public final class InboundStream {
  private static final int PATIENCE_MAX = 10;

  private final ReplicaId sender;
  private final StreamPosition position;
  private final StreamLiveness liveness;
  private final AckTimer acks = new AckTimer();
  private final PendingUpdates pending = new PendingUpdates();
  private final StatePulls pulls = new StatePulls();
  private final ObjectFetcher fetcher;

  /** Answers of which a large state is still to be pulled. */
  private final PendingAnswers answers;

  /** Whether its datacenter was said to be no peer any more. */
  private boolean ended;

  /** See {@link #patience()}. */
  private int patience;

  /**
   * @param requests gives each request to the sender a number of its own, growing
   */
  InboundStream(
      ReplicaId sender,
      StreamPosition position,
      LongSupplier requests,
      long retryNanos,
      long nowNanos) {
    this.sender = sender;
    this.position = position;
    this.liveness = new StreamLiveness(nowNanos);
    this.fetcher = new ObjectFetcher(new RequestRetry(requests, retryNanos));
    this.answers = new PendingAnswers(new RequestRetry(requests, retryNanos), retryNanos);
  }

  public ReplicaId sender() {
    return sender;
  }

  /** How far it has come. */
  StreamPosition position() {
    return position;
  }

  /** When it was heard. */
  public StreamLiveness liveness() {
    return liveness;
  }

  AckTimer acks() {
    return acks;
  }

  /** What of it waits for something else. Changed by the methods of this class. */
  PendingUpdates pending() {
    return pending;
  }

  /** The large states that are being pulled. */
  StatePulls pulls() {
    return pulls;
  }

  public ObjectFetcher fetcher() {
    return fetcher;
  }

  PendingAnswers answers() {
    return answers;
  }

  /** When something came from it last: what was asked before has been answered, or was lost. */
  public long heardNanos() {
    return liveness.heardNanos();
  }

  /** Whether something of the epoch has come. */
  public boolean hasBegun() {
    return position.hasBegun();
  }

  /**
   * What waits of it was dropped: it begins anew when there is room, behind what was applied, and
   * not behind what came.
   */
  void dropped() {
    pulls.drop();
    position.toApplied();
  }

  /** As {@link #dropped}, for others: the next time they wait twice as long. */
  void madeRoom() {
    dropped();
    patience = Math.min(patience + 1, PATIENCE_MAX);
  }

  /**
   * How often it made room since something of it became visible: it may come so slowly, or be cut
   * off so often, that it never would.
   */
  int patience() {
    return patience;
  }

  /** Its datacenter is no peer any more. */
  void end() {
    ended = true;
    pulls.drop();
  }

  /** Its datacenter is a peer again. Returns whether it was none. */
  boolean isBack() {
    boolean wasEnded = ended;
    ended = false;
    return wasEnded;
  }

  /**
   * The frame has been applied or held.
   *
   * @param ackNanos when it is to be acknowledged at the latest
   */
  void took(Frame.Updates frame, long ackNanos) {
    received(frame, ackNanos);
    noteApplied();
  }

  /** The frame has been received; its updates wait for the rest of their cut. */
  void received(Frame.Updates frame, long ackNanos) {
    if (frame.kind() != Frame.Kind.CATCH_UP) {
      pulls.drop(); // all has come, so the sender does not wait for any
    }
    position.received(frame);
    acks.by(ackNanos);
  }

  /** Everything up to this place of the stream has been applied. */
  void admitted(Cursor place) {
    if (!place.equals(position.applied().orElse(null))) {
      patience = 0;
    }
    position.applied(place);
  }

  private void noteApplied() {
    // What is held is held in memory only, and must come again after a crash.
    if (pending.isEmpty()) {
      position.appliedAll();
    }
  }

  /** Whether nothing of it is waited for. */
  boolean isAtRest() {
    return position.isStarted()
        && !position.isResuming()
        && !position.isRefusing()
        && pending.isEmpty()
        && fetcher.isIdle();
  }

  /** Whether the sender was heard again after a silence, or asked to go on, since a time. */
  boolean wasInterruptedAfter(long nanos) {
    return liveness.wasSilentAfter(nanos)
        || (position.isStarted() && position.resumeSentNanos() >= nanos);
  }

  /** Keeps an update back; it waits for what those before it wait for, too. */
  void keep(
      Shipment shipment, VersionVector missing, boolean outage, long sentMillis, long nowNanos) {
    pending.add(shipment, missing, position.claimed(), outage, sentMillis, nowNanos);
  }

  /** Drops the object's oldest held update: there is one, and it was applied. */
  void dropFirst(ObjectId object) {
    pending.dropFirst(object);
    noteApplied();
  }

  /**
   * Drops what is held of an object, though it was not applied: what it builds on was lost. Only of
   * a stream that has ended.
   */
  void giveUp(ObjectId object) {
    position.claimNoMoreThan(pending.giveUp(object));
  }

  /** Every update of the sender up to here has been applied. */
  long complete() {
    return pending.complete(position.claimed());
  }

  /** The objects to fetch now; see {@link PendingUpdates#toFetch}. */
  List<ObjectId> toFetch(
      long nowNanos, long graceNanos, long retryNanos, Predicate<Shipment> comes) {
    return pending.toFetch(nowNanos, graceNanos, retryNanos, comes);
  }

  /** When there may be something to fetch, or to ask for again; Long.MAX_VALUE if never. */
  long nextFetchNanos(long graceNanos, long retryNanos) {
    if (!fetcher.isIdle()) {
      return fetcher.isDue(heardNanos()) ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return pending.nextFetchNanos(graceNanos, retryNanos);
  }

  /** What has been pulled and is not complete takes so much in the heap, about, in bytes. */
  long pulledBytes() {
    return pulls.heapBytes() + answers.heapBytes();
  }

  /** Drops what has come of offers of former epochs, and of those not heard of since a time. */
  void dropFormerPulls(long sinceNanos) {
    pulls.dropAllBut(position.epoch());
    dropSilentPulls(sinceNanos);
  }

  /** Drops what has come of offers of which nothing was heard since a time, if it was expected. */
  void dropSilentPulls(long sinceNanos) {
    if (position.resumeSentNanos() - sinceNanos < 0) {
      pulls.dropSilent(sinceNanos);
    }
  }

  /** How many large states are being pulled that {@link #dropSilentPulls} would not drop. */
  int pullsHeardSince(long sinceNanos) {
    return position.resumeSentNanos() - sinceNanos >= 0
        ? pulls.count()
        : pulls.countHeardSince(sinceNanos);
  }

  /** Acknowledges once more what was acknowledged before. */
  void ackAgain(long nowNanos) {
    if (position.hasBegun()) {
      acks.by(nowNanos);
    }
  }

  /**
   * Acknowledges once more, unless an acknowledgement is due anyway or was sent within the pause.
   */
  void ackAgain(long nowNanos, long pauseNanos) {
    if (!acks.isDue() && nowNanos - acks.sentNanos() >= pauseNanos) {
      ackAgain(nowNanos);
    }
  }
}
