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
 * One peer's stream to this partition: the received frames, and the requests to the peer. Not
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

  /** Answers whose large state is still being pulled. */
  private final PendingAnswers answers;

  /** Whether its datacenter is no longer a peer. */
  private boolean ended;

  /** See {@link #patience()}. */
  private int patience;

  /**
   * @param requests returns a new, larger number for each request to the sender
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

  /** Returns the stream's position. */
  StreamPosition position() {
    return position;
  }

  /** Returns when the sender was heard. */
  public StreamLiveness liveness() {
    return liveness;
  }

  AckTimer acks() {
    return acks;
  }

  /** Returns the updates of the stream that wait for others. Only this class changes them. */
  PendingUpdates pending() {
    return pending;
  }

  /** Returns the large states that are being pulled. */
  StatePulls pulls() {
    return pulls;
  }

  public ObjectFetcher fetcher() {
    return fetcher;
  }

  PendingAnswers answers() {
    return answers;
  }

  /** Returns when the sender was last heard: requests from before then are answered or lost. */
  public long heardNanos() {
    return liveness.heardNanos();
  }

  /** Whether a frame of the epoch was received. */
  public boolean hasBegun() {
    return position.hasBegun();
  }

  /**
   * Notes that the waiting updates of the stream were dropped: when there is room, the stream
   * begins again behind the last applied frame, instead of the last received one.
   */
  void dropped() {
    pulls.drop();
    position.toApplied();
  }

  /**
   * As {@link #dropped}, to make room for other streams; the next time they wait twice as long for
   * this one.
   */
  void madeRoom() {
    dropped();
    patience = Math.min(patience + 1, PATIENCE_MAX);
  }

  /**
   * Returns how often the stream has made room since something of it last became visible. The
   * others wait longer each time, since a slow or often interrupted stream would otherwise never
   * finish.
   */
  int patience() {
    return patience;
  }

  /** Notes that the stream's datacenter is no peer any more. */
  void end() {
    ended = true;
    pulls.drop();
  }

  /** Notes that the stream's datacenter is a peer again. Returns whether it was none. */
  boolean isBack() {
    boolean wasEnded = ended;
    ended = false;
    return wasEnded;
  }

  /**
   * Notes that the frame's updates have been applied, or wait for others.
   *
   * @param ackNanos when the frame is to be acknowledged at the latest
   */
  void took(Frame.Updates frame, long ackNanos) {
    received(frame, ackNanos);
    noteApplied();
  }

  /** Notes that the frame has been received and its updates wait for the rest of their cut. */
  void received(Frame.Updates frame, long ackNanos) {
    if (frame.kind() != Frame.Kind.CATCH_UP) {
      pulls.drop(); // all offers have been pulled, so the sender waits for no more pulls
    }
    position.received(frame);
    acks.by(ackNanos);
  }

  /** Notes that everything up to this place of the stream has been applied. */
  void admitted(Cursor place) {
    if (!place.equals(position.applied().orElse(null))) {
      patience = 0;
    }
    position.applied(place);
  }

  private void noteApplied() {
    // Waiting updates are in memory only, and must be sent again after a crash.
    if (pending.isEmpty()) {
      position.appliedAll();
    }
  }

  /** Whether this partition waits for nothing in the stream. */
  boolean isAtRest() {
    return position.isStarted()
        && !position.isResuming()
        && !position.isRefusing()
        && pending.isEmpty()
        && fetcher.isIdle();
  }

  /**
   * Whether since {@code nanos} the sender was heard again after a silence, or was asked to resume.
   */
  boolean wasInterruptedAfter(long nanos) {
    return liveness.wasSilentAfter(nanos)
        || (position.isStarted() && position.resumeSentNanos() >= nanos);
  }

  /** Keeps an update back; it also waits for what the object's earlier waiting updates wait for. */
  void keep(
      Shipment shipment, VersionVector missing, boolean outage, long sentMillis, long nowNanos) {
    pending.add(shipment, missing, position.claimed(), outage, sentMillis, nowNanos);
  }

  /** Drops the object's oldest waiting update, which must exist and have been applied. */
  void dropFirst(ObjectId object) {
    pending.dropFirst(object);
    noteApplied();
  }

  /**
   * Drops an object's waiting updates without applying them, because updates that they build on
   * were lost. Only for a stream that has ended.
   */
  void giveUp(ObjectId object) {
    position.claimNoMoreThan(pending.giveUp(object));
  }

  /** Returns the number up to which every update of the sender has been applied. */
  long complete() {
    return pending.complete(position.claimed());
  }

  /** Returns the objects to fetch now; see {@link PendingUpdates#toFetch}. */
  List<ObjectId> toFetch(
      long nowNanos, long graceNanos, long retryNanos, Predicate<Shipment> comes) {
    return pending.toFetch(nowNanos, graceNanos, retryNanos, comes);
  }

  /** Returns when there may be something to fetch or to repeat; Long.MAX_VALUE if never. */
  long nextFetchNanos(long graceNanos, long retryNanos) {
    if (!fetcher.isIdle()) {
      return fetcher.isDue(heardNanos()) ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return pending.nextFetchNanos(graceNanos, retryNanos);
  }

  /** Returns about how many heap bytes large states take that are pulled in part. */
  long pulledBytes() {
    return pulls.heapBytes() + answers.heapBytes();
  }

  /** Drops parts of offers of former epochs, and of offers that were not heard of since a time. */
  void dropFormerPulls(long sinceNanos) {
    pulls.dropAllBut(position.epoch());
    dropSilentPulls(sinceNanos);
  }

  /**
   * Drops parts of offers that were not heard of since a time, unless the stream was resumed since.
   */
  void dropSilentPulls(long sinceNanos) {
    if (position.resumeSentNanos() - sinceNanos < 0) {
      pulls.dropSilent(sinceNanos);
    }
  }

  /**
   * Returns how many large states are being pulled that {@link #dropSilentPulls} would not drop.
   */
  int pullsHeardSince(long sinceNanos) {
    return position.resumeSentNanos() - sinceNanos >= 0
        ? pulls.count()
        : pulls.countHeardSince(sinceNanos);
  }

  /** Sends the last acknowledgement again. */
  void ackAgain(long nowNanos) {
    if (position.hasBegun()) {
      acks.by(nowNanos);
    }
  }

  /**
   * Sends the last acknowledgement again, unless one is due anyway or was sent within the pause.
   */
  void ackAgain(long nowNanos, long pauseNanos) {
    if (!acks.isDue() && nowNanos - acks.sentNanos() >= pauseNanos) {
      ackAgain(nowNanos);
    }
  }
}
