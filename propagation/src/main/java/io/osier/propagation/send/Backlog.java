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
 * Reads step by step the updates that one peer lacks: for a new peer by a scan of all objects, then
 * from the log of former lives' updates, then from the shipped log. A {@link Cursor} is its
 * position. Not thread-safe.
 */
final class Backlog {
  private static final int SCAN_BATCH = 256;

  /** The number of objects of the shipped log that are requested ahead. */
  private static final int TRAIL_BATCH = 64;

  private final ReplicationContext around;
  private final OutboundLog log;
  private final StateOffers offers;
  private final CatchUpShipments shipping;

  /** The last commit number of former lives. */
  private final long former;

  /**
   * The place in the shipped log: for objects that were last shipped up to this tick, the peer has
   * been sent everything in this epoch, or had it before.
   */
  private long position;

  /** For all other objects, the peer has whatever was shipped up to this tick. */
  private long base;

  /**
   * Every object whose last own update has a number up to this one was sent in this epoch, or the
   * peer had it before. While the log of former lives is read, this is its last processed entry.
   */
  private long sent;

  /**
   * Objects that were also changed in this life and were sent while the log of former lives was
   * read: the shipped log names them once more.
   */
  private final Set<ObjectId> shippedFromLog = new HashSet<>();

  /** The next page of the scan; empty until it has been read. */
  private Optional<StoredObjects.Page> page = Optional.empty();

  /** Objects of the shipped log have been requested up to this tick. */
  private long shippedAhead;

  /** Objects of the log of former lives have been requested up to this commit number. */
  private long logAhead;

  /** Objects that the reader has passed, and of which there is more than the peer has pulled. */
  private final Set<ObjectId> again = new LinkedHashSet<>();

  /** Whether the peer still lacks something of objects that the reader has passed. */
  private boolean isHeld;

  /** The place before the first of them: after an interruption the stream goes on there. */
  private Optional<Cursor> heldAt = Optional.empty();

  private boolean scanning;
  private Optional<ObjectId> scanned = Optional.empty();

  /** The last commit number when the scan began. */
  private long scanStart;

  /** The place at which the scan began; empty if nothing had been sent before. */
  private Optional<Cursor> scanFrom = Optional.empty();

  /** The peer reported that it has every update of this datacenter up to this commit number. */
  private long peerThrough;

  private long looked;

  /** Cursors with a lower base are useless: the datacenter was no peer until this tick. */
  private final long since;

  /**
   * @param since segments up to this tick were shipped while it was no peer; 0 if it always was one
   */
  Backlog(ReplicationContext around, OutboundLog log, StateOffers offers, long since) {
    this.around = around;
    this.log = log;
    this.offers = offers;
    this.shipping = new CatchUpShipments(around, log, offers);
    this.since = since;
    this.former = around.recovered().committed();
  }

  /** Notes that the peer is a new incarnation, which has nothing yet. */
  void ofNewPeer() {
    peerThrough = 0;
  }

  /** Goes to the place from which the peer wants the stream to go on. */
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
    // A receiver that never applied anything of this stream may lack updates that all other
    // datacenters had before it joined, and which the deltas in the shipped log therefore do not
    // name. It gets states.
    if (resume.cursor().isEmpty()) {
      beginScan(Optional.empty());
    } else if (!scanning && (position < firstTick() || isLogDropped())) {
      beginScan(Optional.of(place()));
    }
  }

  /**
   * Returns the tick from which the shipped log is complete for this peer. One that was no peer for
   * a time is scanned, too: the log may lack what was committed then, and its deltas do not name
   * what the others had.
   */
  private long firstTick() {
    return Math.max(log.prunedTick(), since);
  }

  /** Whether the store has dropped entries of the log of former lives that are still to be read. */
  private boolean isLogDropped() {
    return sent < former && sent < loggedAfter();
  }

  /**
   * Returns the number up to which the log has no entries. The store also drops the oldest entries
   * during this life, where a peer misses more updates than the log keeps.
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
   * Returns the place that the peer has reached. Before anything of a scan has been sent, that is
   * the place at which the scan began, since a resumed stream must begin the scan there, too; empty
   * if nothing was sent before the scan.
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

  /** Whether a cursor lies behind all updates of former lives and outside any scan. */
  boolean isInLog(Cursor cursor) {
    return cursor.scanned().isEmpty() && cursor.sent() >= former;
  }

  /**
   * Notes that everything up to a tick was sent as it was shipped.
   *
   * @param through with it, all own updates up to this commit number have been sent
   */
  void follow(long tick, long through) {
    position = tick;
    base = tick;
    sent = Math.max(sent, through);
  }

  /**
   * Notes that the reader is at the end: from now on the peer is sent everything as it is shipped.
   *
   * @param through all own updates up to this commit number have been sent
   */
  void atEnd(long through) {
    base = position;
    sent = Math.max(sent, through);
  }

  /**
   * Whether the next step needs no disk. If it does, this method requests the objects that the step
   * reads; they are in memory after one of the next ticks.
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

  /** Adds the shipments of one step if {@link #isAtHand}; returns false if nothing is left. */
  boolean read(List<Shipment> shipments, long nowNanos) {
    Optional<Cursor> before = present();
    boolean more = step(shipments, nowNanos);
    if (!isHeld) {
      heldAt = before;
    }
    isHeld = isHeld();
    return more;
  }

  /** Whether the peer still lacks something of objects that the reader has passed. */
  boolean isHeld() {
    return offers.isPending() || !again.isEmpty();
  }

  /**
   * Has an object looked at once more, because the peer has pulled the offered version or does not
   * pull it.
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

  /** Returns how many objects were looked at so far. */
  long looked() {
    return looked;
  }

  /** Handles an object that was passed: adds what the peer lacks beyond what it has pulled. */
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

  /** Does one step of the scan. What is shipped after the scan began is in the shipped log. */
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
   * Does one step along the log of former lives: sends the state of each object at its last entry.
   * An object that was changed again in this life is sent at its first entry, because the shipped
   * log's deltas build on it.
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

  /** Does one step along the shipped log; returns false at its end. */
  private boolean shipped(List<Shipment> shipments, long nowNanos) {
    if (position < log.prunedTick()) {
      beginScan(Optional.of(place())); // the shipped log has dropped the next ones
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
