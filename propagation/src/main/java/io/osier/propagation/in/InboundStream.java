package io.osier.propagation.in;

import static java.util.Objects.requireNonNull;

import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One peer's stream to this partition: what has come, in which epoch, and which updates wait for
 * something that must come before them. Not thread-safe.
 */
public final class InboundStream {
  /**
   * An update that cannot be applied yet.
   *
   * @param missing what it waits for, as far as that is other datacenters'
   * @param claimedBefore what the stream had claimed to be complete before this update came: until
   *     it is applied no more is complete
   * @param sinceNanos when it came
   */
  record EarlyUpdate(
      Shipment shipment,
      VersionVector missing,
      long claimedBefore,
      long sinceNanos,
      boolean outage,
      long sentMillis) {
    private static final long HEAP_BYTES =
        HeapSize.object(2 * HeapSize.REFERENCE + 3 * Long.BYTES + 1);

    /** What it takes in the heap, about, in bytes. */
    long heapBytes() {
      return HEAP_BYTES + shipment.heapBytes();
    }
  }

  private static final int ATTEMPTS_MAX = 3;

  /**
   * So many large states are pulled at a time, whatever is offered. Pulls that were interrupted are
   * kept for the next offer of their object, but make room for others.
   */
  static final int PULLS_MAX = 16;

  private static final int PATIENCE_MAX = 10;

  /** Of so many offers it is known that they were pulled, should that be asked for once more. */
  private static final int PULLED_MAX = 64;

  /** How much longer an update is held for one of an origin whose stream stands still. */
  public static final long COMING_NANOS = 1_000_000_000;

  /** Room for the epochs of one life; where it was too little, {@link #heardOf} helps. */
  private static final int LIFE_SHIFT = 24;

  private final ReplicaId sender;
  private long epoch;
  private long sequence;
  private boolean resuming;

  /** What comes is not taken: there is no room. It is asked for again, from what was taken last. */
  private boolean refusing;

  private int attempts;
  private long resumeSentNanos;

  /** When the epoch was asked for first. */
  private long epochNanos;

  /** How many epochs in a row had begun of which nothing came, up to a largest number. */
  private int barren;

  private boolean started;
  private Optional<Cursor> cursor;

  /** The last place at which nothing was held; empty before the first. */
  private Optional<Cursor> applied;

  private long claimed;
  private boolean ackDue;
  private long ackDueNanos;
  private long statusSequence;
  private long heardNanos;

  /** Until then its silence meant nothing: see {@link Resting}. */
  private long excusedNanos;

  private long outageUntilMillis;
  private long shortestWayMillis = Long.MAX_VALUE;
  private boolean wasSilent;
  private long silentUntilNanos;
  private final Map<ObjectId, ArrayDeque<EarlyUpdate>> early = new LinkedHashMap<>();
  private long earlyBytes;
  private final Map<ObjectId, Long> fetchedNanos = new LinkedHashMap<>();
  private final Fetcher fetcher;

  /** Whether its datacenter was said to be no peer any more. */
  private boolean ended;

  /** See {@link #patience()}. */
  private int patience;

  /** The large states that are being pulled. */
  private final Map<ObjectId, StatePull> pulls = new HashMap<>();

  /** Answers of which a large state is still to be pulled. */
  private final PendingAnswers answers;

  /** Those that were pulled last. */
  private final ArrayDeque<Done> pulled = new ArrayDeque<>();

  /** An offer that was pulled, without its deadlines, which may be many. */
  private record Done(ObjectId object, long epoch, long number, int version) {
    static Done of(Frame.Offer offer) {
      return new Done(
          offer.object(),
          offer.epoch(),
          offer.number() >>> Frame.Offer.TIMES_BITS,
          offer.version().hashCode());
    }
  }

  /**
   * A stream that has not begun.
   *
   * @param life of this partition's store: epochs grow from life to life
   * @param recovered the place up to which everything was applied in a former life
   */
  InboundStream(
      ReplicaId sender,
      long life,
      Optional<Cursor> recovered,
      Fetcher fetcher,
      PendingAnswers answers,
      long nowNanos) {
    this.sender = sender;
    this.answers = answers;
    this.fetcher = fetcher;
    this.epoch = life << LIFE_SHIFT;
    this.cursor = recovered;
    this.applied = recovered;
    this.heardNanos = nowNanos;
    this.excusedNanos = nowNanos;
  }

  /** Starts a new epoch from what was applied last. */
  Frame.Resume resume(long through, long nowNanos) {
    barren = started && sequence == 0 ? Math.min(barren + 1, ATTEMPTS_MAX + 1) : 0;
    attempts = 0;
    refusing = false;
    epoch++;
    started = true;
    sequence = 0;
    statusSequence = 0;
    resuming = true;
    resumeSentNanos = nowNanos;
    epochNanos = nowNanos;
    return new Frame.Resume(epoch, through, cursor);
  }

  /**
   * What waits of it was dropped: it begins anew when there is room, behind what was applied, and
   * not behind what came.
   */
  void dropped() {
    dropPulls();
    cursor = applied;
    refusing = true;
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
    dropPulls();
  }

  /** Its datacenter is a peer again. Returns whether it was none. */
  boolean isBack() {
    boolean wasEnded = ended;
    ended = false;
    return wasEnded;
  }

  /** Takes no more of this epoch; to be resumed when there is room. */
  void refuse() {
    refusing = true;
  }

  /** Whether what comes is not taken until the stream is resumed. */
  boolean isRefusing() {
    return refusing;
  }

  /** Of this epoch the sender has heard, in a former life of the store: the next one is larger. */
  void heardOf(long heard) {
    epoch = Math.max(epoch, heard);
  }

  /**
   * Asks once more for the epoch that has not begun. Who has heard of it does nothing: its answer
   * may be long under way, and starting anew would put all of it on the link again, behind itself.
   */
  Frame.Resume resumeAgain(long through, long nowNanos) {
    attempts = Math.min(attempts + 1, ATTEMPTS_MAX);
    resumeSentNanos = nowNanos;
    return new Frame.Resume(epoch, through, cursor);
  }

  /** Whether something of the epoch has come. */
  public boolean hasBegun() {
    return sequence > 0;
  }

  /** When to ask again, if the stream has not started by then: later each time. */
  long resumeDueNanos(long retryNanos) {
    return resumeSentNanos + (retryNanos << attempts);
  }

  /**
   * Whether to ask at once when the sender says that it waits for it: unless it was just done,
   * since a status may overtake the answer.
   */
  boolean mayAskAgain(long nowNanos, long retryNanos) {
    return !resuming || nowNanos - resumeSentNanos >= retryNanos;
  }

  /**
   * Whether to begin a new epoch because what was sent of this one has not come. If nothing came of
   * the last ones either, as while the disk is full, what a new one brings would be lost, too: it
   * begins later each time, however often this one was asked for again.
   */
  boolean mayBeginAnew(long nowNanos, long retryNanos) {
    return barren == 0 || nowNanos - epochNanos >= retryNanos << (barren - 1);
  }

  /** A frame of the epoch came, and one before it did not: it is not all lost that is sent. */
  void cameWithGap() {
    barren = 0;
  }

  /** What to do with a frame. */
  enum Verdict {
    /** The next one: apply it. */
    NEXT,
    /** Applied before: acknowledge it again. */
    DUPLICATE,
    /** Of another epoch, or behind one that was not taken: ignore it. */
    STALE,
    /** A frame before it is missing: the stream must start again. */
    GAP
  }

  Verdict verdict(Frame.Updates frame) {
    if (frame.epoch() != epoch || refusing) {
      return Verdict.STALE;
    }
    if (frame.sequence() <= sequence) {
      return Verdict.DUPLICATE;
    }
    return frame.sequence() == sequence + 1 ? Verdict.NEXT : Verdict.GAP;
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
      dropPulls(); // all has come, so the sender does not wait for any
    }
    resuming = false;
    barren = 0;
    sequence = frame.sequence();
    cursor = frame.cursor();
    claimed = Math.max(claimed, frame.through());
    acknowledgeBy(ackNanos);
  }

  /** Everything up to this place of the stream has been applied. */
  void admitted(Cursor place) {
    if (!place.equals(applied.orElse(null))) {
      patience = 0;
    }
    applied = Optional.of(place);
  }

  /**
   * Notes a sign of life; a long silence before it means that what was sent until now was delayed.
   * Of a silence that may be rest the frame's own way tells.
   *
   * @param wayMillis how long the frame took, by the two wall clocks; Long.MIN_VALUE if it does not
   *     tell
   */
  public void heard(long nowNanos, long nowMillis, long silenceNanosMax, long wayMillis) {
    boolean isSilent = nowNanos - aliveNanos() > silenceNanosMax;
    boolean mayBeSilent = nowNanos - heardNanos > silenceNanosMax;
    if (isSilent || (mayBeSilent && isDelayed(wayMillis, silenceNanosMax / 1_000_000))) {
      outageUntilMillis = nowMillis;
      wasSilent = true;
      silentUntilNanos = nowNanos;
    }
    heardNanos = nowNanos;
  }

  private boolean isDelayed(long wayMillis, long byMillis) {
    return delayNanos(wayMillis) > byMillis * 1_000_000;
  }

  /**
   * How much longer a frame was under way than the fastest of the stream, as far as is known; 0 if
   * it was not.
   *
   * @param wayMillis how long it took, by the two wall clocks; Long.MIN_VALUE if it does not tell
   */
  public long delayNanos(long wayMillis) {
    return wayMillis == Long.MIN_VALUE || shortestWayMillis == Long.MAX_VALUE
        ? 0
        : Math.max(0, wayMillis - shortestWayMillis) * 1_000_000;
  }

  /**
   * All are at rest: that nothing was heard until now means nothing.
   *
   * @param nanosMax where it is not for longer
   */
  void excuse(long nowNanos, long nanosMax) {
    excusedNanos = Math.min(nowNanos, heardNanos + nanosMax);
  }

  /** When it was heard last, or its silence last meant nothing. */
  public long aliveNanos() {
    return Math.max(heardNanos, excusedNanos);
  }

  /** Whether nothing of it is waited for. */
  boolean isAtRest() {
    return started && !resuming && !refusing && early.isEmpty() && fetcher.isIdle();
  }

  boolean wasOutage(long sentMillis) {
    return sentMillis <= outageUntilMillis;
  }

  /** Notes how long a frame of updates took, by the two wall clocks. */
  void arrived(long sentMillis, long nowMillis) {
    shortestWayMillis = Math.min(shortestWayMillis, nowMillis - sentMillis);
  }

  /** The shortest time that a frame of updates took; what it means assumes that one came. */
  long shortestWayMillis() {
    return shortestWayMillis;
  }

  /** Whether the sender was heard again after a silence, or asked to go on, since a time. */
  boolean wasInterruptedAfter(long nanos) {
    return (wasSilent && silentUntilNanos >= nanos) || (started && resumeSentNanos >= nanos);
  }

  /** When something came from it last: what was asked before has been answered, or was lost. */
  public long heardNanos() {
    return heardNanos;
  }

  /**
   * Whether the sender's status shows that the last frames were lost: seen twice without one coming
   * in between, since a status may overtake a frame.
   */
  boolean missedTail(Frame.Status status) {
    boolean missed =
        status.epoch() == epoch && status.sequence() > sequence && statusSequence > sequence;
    statusSequence = status.epoch() == epoch ? status.sequence() : 0;
    return missed;
  }

  /** Keeps an update back; it waits for what those before it wait for, too. */
  void keepEarly(
      Shipment shipment, VersionVector missing, boolean outage, long sentMillis, long nowNanos) {
    ArrayDeque<EarlyUpdate> queue =
        early.computeIfAbsent(shipment.object(), o -> new ArrayDeque<>(2));
    VersionVector all = queue.isEmpty() ? missing : missing.join(queue.peekLast().missing);
    EarlyUpdate last = new EarlyUpdate(shipment, all, claimed, nowNanos, outage, sentMillis);
    queue.add(last);
    earlyBytes += last.heapBytes();
  }

  boolean hasEarly(ObjectId object) {
    return early.containsKey(object);
  }

  /** What is held of the object, oldest first. */
  List<Shipment> early(ObjectId object) {
    ArrayDeque<EarlyUpdate> queue = early.get(object);
    return queue == null ? List.of() : queue.stream().map(EarlyUpdate::shipment).toList();
  }

  /** The object's oldest held update, or null. */
  @Nullable EarlyUpdate firstEarly(ObjectId object) {
    ArrayDeque<EarlyUpdate> queue = early.get(object);
    return queue == null ? null : queue.peek();
  }

  /** Drops it: there is one. */
  void dropFirstEarly(ObjectId object) {
    ArrayDeque<EarlyUpdate> queue =
        requireNonNull(early.get(object), "nothing of the object is held");
    earlyBytes -= queue.remove().heapBytes();
    if (queue.isEmpty()) {
      early.remove(object);
      fetchedNanos.remove(object);
      noteApplied();
    }
  }

  /**
   * Drops what is held of an object, though it was not applied: what it builds on was lost. Only of
   * a stream that has ended.
   */
  void giveUpEarly(ObjectId object) {
    for (EarlyUpdate lost : requireNonNull(early.remove(object), "nothing of the object is held")) {
      earlyBytes -= lost.heapBytes();
      claimed = Math.min(claimed, lost.claimedBefore);
    }
  }

  /** The objects of which something is held. */
  List<ObjectId> earlyObjects() {
    return List.copyOf(early.keySet());
  }

  /** How many updates are held. */
  int earlyCount() {
    int count = 0;
    for (ArrayDeque<EarlyUpdate> queue : early.values()) {
      count += queue.size();
    }
    return count;
  }

  /** What is held takes so much in the heap, about, in bytes. */
  long earlyBytes() {
    return earlyBytes;
  }

  private void noteApplied() {
    // What is held is held in memory only, and must come again after a crash.
    if (early.isEmpty() && cursor.isPresent()) {
      applied = cursor;
    }
  }

  /** The place up to which everything has been applied; empty if there is none yet. */
  Optional<Cursor> applied() {
    return applied;
  }

  /** What fetches from the sender. */
  public Fetcher fetcher() {
    return fetcher;
  }

  /**
   * Objects that have been held for the grace time and were not fetched lately.
   *
   * @param comes whether what an update waits for is about to come: then it is waited for a little
   *     longer, once
   */
  List<ObjectId> toFetch(
      long nowNanos, long graceNanos, long retryNanos, Predicate<Shipment> comes) {
    List<ObjectId> objects = new ArrayList<>();
    for (Map.Entry<ObjectId, ArrayDeque<EarlyUpdate>> entry : early.entrySet()) {
      Long fetched = fetchedNanos.get(entry.getKey());
      EarlyUpdate oldest = entry.getValue().peek();
      boolean due =
          fetched == null
              ? nowNanos - oldest.sinceNanos >= graceNanos
              : nowNanos - fetched >= retryNanos;
      if (due && fetched == null && comes.test(oldest.shipment)) {
        fetchedNanos.put(entry.getKey(), nowNanos - retryNanos + COMING_NANOS);
      } else if (due) {
        fetchedNanos.put(entry.getKey(), nowNanos);
        objects.add(entry.getKey());
        if (objects.size() == Fetcher.OBJECTS_MAX) {
          break;
        }
      }
    }
    return objects;
  }

  /** When there may be something to fetch, or to ask for again; Long.MAX_VALUE if never. */
  long nextFetchNanos(long graceNanos, long retryNanos) {
    if (!fetcher.isIdle()) {
      return fetcher.isDue(heardNanos) ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    long next = Long.MAX_VALUE;
    for (Map.Entry<ObjectId, ArrayDeque<EarlyUpdate>> entry : early.entrySet()) {
      Long fetched = fetchedNanos.get(entry.getKey());
      next =
          Math.min(
              next,
              fetched == null
                  ? entry.getValue().peek().sinceNanos + graceNanos
                  : fetched + retryNanos);
    }
    return next;
  }

  /** Every update of the sender up to here has been applied. */
  long complete() {
    long complete = claimed;
    for (Iterator<ArrayDeque<EarlyUpdate>> it = early.values().iterator(); it.hasNext(); ) {
      complete = Math.min(complete, it.next().peek().claimedBefore);
    }
    return complete;
  }

  /** What has been pulled and is not complete takes so much in the heap, about, in bytes. */
  long pulledBytes() {
    long bytes = 0;
    for (StatePull pull : pulls.values()) {
      bytes += pull.heapBytes();
    }
    return bytes + answers.heapBytes();
  }

  PendingAnswers answers() {
    return answers;
  }

  /** How many large states are being pulled. */
  int pulls() {
    return pulls.size();
  }

  /** Nothing is pulled any more. */
  void dropPulls() {
    pulls.clear();
  }

  /** Drops what has come of offers of former epochs, and of those not heard of since a time. */
  void dropFormerPulls(long sinceNanos) {
    pulls.values().removeIf(p -> p.offer().epoch() != epoch);
    dropSilentPulls(sinceNanos);
  }

  /** Drops what has come of offers of which nothing was heard since a time, if it was expected. */
  void dropSilentPulls(long sinceNanos) {
    if (resumeSentNanos - sinceNanos < 0) {
      pulls.values().removeIf(p -> p.heardNanos() - sinceNanos < 0);
    }
  }

  /** How many large states are being pulled that {@link #dropSilentPulls} would not drop. */
  int pullsHeardSince(long sinceNanos) {
    if (resumeSentNanos - sinceNanos >= 0) {
      return pulls.size();
    }
    return (int) pulls.values().stream().filter(p -> p.heardNanos() - sinceNanos >= 0).count();
  }

  /** The pull of an object that is under way; null if there is none. */
  @Nullable StatePull pull(ObjectId object) {
    return pulls.get(object);
  }

  void begin(StatePull pull) {
    pulls.put(pull.offer().object(), pull);
  }

  /** What was pulled has been applied. */
  void endPull(StatePull pull) {
    pulls.remove(pull.offer().object());
    pulled.add(Done.of(pull.offer()));
    if (pulled.size() > PULLED_MAX) {
      pulled.remove();
    }
  }

  /** Whether it is one of those that were pulled last. */
  boolean hasPulled(Frame.Offer offer) {
    return pulled.contains(Done.of(offer));
  }

  private void acknowledgeBy(long nanos) {
    ackDueNanos = ackDue ? Math.min(ackDueNanos, nanos) : nanos;
    ackDue = true;
  }

  /** Whether an acknowledgement is to be sent now; it is then taken as sent. */
  boolean takeAckDue(long nowNanos) {
    if (!ackDue || nowNanos < ackDueNanos) {
      return false;
    }
    ackDue = false;
    return true;
  }

  /** When an acknowledgement is due; Long.MAX_VALUE if none is. */
  long ackDueNanos() {
    return ackDue ? ackDueNanos : Long.MAX_VALUE;
  }

  /** Acknowledges once more what was acknowledged before. */
  void ackAgain(long nowNanos) {
    if (sequence > 0) {
      acknowledgeBy(nowNanos);
    }
  }

  Frame.Ack ack() {
    return new Frame.Ack(epoch, sequence);
  }

  boolean isResuming() {
    return resuming;
  }

  boolean isStarted() {
    return started;
  }

  public ReplicaId sender() {
    return sender;
  }

  /** When the stream was last asked for, if it was. */
  long resumeSentNanos() {
    return resumeSentNanos;
  }

  long epoch() {
    return epoch;
  }
}
