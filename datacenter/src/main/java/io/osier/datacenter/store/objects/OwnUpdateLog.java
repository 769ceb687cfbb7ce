package io.osier.datacenter.store.objects;

import io.osier.datacenter.store.Change;
import java.util.Optional;

/**
 * Decides which part of the log of own updates is kept: the updates that some peer lacks, up to a
 * number of entries. While every peer has everything, or there are no peers, nothing is written; a
 * peer that comes later gets all objects, and the log goes on from there. Only for the partition's
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
   * Starts with the log that the store has.
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
   * Returns whether the next entries need not be written. False while there are entries: a
   * partition that has just started may not know yet which peers need them.
   *
   * @param needless all peers have the updates up to this commit number
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
   * Returns the drop of entries that is due now, if any.
   *
   * @param needless all peers have the updates up to this commit number
   * @param exactly whether to drop all needless entries, even if they are few
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

  /** Returns the commit number up to which there are no entries, or soon will be none. */
  long droppedThrough() {
    return droppedThrough;
  }

  /** Returns about how many entries there are. For any thread. */
  long size() {
    return Math.max(0, last - droppedThrough);
  }
}
