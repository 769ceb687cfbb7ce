package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Frame.Kind;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * This partition's stream to one peer.
 *
 * <pre>
 *                 link down                    link down
 *      +---------------------------+--------------------------------+
 *      v                           |                                |
 *   WAITING ----- Resume ----> CATCHING_UP ----- at the end ---> STREAMING
 *  for a Resume                  ^   |  scan, then shipped log      |
 *                                |   +-- Resume (start again) &lt;-----+
 *                                +------------ window full ---------+
 * </pre>
 *
 * <p>While STREAMING it takes each operation and round as it is shipped. When more than the window
 * is not acknowledged, of this partition or of all that share the link ({@link LinkWindow}), it
 * takes nothing: it goes back to CATCHING_UP, which reads the shipped log at the pace of the
 * acknowledgements, a slice at a time. Not thread-safe.
 */
public final class PeerStream {
  public enum Mode {
    /** The stream waits until the peer says where to go on. */
    WAITING,
    /** The peer is sent what it has missed, read from the log. */
    CATCHING_UP,
    /** The peer is sent everything as it is shipped. */
    STREAMING;

    /** Returns the name of the mode as people read it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** A peer that is away for longer does not hold the log back; it is caught up by a scan. */
  static final long RETAIN_NANOS = 600_000_000_000L;

  /** The most frames that one slice of catching up sends, and objects that it looks at. */
  static final int SLICE_FRAMES = 4;

  static final int SLICE_OBJECTS = 1_024;

  private final String dc;
  private final ReplicationContext around;
  private final OutboundLog log;
  private final StateOffers offers;
  private final Backlog backlog;
  private final SendWindow window;
  private final ConfirmedUpdates confirmed;

  private @Nullable ReplicaId peer;
  private boolean linkUp;
  private long downSinceNanos;
  private long upSinceNanos;
  private Mode mode = Mode.WAITING;
  private long epoch;
  private long sequence;

  private long sentThrough;

  /** Whether the updates that the peer is catching up with waited because the link was down. */
  private boolean outage = true;

  private boolean greeted;

  /** Whether the stream waits for what comes next to be read from a disk or pulled by the peer. */
  private boolean awaits;

  /**
   * @param since the tick at which the datacenter became a peer; 0 if it always was one
   * @param confirmed counts what the peer confirms
   */
  PeerStream(
      String dc,
      ReplicationContext around,
      OutboundLog log,
      long since,
      ConfirmedUpdates confirmed,
      long nowNanos) {
    this.dc = dc;
    this.around = around;
    this.log = log;
    this.confirmed = confirmed;
    this.window = new SendWindow(around, around.sink().window(dc));
    this.offers = new StateOffers(this::send, window, around);
    this.backlog = new Backlog(around, log, offers, since);
    this.downSinceNanos = nowNanos;
  }

  /** Notes that frames can be sent to this incarnation from now on. */
  public void up(ReplicaId newPeer, long nowNanos) {
    if (!newPeer.equals(peer)) {
      // A new incarnation has nothing yet, and counts its epochs from the beginning.
      peer = newPeer;
      window.ofNewPeer();
      epoch = 0;
      backlog.ofNewPeer();
    }
    linkUp = true;
    upSinceNanos = nowNanos;
    await();
  }

  /** Notes that frames can no longer be sent. */
  public void down(long nowNanos) {
    if (linkUp) {
      linkUp = false;
      downSinceNanos = nowNanos;
    }
    await();
  }

  private void await() {
    mode = Mode.WAITING;
    outage = true;
    offers.interrupted();
    window.clear();
  }

  /** Whether another slice of what the peer misses can be sent now. */
  boolean isDue() {
    return mode == Mode.CATCHING_UP && !awaits && window.isOpen();
  }

  /** Begins a new epoch at the place from which the receiver wants the stream. */
  void resume(ReplicaId from, Frame.Resume resume) {
    if (!linkUp || !from.equals(peer) || resume.epoch() <= epoch) {
      return; // outdated: the link or the receiver has changed since it was sent
    }
    outage = mode == Mode.WAITING;
    epoch = resume.epoch();
    sequence = 0;
    offers.begin(epoch);
    window.clear();
    greeted = false;
    mode = Mode.CATCHING_UP;
    awaits = false;
    sentThrough = resume.through();
    backlog.goTo(resume);
  }

  /** Takes a request for more of an offered state. Returns whether the stream may go on. */
  boolean pull(ReplicaId from, Frame.Pull pull, long nowNanos) {
    if (!linkUp || !from.equals(peer) || mode != Mode.CATCHING_UP) {
      return false;
    }
    ObjectId pulled = offers.pull(pull, nowNanos);
    if (pulled != null) {
      backlog.lookAgain(pulled);
    }
    return pulled != null;
  }

  /** Returns when an offer is to be repeated; Long.MAX_VALUE if there is none. */
  long offerDueNanos() {
    return offers.dueNanos();
  }

  /**
   * Sends a slice of what the peer misses, as far as the window allows.
   *
   * @param deps what this partition has of the other replicas
   * @return false at the log's end, if held updates must be shipped first to close a cut
   */
  boolean catchUp(VersionVector deps, long nowNanos, long nowMillis) {
    if (mode == Mode.CATCHING_UP) {
      offers.tick(log.ticks(), backlog::lookAgain, nowNanos);
    }
    long lookedMax = backlog.looked() + SLICE_OBJECTS;
    for (int frames = 0;
        mode == Mode.CATCHING_UP && window.isOpen() && frames < SLICE_FRAMES;
        frames++) {
      List<Shipment> shipments = new ArrayList<>();
      int bytes = 0;
      boolean more = true;
      awaits = false;
      while (more
          && !awaits
          && bytes < around.settings().frameBytes()
          && backlog.looked() < lookedMax) {
        if (!backlog.isAtHand()) {
          awaits = true; // is read from a disk; a tick follows
          continue;
        }
        int before = shipments.size();
        more = backlog.read(shipments, nowNanos);
        for (Shipment s : shipments.subList(before, shipments.size())) {
          bytes += around.bytesOf(s);
        }
      }
      // The peer must finish its pulls before the stream is at its end.
      boolean pulls = !more && backlog.isHeld();
      boolean end = !more && !pulls;
      if (end && around.cuts().areWhole() && log.through() < log.committed()) {
        // States that were shipped also show what is still held, so the end may be announced only
        // once nothing is held.
        if (!shipments.isEmpty()) {
          sendCatchUp(shipments, bytes, VersionVector.EMPTY, nowNanos, nowMillis);
        }
        return false;
      }
      if (end) {
        mode = Mode.STREAMING;
        sentThrough = log.through();
        backlog.atEnd(sentThrough);
      }
      if (end || !shipments.isEmpty() || (!greeted && !awaits)) {
        sendCatchUp(shipments, bytes, deps, nowNanos, nowMillis);
      }
      awaits |= pulls;
      if (awaits || backlog.looked() >= lookedMax) {
        return true;
      }
    }
    return true;
  }

  private void sendCatchUp(
      List<Shipment> shipments, int bytes, VersionVector deps, long nowNanos, long nowMillis) {
    send(Kind.CATCH_UP, shipments, bytes, deps, nowNanos, nowNanos, nowMillis);
    around.stats().shipped(Kind.CATCH_UP, shipments.size(), bytes);
  }

  /**
   * Sends freshly shipped updates if the peer keeps up.
   *
   * @param bytes the size of the shipments
   * @param tick the tick of the last shipment
   * @param through with these shipments every update up to this commit number is shipped; 0 if that
   *     has not changed
   * @param deps what this partition has of the other replicas
   * @param plannedNanos when the frame should be acknowledged
   * @return whether they were sent; otherwise the peer gets them later from the shipped log
   */
  boolean offer(
      Kind kind,
      List<Shipment> shipments,
      int bytes,
      long tick,
      long through,
      VersionVector deps,
      long plannedNanos,
      long nowNanos,
      long nowMillis) {
    if (mode != Mode.STREAMING) {
      return false;
    }
    if (!window.isOpen()) {
      mode = Mode.CATCHING_UP;
      awaits = false;
      outage = false;
      greeted = true;
      return false;
    }
    VersionVector closing = through > sentThrough ? deps : VersionVector.EMPTY;
    sentThrough = Math.max(sentThrough, through);
    backlog.follow(tick, sentThrough);
    send(kind, shipments, bytes, closing, plannedNanos, nowNanos, nowMillis);
    return true;
  }

  private void send(
      Kind kind,
      List<Shipment> shipments,
      int bytes,
      VersionVector deps,
      long plannedNanos,
      long nowNanos,
      long nowMillis) {
    boolean waited = kind == Kind.CATCH_UP && (outage || waitedForLink(shipments, nowNanos));
    if (around.observer().isOn()) {
      around.observer().shipped(dc, kind, waited, shipments, nowNanos);
    }
    Optional<Cursor> cursor = backlog.cursor();
    greeted = true;
    sequence++;
    offers.sent(sequence);
    window.sent(sequence, bytes, cursor, kind, plannedNanos, nowNanos);
    log.tells();
    send(
        new Frame.Updates(
            kind,
            epoch,
            sequence,
            sentThrough,
            around.cuts().deps(deps),
            cursor,
            waited,
            nowMillis,
            shipments));
  }

  /** Sends a frame to the connected incarnation. Only while the link is up. */
  public void send(Frame frame) {
    around.sink().send(requireNonNull(peer, "up"), frame);
  }

  /** Whether some shipment, perhaps one sent before, was committed before the link came up. */
  private boolean waitedForLink(List<Shipment> shipments, long nowNanos) {
    for (Shipment s : shipments) {
      if (nowNanos - s.ageMillis() * 1_000_000 < upSinceNanos) {
        return true;
      }
    }
    return false;
  }

  /** Takes an acknowledgement; that of a round says how late the round was. */
  void acknowledged(ReplicaId from, Frame.Ack ack, AckReserve reserve, long nowNanos) {
    if (ack.epoch() != epoch || !from.equals(peer)) {
      return;
    }
    offers.came(ack.sequence());
    window.acknowledged(ack.sequence(), backlog::isInLog, reserve, nowNanos);
  }

  /** Returns the tick up to which this peer needs nothing of the shipped log any more. */
  long prunableTick(long nowNanos) {
    boolean isAway = !linkUp && nowNanos - downSinceNanos > RETAIN_NANOS;
    return isAway ? Long.MAX_VALUE : window.ackedTick();
  }

  /** Whether the peer has yet to say where the stream goes on. */
  public boolean wantsResume() {
    return linkUp && mode == Mode.WAITING;
  }

  /** Whether the peer has acknowledged everything that was shipped. */
  boolean isDone() {
    return mode == Mode.STREAMING && window.isEmpty();
  }

  /** Whether frames can be sent. */
  public boolean linkUp() {
    return linkUp;
  }

  /** Returns when the link last came up; meaningful while it is up. */
  public long upSinceNanos() {
    return upSinceNanos;
  }

  /** Returns when the link last went down, or the start if it never was up. */
  public long downSinceNanos() {
    return downSinceNanos;
  }

  /** Returns the incarnation to which frames were last sent; null if there was none. */
  public @Nullable ReplicaId peer() {
    return peer;
  }

  /** The peer's name. */
  public String dc() {
    return dc;
  }

  public Mode mode() {
    return mode;
  }

  /** Returns the last epoch that the peer asked for, also while the stream waits; or 0. */
  public long epoch() {
    return epoch;
  }

  /** Returns the sequence of the epoch's last frame. */
  public long sequence() {
    return sequence;
  }

  ConfirmedUpdates confirmed() {
    return confirmed;
  }

  /** Returns the frames that are in flight to the peer. */
  public SendWindow window() {
    return window;
  }
}
