package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.datacenter.partition.history.HeldEntries;
import io.osier.datacenter.partition.history.SnapshotHistory;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A transaction that is open: its snapshot, and what it has done so far, tried on the snapshot. Not
 * thread-safe.
 */
final class OpenTransaction {
  /** Most updates of one transaction. */
  static final int UPDATES_MAX = 10_000;

  /** What one takes in the heap besides its clock and updates, about, in bytes. */
  private static final long PLACE_BYTES = 400;

  /** What is kept of an update besides its key, its operation and its effect, about, in bytes. */
  private static final long UPDATE_BYTES = 300;

  /** What a transaction makes anew of values that are there, in bytes. */
  private static final long REWRITTEN_MAX = 64L << 20;

  /** Where trial updates number their dots: above whatever is committed. */
  private static final long TRIAL = 1L << 61;

  /** The time of a trial update: it replaces all that it competes with, so any will do. */
  private static final long TRIAL_TIME = 0;

  final TransactionId id;

  /** Of the history: the snapshot. */
  final long step;

  /** What the snapshot contains. */
  final VersionVector clock;

  /**
   * When it began: what has a deadline is judged by this, so that what is read twice is the same.
   */
  private final Now began;

  final long deadlineNanos;
  final int limitMillis;

  /** The last step that was done, 0 before the first. */
  int lastStep;

  /** How many updates that had. One without any is done again like a new one. */
  int lastUpdates;

  private final TransactionHost host;
  private final SnapshotHistory former;
  private final boolean past;
  private final Map<ObjectId, TransactionWork> works = new LinkedHashMap<>();
  private final List<Escrow.Reservation> reservations = new ArrayList<>();
  private int updates;
  private long updateBytes;

  /** Of those, what is counted for the updates' effects. */
  private long effectBytes;

  /** What its versions of objects take beyond the snapshot's. */
  private long versionBytes;

  /** What it has made anew of values that were there: small updates may make much. */
  private long rewrittenBytes;

  private long nextTrial = TRIAL;

  OpenTransaction(
      TransactionHost host,
      SnapshotHistory former,
      TransactionId id,
      long step,
      VersionVector clock,
      Request.Begin begin,
      Now now) {
    this.host = host;
    this.former = former;
    this.id = id;
    this.step = step;
    this.clock = clock;
    this.past = begin.past();
    this.began = now;
    this.limitMillis = begin.limitMillis();
    this.deadlineNanos = now.nanos() + begin.limitMillis() * 1_000_000L;
  }

  /** What a step has tried. */
  static final class Tried {
    /** The objects that it touches, each with all that is done to it. */
    final Map<ObjectId, TransactionWork> works = new LinkedHashMap<>();

    private long effectBytes;
    private long versionBytes;
    private long rewrittenBytes;
  }

  /** Is told what a step's versions take in the heap, while it makes them. */
  @FunctionalInterface
  interface Room {
    /**
     * Refuses what is too much, by an exception.
     *
     * @param versionBytes what they take beyond the snapshot's, and beyond what counts for the
     *     updates' effects
     * @param isOnly whether the transaction changes one object alone
     */
    void check(long versionBytes, boolean isOnly);
  }

  /** How many rights are set aside. */
  int reservations() {
    return reservations.size();
  }

  /** Lets rights go, but the first so many. */
  void release(int from) {
    List<Escrow.Reservation> some = reservations.subList(from, reservations.size());
    some.forEach(host::release);
    some.clear();
  }

  /** Keeps what a step has done. */
  void keep(Tried tried, int count, long heapBytes, Now now) {
    tried.works.forEach(
        (object, work) -> {
          if (works.put(object, work) == null) {
            former.keep(work.base(), now.nanos());
          }
        });
    updates += count;
    updateBytes += heapBytes;
    effectBytes += tried.effectBytes;
    versionBytes += tried.versionBytes;
    rewrittenBytes += tried.rewrittenBytes;
  }

  void end() {
    works.values().forEach(work -> former.letGo(work.base()));
    works.clear();
    release(0);
  }

  /** What an update takes in the heap until the transaction ends, about: what it does twice. */
  static long heapBytes(Request.Update update) {
    return UPDATE_BYTES + update.key().heapBytes() + 2 * update.operation().heapBytes();
  }

  /** What this takes in the heap, about, in bytes. */
  long heapBytes() {
    return PLACE_BYTES + clock.heapBytes() + updateBytes + ownVersionBytes();
  }

  /**
   * What its versions take beside what is counted for the updates: an update's effect may be much
   * larger than the update, as where each of many fields is removed.
   */
  private long ownVersionBytes() {
    return Math.max(0, versionBytes - effectBytes);
  }

  /** All that is to be done, with what was tried in the last step. */
  Map<ObjectId, TransactionWork> with(Map<ObjectId, TransactionWork> tried) {
    Map<ObjectId, TransactionWork> all = new LinkedHashMap<>(works);
    all.putAll(tried);
    return all;
  }

  /** Tries updates on the snapshot. */
  Tried tryUpdates(List<Request.Update> more, Room room, Now now) {
    if (!more.isEmpty() && past) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "a transaction in the past can only read");
    }
    if (updates + more.size() > UPDATES_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "a transaction may have " + UPDATES_MAX + " updates at most");
    }
    Tried tried = new Tried();
    for (Request.Update update : more) {
      tried.effectBytes += update.operation().heapBytes();
      if (update.operation().isOfKey()) {
        Operation part = KeyUpdate.part(update.operation(), began);
        for (CrdtState state :
            KeyUpdate.touched(
                update.key(), states(tried.works, update.key()), update.operation(), began)) {
          tryUpdate(tried, new ObjectId(update.key(), state.type()), part, room, now);
        }
      } else {
        ObjectId object = new ObjectId(update.key(), update.type());
        tryUpdate(tried, object, update.operation().from(began.millis()), room, now);
      }
    }
    return tried;
  }

  private void tryUpdate(Tried tried, ObjectId object, Operation wanted, Room room, Now now) {
    TransactionWork work = tried.works.get(object);
    if (work == null) {
      work = next(object);
      tried.works.put(object, work);
    }
    long workBytes = work.heapBytes();
    Operation operation = host.filled(work.trial(), wanted);
    if (object.type() == CrdtType.BOUNDED_COUNTER) {
      reservations.add(host.reserve(object, operation, now));
    }
    CrdtState before = work.trial();
    CrdtState delta =
        Updates.prepareAt(
            before, began.millis(), operation, host.preparation(nextTrial, before, TRIAL_TIME));
    nextTrial = delta.context().last(host.self()) + 1;
    if (operation.rewrites()) {
      tried.rewrittenBytes += delta.sizeBytes();
      checkRewritten(tried);
    }
    CrdtState after = before.join(delta);
    host.checkSize(object, operation, before, after);
    work.add(operation, after);
    tried.versionBytes += work.heapBytes() - workBytes;
    // At once: a step may touch thousands of objects.
    long own = versionBytes + tried.versionBytes - effectBytes - tried.effectBytes;
    room.check(Math.max(0, own) - ownVersionBytes(), touchesOnly(object, tried));
  }

  /** All that it makes is made once more when it is committed, and is there at once then. */
  private void checkRewritten(Tried tried) {
    if (rewrittenBytes + tried.rewrittenBytes > REWRITTEN_MAX) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "a transaction that makes strings anew makes at most "
              + REWRITTEN_MAX
              + " bytes: do it with several, or assign what comes out");
    }
  }

  private boolean touchesOnly(ObjectId object, Tried tried) {
    boolean noOther = works.isEmpty() || (works.size() == 1 && works.containsKey(object));
    return noOther && tried.works.size() == 1;
  }

  private TransactionWork next(ObjectId object) {
    TransactionWork known = works.get(object);
    if (known != null) {
      HeldEntries.checkSame(known.trial());
      return known.next();
    }
    CrdtState base = null;
    for (CrdtState state : states(Map.of(), object.key())) {
      if (state.type() == object.type()) {
        base = state;
      } else if (!state.isNothing(began.millis())) {
        throw Sequencer.wrongType(object, state.type());
      }
    }
    return TransactionWork.on(
        base == null ? CrdtState.bottom(object.type()) : base, began.millis());
  }

  /** Reads the snapshot with the transaction's own updates, those that are tried included. */
  StepReads read(Map<ObjectId, TransactionWork> tried, List<Request.Fetch> fetches) {
    StepReads reads = new StepReads(began::millis);
    fetches.forEach(fetch -> reads.add(states(tried, fetch.key()), fetch));
    return reads;
  }

  private List<CrdtState> states(Map<ObjectId, TransactionWork> tried, Key key) {
    List<CrdtState> states = former.at(key, step);
    if (works.isEmpty() && tried.isEmpty()) {
      return states;
    }
    TreeMap<CrdtType, CrdtState> merged = new TreeMap<>();
    states.forEach(s -> merged.put(s.type(), s));
    for (CrdtType type : CrdtType.values()) {
      ObjectId object = new ObjectId(key, type);
      TransactionWork work = tried.getOrDefault(object, works.get(object));
      if (work != null) {
        HeldEntries.checkSame(work.trial());
        merged.put(type, work.trial());
      }
    }
    return List.copyOf(merged.values());
  }
}
