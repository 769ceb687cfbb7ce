package io.osier.datacenter.store;

import java.util.Optional;

/**
 * Which part of the log of own updates is kept: what somebody has not got, up to a number of
 * entries. Only for the partition's thread, but for {@link #size}.
 */
final class OwnLog {
  /** Fewer entries than this are not worth dropping. */
  private static final long DROPPED_MIN = 1_000;

  private final long entriesMax;
  private volatile long droppedThrough;
  private volatile long last;

  OwnLog(long entriesMax) {
    this.entriesMax = entriesMax;
  }

  /**
   * Begins with what a former life left.
   *
   * @param droppedThrough there is no entry up to this commit number
   */
  void recovered(long droppedThrough, long last) {
    this.droppedThrough = droppedThrough;
    this.last = last;
  }

  /** An entry was added. */
  void added(long number) {
    last = number;
  }

  /**
   * What is to be dropped now, if anything.
   *
   * @param needless everybody has the updates up to this commit number
   */
  Optional<Change> drop(long needless) {
    long from = droppedThrough;
    long through = Math.max(needless, last - entriesMax);
    if (through < from + DROPPED_MIN) {
      return Optional.empty();
    }
    droppedThrough = through;
    return Optional.of(new Change.DropLogged(from, through));
  }

  /** There is no entry up to this commit number, or soon there will be none. */
  long droppedThrough() {
    return droppedThrough;
  }

  /** How many entries there are, roughly. For any thread. */
  long size() {
    return Math.max(0, last - droppedThrough);
  }
}
