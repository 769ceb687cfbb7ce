package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Frame.Cursor;
import io.osier.propagation.Frame.Kind;
import io.osier.propagation.OutboundLog.ObjectLog;
import io.osier.propagation.OutboundLog.Segment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * This partition's stream to one peer.
 *
 * <pre>
 *                 link down                    link down
 *      +---------------------------+--------------------------------+
 *      v                           |                                |
 *   WAITING ----- Resume ----> CATCHING_UP ----- at the end ---> STREAMING
 *  for a Resume                  ^   |  scan, then trail            |
 *                                |   +-- Resume (start again) <-----+
 *                                +------------ window full ---------+
 * </pre>
 *
 * <p>While STREAMING it takes each operation and round as it is shipped. When more than the window
 * is not acknowledged it takes nothing: it goes back to CATCHING_UP, which reads the trail at the
 * pace of the acknowledgements. Not thread-safe.
 */
final class PeerStream {
  enum Mode {
    WAITING("waiting"),
    CATCHING_UP("catching-up"),
    STREAMING("streaming");

    private final String label;

    Mode(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  /** A peer that is away for longer does not hold the trail back; it is caught up by a scan. */
  static final long RETAIN_NANOS = 600_000_000_000L;

  private static final int SCAN_BATCH = 256;

  /**
   * A frame that is not acknowledged.
   *
   * @param plannedNanos when a round is acknowledged if all goes as planned
   */
  private record InFlight(
      long sequence, int bytes, Cursor cursor, Kind kind, long sentNanos, long plannedNanos) {}

  private final String dc;
  private final ReplicaId self;
  private final StreamSettings settings;
  private final OutboundLog log;
  private final Replica replica;
  private final ShipmentSizer sizer;
  private final FrameSink sink;
  private final PropagationStats stats;
  private final Recovered recovered;
  private final boolean causal;
  private final Coordination rounds = new Coordination();
  private final ArrayDeque<InFlight> inFlight = new ArrayDeque<>();

  private ReplicaId peer;
  private boolean linkUp;
  private long downSinceNanos;
  private long upSinceNanos;
  private Mode mode = Mode.WAITING;
  private long epoch;
  private long sequence;
  private long inFlightBytes;

  /**
   * Of the objects that were last shipped up to this tick everything has been sent in this epoch,
   * or came before it.
   */
  private long position;

  /** Of all others, what was shipped up to this tick. */
  private long base;

  /** Of what was committed before this life, the log is done up to this commit number. */
  private long logged;

  /** What was changed in this life and shipped from the log: it is in the trail, too. */
  private final Set<ObjectId> shippedFromLog = new HashSet<>();

  private boolean scanning;
  private Optional<ObjectId> scanned = Optional.empty();

  /** The last commit number when the scan began; 0 if that was in another epoch. */
  private long scanStart;

  /** Scans of this epoch have shipped every update up to this commit number. */
  private long scannedThrough;

  /** The peer has everything shipped up to this tick. */
  private long ackedTick;

  /** The peer said that it has every update of this datacenter up to this commit number. */
  private long peerThrough;

  private long sentThrough;

  /** Whether what is caught up now waited because the link was down. */
  private boolean outage = true;

  private boolean greeted;

  PeerStream(
      String dc,
      ReplicaId self,
      StreamSettings settings,
      OutboundLog log,
      Replica replica,
      ShipmentSizer sizer,
      FrameSink sink,
      PropagationStats stats,
      Recovered recovered,
      boolean causal,
      long nowNanos) {
    this.recovered = recovered;
    this.causal = causal;
    this.dc = dc;
    this.self = self;
    this.settings = settings;
    this.log = log;
    this.replica = replica;
    this.sizer = sizer;
    this.sink = sink;
    this.stats = stats;
    this.downSinceNanos = nowNanos;
  }

  void up(ReplicaId newPeer, long nowNanos) {
    if (!newPeer.equals(peer)) {
      // A new incarnation has nothing yet, and counts its epochs anew.
      peer = newPeer;
      epoch = 0;
      ackedTick = 0;
      peerThrough = 0;
    }
    linkUp = true;
    upSinceNanos = nowNanos;
    await();
  }

  void down(long nowNanos) {
    if (linkUp) {
      linkUp = false;
      downSinceNanos = nowNanos;
    }
    await();
  }

  private void await() {
    mode = Mode.WAITING;
    outage = true;
    inFlight.clear();
    inFlightBytes = 0;
  }

  /** The receiver wants the stream from a place on. */
  void resume(ReplicaId from, Frame.Resume resume) {
    if (!linkUp || !from.equals(peer) || resume.epoch() <= epoch) {
      return; // late: the link or the receiver has changed since
    }
    outage = mode == Mode.WAITING;
    epoch = resume.epoch();
    sequence = 0;
    inFlight.clear();
    inFlightBytes = 0;
    greeted = false;
    mode = Mode.CATCHING_UP;
    peerThrough = Math.max(peerThrough, resume.through());
    sentThrough = resume.through();
    place(resume);
  }

  private void place(Frame.Resume resume) {
    Optional<Cursor> cursor = resume.cursor().filter(c -> c.life() == recovered.life());
    scanned = cursor.flatMap(Cursor::scanned);
    position = Math.min(cursor.map(Cursor::done).orElse(0L), log.ticks());
    base = Math.min(cursor.map(Cursor::base).orElse(0L), position);
    logged = Math.max(cursor.map(Cursor::logged).orElse(0L), resume.through());
    logged = Math.min(logged, recovered.committed());
    shippedFromLog.clear();
    // A receiver that never applied anything of this stream may lack what was everywhere before it
    // came, and which the deltas in the trail therefore do not name: it gets states.
    scanning =
        scanned.isPresent()
            || resume.cursor().isEmpty()
            || position < log.prunedTick()
            || logged < recovered.loggedAfter();
    scanStart = 0;
    scannedThrough = 0;
    if (scanning) {
      logged = recovered.committed(); // the scan ships that, too
      if (scanned.isEmpty()) {
        beginScan();
      }
    }
  }

  private void beginScan() {
    scanning = true;
    scanStart = log.committed();
    position = log.ticks();
    base = position;
  }

  /**
   * Sends what the peer misses, as far as the window allows.
   *
   * @param deps what this partition has of the others
   * @return false if it came to the end, but a cut must be closed first
   */
  boolean catchUp(VersionVector deps, long nowNanos, long nowMillis) {
    while (mode == Mode.CATCHING_UP && inFlightBytes < settings.windowBytes()) {
      List<Shipment> shipments = new ArrayList<>();
      int bytes = 0;
      boolean more = true;
      while (more && bytes < settings.frameBytes()) {
        int before = shipments.size();
        more =
            scanning
                ? scan(shipments)
                : logged < recovered.committed() ? log(shipments) : trail(shipments, nowNanos);
        for (Shipment s : shipments.subList(before, shipments.size())) {
          bytes += sizer.sizeOf(s);
        }
      }
      boolean end = !more;
      if (end && causal && log.through() < log.committed()) {
        // States that were shipped show what is still held: the end must be the end of all.
        if (!shipments.isEmpty()) {
          send(Kind.CATCH_UP, shipments, bytes, VersionVector.EMPTY, nowNanos, nowNanos, nowMillis);
          stats.shipped(Kind.CATCH_UP, shipments.size(), bytes);
        }
        return false;
      }
      if (end) {
        base = position;
        mode = Mode.STREAMING;
        sentThrough = log.through();
      }
      if (end || !shipments.isEmpty() || !greeted) {
        send(Kind.CATCH_UP, shipments, bytes, deps, nowNanos, nowNanos, nowMillis);
        stats.shipped(Kind.CATCH_UP, shipments.size(), bytes);
      }
    }
    return true;
  }

  /** One step of the scan of all objects; false only where nothing is left at all. */
  private boolean scan(List<Shipment> shipments) {
    List<Replica.Entry> entries = replica.scan(scanned, SCAN_BATCH);
    int bytes = 0;
    for (Replica.Entry entry : entries) {
      scanned = Optional.of(entry.object());
      long last = entry.state().context().through(self);
      if (last > Math.max(peerThrough, scannedThrough)) {
        shipments.add(full(entry.object(), entry.state(), last));
        bytes += (int) entry.state().sizeBytes();
      }
      if (bytes >= settings.frameBytes()) {
        return true;
      }
    }
    if (entries.size() < SCAN_BATCH) {
      scanning = false;
      scanned = Optional.empty();
      scannedThrough = Math.max(scannedThrough, scanStart);
    }
    return true; // what was shipped since the scan began is in the trail
  }

  /**
   * One step along the log of former lives: the state of each object at its last entry. What was
   * changed again since is shipped at the first one, because the trail's deltas build on it.
   */
  private boolean log(List<Shipment> shipments) {
    List<Replica.Logged> entries = replica.logged(logged, SCAN_BATCH);
    int bytes = 0;
    for (Replica.Logged entry : entries) {
      if (entry.number() > recovered.committed()) {
        logged = recovered.committed();
        return true;
      }
      logged = entry.number();
      Causal state = replica.state(entry.object());
      long last = state == null ? 0 : state.context().through(self);
      boolean again = last > recovered.committed();
      if (last == entry.number() || (again && shippedFromLog.add(entry.object()))) {
        shipments.add(full(entry.object(), state, last));
        bytes += (int) state.sizeBytes();
      }
      if (bytes >= settings.frameBytes()) {
        return true;
      }
    }
    if (entries.size() < SCAN_BATCH) {
      logged = recovered.committed();
    }
    return true;
  }

  /** One step along the trail; false at its end. */
  private boolean trail(List<Shipment> shipments, long nowNanos) {
    if (position < log.prunedTick()) {
      beginScan(); // the trail had no room for what comes next
      return true;
    }
    var next = log.after(position).firstEntry();
    if (next == null) {
      return false;
    }
    position = next.getKey();
    Shipment shipment = missing(next.getValue(), base, nowNanos);
    if (shipment != null) {
      shipments.add(shipment);
    }
    return true;
  }

  /** The joined updates that the peer misses of one object, or its state where that is smaller. */
  private Shipment missing(ObjectLog object, long from, long nowNanos) {
    Causal state = replica.state(object.object);
    if (state == null) {
      return null; // dropped, since every datacenter has seen it removed
    }
    long last = state.context().through(self);
    Segment segment = object.since(from);
    if (segment == null || segment.delta().sizeBytes() >= state.sizeBytes()) {
      return last <= peerThrough ? null : full(object.object, state, last);
    }
    if (segment.last() <= peerThrough) {
      return null;
    }
    return new Shipment(
        object.object,
        self,
        segment.predecessor(),
        segment.needs(),
        segment.last(),
        segment.updates(),
        Propagation.ageMillis(segment, nowNanos),
        segment.delta());
  }

  private Shipment full(ObjectId object, Causal state, long last) {
    return new Shipment(object, self, 0, VersionVector.EMPTY, last, 0, 0, state);
  }

  /**
   * Takes freshly shipped updates if the peer keeps up.
   *
   * @param bytes of the shipments
   * @param tick of the last of them
   * @param through with these, everything up to here is shipped; 0 if that is as before
   * @param deps what this partition has of the others
   * @param plannedNanos when it should be acknowledged
   * @return whether they were sent; if not they follow from the trail
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
    if (inFlightBytes >= settings.windowBytes()) {
      mode = Mode.CATCHING_UP;
      outage = false;
      greeted = true;
      return false;
    }
    position = tick;
    base = tick;
    boolean closes = through > sentThrough;
    sentThrough = Math.max(sentThrough, through);
    VersionVector closing = closes ? deps : VersionVector.EMPTY;
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
    Cursor cursor =
        new Cursor(recovered.life(), base, position, logged, scanning ? scanned : Optional.empty());
    greeted = true;
    sequence++;
    inFlight.add(new InFlight(sequence, bytes, cursor, kind, nowNanos, plannedNanos));
    inFlightBytes += bytes;
    sink.send(
        dc,
        new Frame.Updates(
            kind,
            epoch,
            sequence,
            sentThrough,
            causal ? deps : VersionVector.EMPTY,
            Optional.of(cursor),
            kind == Kind.CATCH_UP && (outage || waitedForLink(shipments, nowNanos)),
            nowMillis,
            shipments));
  }

  /** Whether something was committed before the link came up: also when it is sent once more. */
  private boolean waitedForLink(List<Shipment> shipments, long nowNanos) {
    for (Shipment s : shipments) {
      if (nowNanos - s.ageMillis() * 1_000_000 < upSinceNanos) {
        return true;
      }
    }
    return false;
  }

  /** Takes an acknowledgement; a round's tells how late it was. */
  void acknowledged(ReplicaId from, Frame.Ack ack, Reserve reserve, long nowNanos) {
    if (ack.epoch() != epoch || !from.equals(peer)) {
      return;
    }
    while (!inFlight.isEmpty() && inFlight.peek().sequence <= ack.sequence()) {
      InFlight done = inFlight.poll();
      inFlightBytes -= done.bytes;
      if (done.cursor.scanned().isEmpty() && done.cursor.logged() >= recovered.committed()) {
        ackedTick = Math.max(ackedTick, done.cursor.done());
      }
      if (done.kind == Kind.ROUND && done.sequence == ack.sequence()) {
        rounds.sample(nowNanos - done.sentNanos, nowNanos);
        reserve.sample(nowNanos - done.plannedNanos);
      }
    }
  }

  /** Everything up to this tick may be forgotten as far as this peer is concerned. */
  long prunableTick(long nowNanos) {
    return !linkUp && nowNanos - downSinceNanos > RETAIN_NANOS ? Long.MAX_VALUE : ackedTick;
  }

  boolean wantsResume() {
    return linkUp && mode == Mode.WAITING;
  }

  /** Whether the peer acknowledged everything that was shipped. */
  boolean isDone() {
    return mode == Mode.STREAMING && inFlight.isEmpty();
  }

  boolean linkUp() {
    return linkUp;
  }

  /** When the link came up last; means nothing unless it is. */
  long upSinceNanos() {
    return upSinceNanos;
  }

  ReplicaId peer() {
    return peer;
  }

  String dc() {
    return dc;
  }

  Mode mode() {
    return mode;
  }

  long epoch() {
    return epoch;
  }

  long sequence() {
    return sequence;
  }

  long inFlightBytes() {
    return inFlightBytes;
  }

  /**
   * Lets the measured time of rounds fade if none was measured for long and none is under way.
   *
   * @param floorNanos not below this
   */
  void rest(long nowNanos, long floorNanos) {
    if (rounds.isOld(nowNanos) && inFlight.stream().noneMatch(f -> f.kind == Kind.ROUND)) {
      rounds.rest(nowNanos, floorNanos);
    }
  }

  /** The coordination times of rounds. */
  Coordination rounds() {
    return rounds;
  }
}
