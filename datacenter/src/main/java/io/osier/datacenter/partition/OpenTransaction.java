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
 * An open transaction: its snapshot, and its updates so far, tried on the snapshot. Not
 * thread-safe.
 */
final class OpenTransaction {
  /** The most updates of one transaction. */
  static final int UPDATES_MAX = 10_000;

  /** What a transaction takes in the heap besides its clock and updates, about, in bytes. */
  private static final long PLACE_BYTES = 400;

  /** What an update takes in the heap besides its key, operation and effect, about, in bytes. */
  private static final long UPDATE_BYTES = 300;

  /** The most bytes of existing values that a transaction may rewrite. */
  private static final long REWRITTEN_MAX = 64L << 20;

  /** Where trial updates number their dots: above whatever is committed. */
  private static final long TRIAL = 1L << 61;

  /**
   * The timestamp of trial updates. Any will do, since a trial replaces every value that it
   * competes with.
   */
  private static final long TRIAL_TIME = 0;

  final TransactionId id;

  /** The step of the history that the snapshot shows. */
  final long step;

  /** The updates that the snapshot contains. */
  final VersionVector clock;

  /**
   * When the transaction began. Deadlines are judged by this time, so that repeated reads agree.
   */
  private final Now began;

  final long deadlineNanos;
  final int limitMillis;

  /** The last step that was done, 0 before the first. */
  int lastStep;

  /**
   * How many updates the last step had. A step without updates is simply done again if it is
   * repeated.
   */
  int lastUpdates;

  private final TransactionHost host;
  private final SnapshotHistory former;
  private final boolean past;
  private final Map<ObjectId, TransactionWork> works = new LinkedHashMap<>();
  private final List<Escrow.Reservation> reservations = new ArrayList<>();
  private int updates;
  private long updateBytes;

  /** The part of updateBytes that counts the updates' effects. */
  private long effectBytes;

  /**
   * What the transaction's versions of objects take in the heap beyond the snapshot's, in bytes.
   */
  private long versionBytes;

  /** The bytes of existing values that were rewritten so far: small updates may rewrite much. */
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

  /** The trial of one step's updates. */
  static final class Tried {
    /** The objects that the step touches, each with all that the transaction has done to it. */
    final Map<ObjectId, TransactionWork> works = new LinkedHashMap<>();

    private long effectBytes;
    private long versionBytes;
    private long rewrittenBytes;
  }

  /** Checks what a step's versions take in the heap, while they are made. */
  @FunctionalInterface
  interface Room {
    /**
     * Throws if the versions take too much.
     *
     * @param versionBytes the bytes that they take beyond the snapshot's and beyond what is counted
     *     for the updates' effects
     * @param isOneObject whether the transaction changes one object alone
     */
    void check(long versionBytes, boolean isOneObject);
  }

  /** Returns how many reservations of rights the transaction holds. */
  int reservations() {
    return reservations.size();
  }

  /** Releases all reservations of rights but the first {@code from}. */
  void release(int from) {
    List<Escrow.Reservation> some = reservations.subList(from, reservations.size());
    some.forEach(host::release);
    some.clear();
  }

  /** Keeps the trial of a step that is done. */
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

  /**
   * Returns what an update takes in the heap until the transaction ends, about, in bytes: the
   * operation counts twice, for its effect.
   */
  static long heapBytes(Request.Update update) {
    return UPDATE_BYTES + update.key().heapBytes() + 2 * update.operation().heapBytes();
  }

  /** Returns what this transaction takes in the heap, about, in bytes. */
  long heapBytes() {
    return PLACE_BYTES + clock.heapBytes() + updateBytes + ownVersionBytes();
  }

  /**
   * Returns what the transaction's versions take beside the bytes counted for its updates. An
   * update's effect may be much larger than the update, as where each of many fields is removed.
   */
  private long ownVersionBytes() {
    return Math.max(0, versionBytes - effectBytes);
  }

  /** Returns the work on all objects, with the trial of the last step. */
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
    // Checked after each update, since a step may touch thousands of objects.
    long own = versionBytes + tried.versionBytes - effectBytes - tried.effectBytes;
    room.check(Math.max(0, own) - ownVersionBytes(), touchesOnly(object, tried));
  }

  /** Checks the rewritten bytes: a commit makes all of these values again, at one moment. */
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

  /** Reads the snapshot with the transaction's own updates, those on trial included. */
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
