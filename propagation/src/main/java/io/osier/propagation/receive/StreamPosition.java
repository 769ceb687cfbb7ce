package io.osier.propagation.receive;

import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import java.util.Optional;

/**
 * How far a peer's stream has come: its epoch, the last frame of that, the place behind it, and the
 * place up to which everything was applied. An epoch begins when the stream is asked for, and ends
 * when a frame was lost. Not thread-safe.
 */
final class StreamPosition {
  private static final int ATTEMPTS_MAX = 3;

  /** Room for the epochs of one life; where it was too little, {@link #heardOf} helps. */
  private static final int LIFE_SHIFT = 24;

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
  private long statusSequence;

  /**
   * @param life of this partition's store: epochs grow from life to life
   * @param recovered the place up to which everything was applied in a former life
   */
  StreamPosition(long life, Optional<Cursor> recovered) {
    this.epoch = life << LIFE_SHIFT;
    this.cursor = recovered;
    this.applied = recovered;
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
   * Asks once more for the epoch that has not begun. Who has heard of it does nothing: its answer
   * may be long under way, and starting anew would put all of it on the link again, behind itself.
   */
  Frame.Resume resumeAgain(long through, long nowNanos) {
    attempts = Math.min(attempts + 1, ATTEMPTS_MAX);
    resumeSentNanos = nowNanos;
    return new Frame.Resume(epoch, through, cursor);
  }

  /** Begins anew when there is room, behind what was applied, and not behind what came. */
  void toApplied() {
    cursor = applied;
    refusing = true;
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

  /** Whether something of the epoch has come. */
  boolean hasBegun() {
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

  /** The frame, which was the next one, has come. */
  void received(Frame.Updates frame) {
    resuming = false;
    barren = 0;
    sequence = frame.sequence();
    cursor = frame.cursor();
    claimed = Math.max(claimed, frame.through());
  }

  /** Everything that has come has been applied. */
  void appliedAll() {
    if (cursor.isPresent()) {
      applied = cursor;
    }
  }

  void applied(Cursor place) {
    applied = Optional.of(place);
  }

  /** The place up to which everything has been applied; empty if there is none yet. */
  Optional<Cursor> applied() {
    return applied;
  }

  /** The stream claims that every update of the sender up to this one has come. */
  long claimed() {
    return claimed;
  }

  /** No more is complete than this: what came after it was lost. */
  void claimNoMoreThan(long complete) {
    claimed = Math.min(claimed, complete);
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

  Frame.Ack ack() {
    return new Frame.Ack(epoch, sequence);
  }

  boolean isResuming() {
    return resuming;
  }

  boolean isStarted() {
    return started;
  }

  /** When the stream was last asked for, if it was. */
  long resumeSentNanos() {
    return resumeSentNanos;
  }

  long epoch() {
    return epoch;
  }
}
