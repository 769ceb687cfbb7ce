package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one peer lacks, read step by step: for a new one a scan of all objects, then what the log
 * tells of former lives, then the shipped log. Where it is, is a {@link Cursor}. Not thread-safe.
 */
final class Backlog {
  private static final int SCAN_BATCH = 256;

  /** So many of the shipped log's objects are asked for ahead. */
  private static final int TRAIL_BATCH = 64;

  private final ReplicationContext around;
  private final OutboundLog log;
  private final StateOffers offers;
  private final CatchUpShipments shipping;

  /** The last commit number of former lives. */
  private final long former;

  /**
   * Of the objects that were last shipped up to this tick everything has been sent in this epoch,
   * or came before it.
   */
  private long position;

  /** Of all others, what was shipped up to this tick. */
  private long base;

  /**
   * Every object whose last own update is numbered up to this has been sent with it, or came before
   * this epoch: while the log of former lives is read, up to the last entry that is done.
   */
  private long sent;

  /**
   * Objects that were changed in this life, too, and left with the log of former lives: the shipped
   * log names them once more.
   */
  private final Set<ObjectId> shippedFromLog = new HashSet<>();

  /** The next page of the scan, once it was read. */
  private Optional<StoredObjects.Page> page = Optional.empty();

  /** Up to this tick the shipped log's objects were asked for. */
  private long shippedAhead;

  /** Up to this commit number the log's objects were asked for. */
  private long logAhead;

  /** Objects of which there is more than the peer has pulled, though they were passed. */
  private final Set<ObjectId> again = new LinkedHashSet<>();

  /** Whether something was passed that is still to come to the peer. */
  private boolean isHeld;

  /** Where the first of it was passed: whoever goes on after an interruption begins there. */
  private Optional<Cursor> heldAt = Optional.empty();

  private boolean scanning;
  private Optional<ObjectId> scanned = Optional.empty();

  /** The last commit number when the scan began. */
  private long scanStart;

  /** The place at which the scan began; empty if nothing had been sent. */
  private Optional<Cursor> scanFrom = Optional.empty();

  /** The peer said that it has every update of this datacenter up to this commit number. */
  private long peerThrough;

  private long looked;

  /** Places of before this tick are no good: the peer was none then. */
  private final long since;

  /**
   * @param since what was shipped up to this tick was shipped while it was none; 0 if it always was
   */
  Backlog(ReplicationContext around, OutboundLog log, StateOffers offers, long since) {
    this.around = around;
    this.log = log;
    this.offers = offers;
    this.shipping = new CatchUpShipments(around, log, offers);
    this.since = since;
    this.former = around.recovered().committed();
  }

  /** The peer is another one than before, which has nothing yet. */
  void ofNewPeer() {
    peerThrough = 0;
  }

  /** Goes to where the peer wants to go on. */
  void goTo(Frame.Resume resume) {
    peerThrough = Math.max(peerThrough, resume.through());
    Optional<Cursor> cursor =
        resume.cursor().filter(c -> c.life() == around.recovered().life() && c.base() >= since);
    scanned = cursor.flatMap(Cursor::scanned);
    scanning = scanned.isPresent();
    long done = cursor.map(Cursor::done).orElse(0L);
    base = Math.min(cursor.map(Cursor::base).orElse(0L), log.ticks());
    position = scanning ? base : Math.clamp(done, base, log.ticks());
    scanStart = scanning ? Math.min(done, log.committed()) : 0;
    sent = Math.max(cursor.map(Cursor::sent).orElse(0L), resume.through());
    sent = Math.min(sent, log.committed());
    shippedFromLog.clear();
    again.clear();
    isHeld = false;
    page = Optional.empty();
    shippedAhead = 0;
    logAhead = 0;
    // A receiver that never applied anything of this stream may lack what was everywhere before it
    // came, and which the deltas in the shipped log therefore do not name: it gets states.
    if (resume.cursor().isEmpty()) {
      beginScan(Optional.empty());
    } else if (!scanning && (position < firstTick() || isLogDropped())) {
      beginScan(Optional.of(place()));
    }
  }

  /**
   * Who was no peer for a time scans, too: what was committed then may be in no shipped log, and
   * what is does not name what the others had.
   */
  private long firstTick() {
    return Math.max(log.prunedTick(), since);
  }

  /** Whether of the log of former lives something is gone that was to be read. */
  private boolean isLogDropped() {
    return sent < former && sent < loggedAfter();
  }

  /**
   * The log has no entries up to this number: the store drops the oldest while this life goes on,
   * too, where a peer is away for more updates than it keeps.
   */
  private long loggedAfter() {
    return Math.max(around.recovered().loggedAfter(), around.replica().stored().loggedAfter());
  }

  private void beginScan(Optional<Cursor> from) {
    offers.scanBegins();
    again.clear();
    scanFrom = from;
    page = Optional.empty();
    scanning = true;
    scanStart = log.committed();
    position = log.ticks();
    base = position;
  }

  /**
   * The place that is reached. While nothing of a scan has been read it is the one at which the
   * scan began, from which whoever goes on has to begin it, too; empty if that was nowhere.
   */
  Optional<Cursor> cursor() {
    return isHeld ? heldAt : present();
  }

  private Optional<Cursor> present() {
    return scanning && scanned.isEmpty() ? scanFrom : Optional.of(place());
  }

  private Cursor place() {
    long done = scanning ? scanStart : position;
    return new Cursor(around.recovered().life(), base, done, sent, scanned);
  }

  /** Whether a place is behind all that was committed in former lives. */
  boolean isInLog(Cursor cursor) {
    return cursor.scanned().isEmpty() && cursor.sent() >= former;
  }

  /**
   * Everything up to this tick was sent as it was shipped.
   *
   * @param through all own updates up to this commit number are among it
   */
  void follow(long tick, long through) {
    position = tick;
    base = tick;
    sent = Math.max(sent, through);
  }

  /**
   * The end was reached: from now on everything is sent as it is shipped.
   *
   * @param through all own updates up to this commit number have been sent
   */
  void atEnd(long through) {
    base = position;
    sent = Math.max(sent, through);
  }

  /**
   * Whether the next step needs no disk. If it does, what it reads is asked for: it is ready after
   * one of the next ticks.
   */
  boolean isAtHand() {
    if (!again.isEmpty()) {
      return true;
    }
    StoredObjects stored = around.replica().stored();
    if (!scanning && isLogDropped()) {
      beginScan(Optional.of(place()));
    }
    if (scanning) {
      if (page.isEmpty()) {
        page = stored.page(scanned, SCAN_BATCH, around.settings().frameBytes());
      }
      return page.isPresent();
    }
    List<ObjectId> next = new ArrayList<>();
    if (sent < former) {
      if (sent < logAhead) {
        return true;
      }
      long through = former;
      List<StoredObjects.Logged> entries = stored.logged(sent, SCAN_BATCH);
      for (StoredObjects.Logged entry : entries) {
        next.add(entry.object());
        through = entry.number();
      }
      if (!stored.areAtHand(next)) {
        return false;
      }
      logAhead = entries.size() < SCAN_BATCH ? former : through;
      return true;
    }
    if (position < shippedAhead || position < log.prunedTick()) {
      return true;
    }
    long last = position;
    for (long tick = log.shipped().next(position);
        tick != 0 && next.size() < TRAIL_BATCH;
        tick = log.shipped().next(tick)) {
      next.add(log.shipped().get(tick).object);
      last = tick;
    }
    if (!stored.areAtHand(next)) {
      return false;
    }
    shippedAhead = last;
    return true;
  }

  /** Adds what one step brings, which {@link #isAtHand}; false where nothing is left at all. */
  boolean read(List<Shipment> shipments, long nowNanos) {
    Optional<Cursor> before = present();
    boolean more = step(shipments, nowNanos);
    if (!isHeld) {
      heldAt = before;
    }
    isHeld = isHeld();
    return more;
  }

  /** Whether something that was passed is still to come to the peer. */
  boolean isHeld() {
    return offers.isPending() || !again.isEmpty();
  }

  /**
   * An object that was offered is to be looked at: the peer has what was offered, or does not pull
   * it.
   */
  void lookAgain(ObjectId object) {
    again.add(object);
  }

  private boolean step(List<Shipment> shipments, long nowNanos) {
    if (!again.isEmpty()) {
      return passed(shipments, nowNanos);
    }
    if (scanning) {
      return scan(shipments);
    }
    return sent < former ? log(shipments) : shipped(shipments, nowNanos);
  }

  /** How many objects were looked at so far. */
  long looked() {
    return looked;
  }

  /** One object that was passed before: what is lacking of it beside what was pulled. */
  private boolean passed(List<Shipment> shipments, long nowNanos) {
    ObjectId object = again.iterator().next();
    again.remove(object);
    looked++;
    add(shipments, shipping.passed(object, base, peerThrough, nowNanos));
    return true;
  }

  private static boolean add(List<Shipment> shipments, @Nullable Shipment shipment) {
    if (shipment != null) {
      shipments.add(shipment);
    }
    return shipment != null;
  }

  /** One step of the scan of all objects: what was shipped since it began is in the shipped log. */
  private boolean scan(List<Shipment> shipments) {
    StoredObjects.Page read = page.orElseThrow();
    page = Optional.empty();
    int bytes = 0;
    for (StoredObjects.Entry entry : read.entries()) {
      looked++;
      scanned = Optional.of(entry.object());
      if (shipping.last(entry.state()) > Math.max(peerThrough, sent)
          && add(shipments, shipping.found(entry.object(), entry.state()))) {
        bytes += (int) entry.state().sizeBytes();
      }
      if (bytes >= around.settings().frameBytes()) {
        return true;
      }
    }
    if (read.end()) {
      scanning = false;
      scanned = Optional.empty();
      sent = Math.max(sent, scanStart);
    }
    return true;
  }

  /**
   * One step along the log of former lives: the state of each object at its last entry. What was
   * changed again since is shipped at the first one, because the shipped log's deltas build on it.
   */
  private boolean log(List<Shipment> shipments) {
    List<StoredObjects.Logged> entries = around.replica().stored().logged(sent, SCAN_BATCH);
    int bytes = 0;
    for (StoredObjects.Logged entry : entries) {
      if (entry.number() > former) {
        sent = former;
        return true;
      }
      if (entry.number() > logAhead) {
        return true;
      }
      looked++;
      sent = entry.number();
      CrdtState state = around.replica().state(entry.object());
      long last = state == null ? 0 : shipping.last(state);
      boolean again = last > former;
      boolean due = last == entry.number() || (again && shippedFromLog.add(entry.object()));
      if (state != null && due && add(shipments, shipping.found(entry.object(), state))) {
        bytes += (int) state.sizeBytes();
      }
      if (bytes >= around.settings().frameBytes()) {
        return true;
      }
    }
    if (entries.size() < SCAN_BATCH) {
      sent = former;
    }
    return true;
  }

  /** One step along the shipped log; false at its end. */
  private boolean shipped(List<Shipment> shipments, long nowNanos) {
    if (position < log.prunedTick()) {
      beginScan(Optional.of(place())); // the shipped log had no room for what comes next
      return true;
    }
    long next = log.shipped().next(position);
    if (next == 0) {
      return false;
    }
    looked++;
    position = next;
    add(shipments, shipping.missing(log.shipped().get(next), base, peerThrough, nowNanos));
    return true;
  }
}
