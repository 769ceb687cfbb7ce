package io.osier.propagation.out;

import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.Replica;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.out.OutboundLog.ObjectLog;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one peer lacks, read step by step: for a new one a scan of all objects, then what the log
 * tells of former lives, then the trail. Where it is, is a {@link Cursor}. Not thread-safe.
 */
final class Backlog {
  private static final int SCAN_BATCH = 256;

  /** So many of the trail's objects are asked for ahead. */
  private static final int TRAIL_BATCH = 64;

  private final Surroundings around;
  private final OutboundLog log;

  /** The last commit number of former lives. */
  private final long former;

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

  /** The next page of the scan, once it was read. */
  private Optional<Replica.Page> page = Optional.empty();

  /** Up to this tick the trail's objects were asked for. */
  private long trailAhead;

  /** Up to this commit number the log's objects were asked for. */
  private long logAhead;

  private boolean scanning;
  private Optional<ObjectId> scanned = Optional.empty();

  /** The last commit number when the scan began; 0 if that was in another epoch. */
  private long scanStart;

  /** Scans of this epoch have shipped every update up to this commit number. */
  private long scannedThrough;

  /** The peer said that it has every update of this datacenter up to this commit number. */
  private long peerThrough;

  private long looked;

  Backlog(Surroundings around, OutboundLog log) {
    this.around = around;
    this.log = log;
    this.former = around.recovered().committed();
  }

  /** The peer is another one than before, which has nothing yet. */
  void ofNewPeer() {
    peerThrough = 0;
  }

  /** Goes to where the peer wants to go on. */
  void goTo(Frame.Resume resume) {
    peerThrough = Math.max(peerThrough, resume.through());
    Optional<Cursor> cursor = resume.cursor().filter(c -> c.life() == around.recovered().life());
    scanned = cursor.flatMap(Cursor::scanned);
    position = Math.min(cursor.map(Cursor::done).orElse(0L), log.ticks());
    base = Math.min(cursor.map(Cursor::base).orElse(0L), position);
    logged = Math.max(cursor.map(Cursor::logged).orElse(0L), resume.through());
    logged = Math.min(logged, former);
    shippedFromLog.clear();
    page = Optional.empty();
    trailAhead = 0;
    logAhead = 0;
    // A receiver that never applied anything of this stream may lack what was everywhere before it
    // came, and which the deltas in the trail therefore do not name: it gets states.
    scanning =
        scanned.isPresent()
            || resume.cursor().isEmpty()
            || position < log.prunedTick()
            || logged < loggedAfter();
    scanStart = 0;
    scannedThrough = 0;
    if (scanning) {
      logged = former; // the scan ships that, too
      if (scanned.isEmpty()) {
        beginScan();
      }
    }
  }

  /**
   * The log has no entries up to this number: the store drops the oldest while this life goes on,
   * too, where a peer is away for more updates than it keeps.
   */
  private long loggedAfter() {
    return Math.max(around.recovered().loggedAfter(), around.replica().loggedAfter());
  }

  private void beginScan() {
    page = Optional.empty();
    scanning = true;
    scanStart = log.committed();
    position = log.ticks();
    base = position;
  }

  /**
   * The place that is reached; empty if a scan of all objects has begun and nothing of it was read
   * yet, for whoever goes on there has to begin it, too.
   */
  Optional<Cursor> cursor() {
    return scanning && scanned.isEmpty()
        ? Optional.empty()
        : Optional.of(new Cursor(around.recovered().life(), base, position, logged, scanned));
  }

  /** Whether a place is behind all that was committed in former lives. */
  boolean isInTrail(Cursor cursor) {
    return cursor.scanned().isEmpty() && cursor.logged() >= former;
  }

  /** Everything up to this tick was sent as it was shipped. */
  void follow(long tick) {
    position = tick;
    base = tick;
  }

  /** The end was reached: from now on everything is sent as it is shipped. */
  void atEnd() {
    base = position;
  }

  /**
   * Whether the next step needs no disk. If it does, what it reads is asked for: it is ready after
   * one of the next ticks.
   */
  boolean isAtHand() {
    Replica replica = around.replica();
    if (!scanning && logged < former && logged < loggedAfter()) {
      logged = former; // what was to be read of it was dropped meanwhile: the scan ships it
      beginScan();
    }
    if (scanning) {
      if (page.isEmpty()) {
        page = replica.page(scanned, SCAN_BATCH, around.settings().frameBytes());
      }
      return page.isPresent();
    }
    List<ObjectId> next = new ArrayList<>();
    if (logged < former) {
      if (logged < logAhead) {
        return true;
      }
      long through = former;
      List<Replica.Logged> entries = replica.logged(logged, SCAN_BATCH);
      for (Replica.Logged entry : entries) {
        next.add(entry.object());
        through = entry.number();
      }
      if (!replica.areAtHand(next)) {
        return false;
      }
      logAhead = entries.size() < SCAN_BATCH ? former : through;
      return true;
    }
    if (position < trailAhead || position < log.prunedTick()) {
      return true;
    }
    long last = position;
    for (long tick = log.trail().next(position);
        tick != 0 && next.size() < TRAIL_BATCH;
        tick = log.trail().next(tick)) {
      next.add(log.trail().get(tick).object);
      last = tick;
    }
    if (!replica.areAtHand(next)) {
      return false;
    }
    trailAhead = last;
    return true;
  }

  /** Adds what one step brings, which {@link #isAtHand}; false where nothing is left at all. */
  boolean read(List<Shipment> shipments, long nowNanos) {
    if (scanning) {
      return scan(shipments);
    }
    return logged < former ? log(shipments) : trail(shipments, nowNanos);
  }

  /** How many objects were looked at so far. */
  long looked() {
    return looked;
  }

  /** One step of the scan of all objects: what was shipped since it began is in the trail. */
  private boolean scan(List<Shipment> shipments) {
    Replica.Page read = page.orElseThrow();
    page = Optional.empty();
    int bytes = 0;
    for (Replica.Entry entry : read.entries()) {
      looked++;
      scanned = Optional.of(entry.object());
      long last = entry.state().context().through(around.self());
      if (last > Math.max(peerThrough, scannedThrough)) {
        shipments.add(full(entry.object(), entry.state(), last));
        bytes += (int) entry.state().sizeBytes();
      }
      if (bytes >= around.settings().frameBytes()) {
        return true;
      }
    }
    if (read.end()) {
      scanning = false;
      scanned = Optional.empty();
      scannedThrough = Math.max(scannedThrough, scanStart);
    }
    return true;
  }

  /**
   * One step along the log of former lives: the state of each object at its last entry. What was
   * changed again since is shipped at the first one, because the trail's deltas build on it.
   */
  private boolean log(List<Shipment> shipments) {
    List<Replica.Logged> entries = around.replica().logged(logged, SCAN_BATCH);
    int bytes = 0;
    for (Replica.Logged entry : entries) {
      if (entry.number() > former) {
        logged = former;
        return true;
      }
      if (entry.number() > logAhead) {
        return true;
      }
      looked++;
      logged = entry.number();
      Causal state = around.replica().state(entry.object());
      long last = state == null ? 0 : state.context().through(around.self());
      boolean again = last > former;
      boolean due = last == entry.number() || (again && shippedFromLog.add(entry.object()));
      if (state != null && due) {
        shipments.add(full(entry.object(), state, last));
        bytes += (int) state.sizeBytes();
      }
      if (bytes >= around.settings().frameBytes()) {
        return true;
      }
    }
    if (entries.size() < SCAN_BATCH) {
      logged = former;
    }
    return true;
  }

  /** One step along the trail; false at its end. */
  private boolean trail(List<Shipment> shipments, long nowNanos) {
    if (position < log.prunedTick()) {
      beginScan(); // the trail had no room for what comes next
      return true;
    }
    long next = log.trail().next(position);
    if (next == 0) {
      return false;
    }
    looked++;
    position = next;
    Shipment shipment = missing(log.trail().get(next), nowNanos);
    if (shipment != null) {
      shipments.add(shipment);
    }
    return true;
  }

  /** The joined updates that the peer misses of one object, or its state where that is smaller. */
  private @Nullable Shipment missing(ObjectLog object, long nowNanos) {
    Causal state = around.replica().state(object.object);
    if (state == null) {
      return null; // dropped, since every datacenter has seen it removed
    }
    long last = state.context().through(around.self());
    Segment segment = object.since(base);
    if (segment == null || segment.delta().sizeBytes() >= state.sizeBytes()) {
      return last <= peerThrough ? null : full(object.object, state, last);
    }
    return segment.last() <= peerThrough
        ? null
        : segment.shipment(object.object, around.self(), nowNanos);
  }

  private Shipment full(ObjectId object, Causal state, long last) {
    return new Shipment(object, around.self(), 0, VersionVector.EMPTY, last, 0, 0, state);
  }
}
