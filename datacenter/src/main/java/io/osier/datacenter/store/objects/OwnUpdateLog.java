package io.osier.datacenter.store.objects;

import io.osier.datacenter.store.Change;
import java.util.Optional;

/**
 * Which part of the log of own updates is kept: what somebody has not got, up to a number of
 * entries. Where everybody has everything, as a datacenter without peers has, nothing is written;
 * who comes later gets all objects, and the log goes on from there. Only for the partition's
 * thread, but for {@link #size}.
 */
final class OwnUpdateLog {
  /** Fewer entries than this are not worth dropping. */
  private static final long DROPPED_MIN = 1_000;

  private final long entriesMax;
  private volatile long droppedThrough;
  private volatile long last;

  OwnUpdateLog(long entriesMax) {
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

  void added(long number) {
    last = number;
  }

  /**
   * Whether the next entries need not be written. Not while there are some: a partition that has
   * just started may not know yet who wants them.
   *
   * @param needless everybody has the updates up to this commit number
   * @param through the last commit number
   */
  boolean skips(long needless, long through) {
    if (needless < through || last > droppedThrough) {
      return false;
    }
    droppedThrough = through;
    last = through;
    return true;
  }

  /**
   * What is to be dropped now, if anything.
   *
   * @param needless everybody has the updates up to this commit number
   * @param exactly whether all that is needless goes, be it worth it or not
   */
  Optional<Change> drop(long needless, boolean exactly) {
    long from = droppedThrough;
    long through = Math.max(needless, last - entriesMax);
    if (through < from + (exactly ? 1 : DROPPED_MIN)) {
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
