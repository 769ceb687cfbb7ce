package io.osier.propagation.receive;

import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import java.util.Optional;

/**
 * Keeps the position in a peer's stream: its epoch, the last received frame of the epoch, the place
 * after that frame, and the place up to which everything was applied. An epoch begins when the
 * stream is requested, and ends when a frame is lost. Not thread-safe.
 */
final class StreamPosition {
  private static final int ATTEMPTS_MAX = 3;

  /**
   * Leaves room for the epochs of one life; if it is too little, {@link #heardOf} raises the epoch.
   */
  private static final int LIFE_SHIFT = 24;

  private long epoch;
  private long sequence;
  private boolean resuming;

  /**
   * Whether frames are not taken for want of room. The stream is then requested again, from the
   * last frame that was taken.
   */
  private boolean refusing;

  private int attempts;
  private long resumeSentNanos;

  /** When the epoch was first requested. */
  private long epochNanos;

  /** How many epochs in a row have begun without a frame; counted up to a limit. */
  private int barren;

  private boolean started;
  private Optional<Cursor> cursor;

  /** The last place at which no update waited; empty before the first. */
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

  /** Starts a new epoch from the last frame that was taken. */
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
   * Requests the epoch again that has not begun. A sender that knows the epoch already does
   * nothing: its frames may be in flight for long, and a restart would put all of them on the link
   * again, behind the first.
   */
  Frame.Resume resumeAgain(long through, long nowNanos) {
    attempts = Math.min(attempts + 1, ATTEMPTS_MAX);
    resumeSentNanos = nowNanos;
    return new Frame.Resume(epoch, through, cursor);
  }

  /**
   * Has the stream begin again when there is room, behind the last applied frame instead of the
   * last received one.
   */
  void toApplied() {
    cursor = applied;
    refusing = true;
  }

  /** Takes no more of this epoch; the stream is resumed when there is room. */
  void refuse() {
    refusing = true;
  }

  /** Whether frames are not taken until the stream is resumed. */
  boolean isRefusing() {
    return refusing;
  }

  /**
   * Notes that the sender knows this epoch, from a former life of the store here: the next is
   * larger.
   */
  void heardOf(long heard) {
    epoch = Math.max(epoch, heard);
  }

  /** Whether a frame of the epoch was received. */
  boolean hasBegun() {
    return sequence > 0;
  }

  /** Returns when to repeat the request if the stream has not started by then: later each time. */
  long resumeDueNanos(long retryNanos) {
    return resumeSentNanos + (retryNanos << attempts);
  }

  /**
   * Whether to request the stream at once when the sender says that it waits for the request. Not
   * if it was requested just now, since a status may overtake the answer.
   */
  boolean mayAskAgain(long nowNanos, long retryNanos) {
    return !resuming || nowNanos - resumeSentNanos >= retryNanos;
  }

  /**
   * Whether to begin a new epoch because frames of this one have not come. If nothing came of the
   * last epochs either, as while the disk is full, the frames of a new one would be lost, too: then
   * it begins later each time, however often this one was requested again.
   */
  boolean mayBeginAnew(long nowNanos, long retryNanos) {
    return barren == 0 || nowNanos - epochNanos >= retryNanos << (barren - 1);
  }

  /** Notes that a frame of the epoch came without the one before it: so not all frames are lost. */
  void cameWithGap() {
    barren = 0;
  }

  enum Verdict {
    /** The next frame: it is to be applied. */
    NEXT,
    /** The frame was applied before: it is acknowledged again. */
    DUPLICATE,
    /** The frame is of another epoch, or follows one that was not taken: it is ignored. */
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

  /** Notes that the next frame was received. */
  void received(Frame.Updates frame) {
    resuming = false;
    barren = 0;
    sequence = frame.sequence();
    cursor = frame.cursor();
    claimed = Math.max(claimed, frame.through());
  }

  /** Notes that everything received was applied. */
  void appliedAll() {
    if (cursor.isPresent()) {
      applied = cursor;
    }
  }

  void applied(Cursor place) {
    applied = Optional.of(place);
  }

  /** Returns the place up to which everything has been applied; empty if there is none yet. */
  Optional<Cursor> applied() {
    return applied;
  }

  /**
   * Returns the number up to which, as the stream claims, every update of the sender was received.
   */
  long claimed() {
    return claimed;
  }

  /** Lowers the claim to {@code complete}, since later updates were lost. */
  void claimNoMoreThan(long complete) {
    claimed = Math.min(claimed, complete);
  }

  /**
   * Whether the sender's status shows that the last frames were lost. That takes two statuses
   * without a frame in between, since a status may overtake a frame.
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

  /** Returns when the stream was last requested, if it was. */
  long resumeSentNanos() {
    return resumeSentNanos;
  }

  long epoch() {
    return epoch;
  }
}
