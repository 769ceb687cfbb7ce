package io.osier.datacenter.partition.history;

import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Divides the steps of a {@link SnapshotHistory} into eras, one between two admissions of others'
 * updates, and tells what each step shows. Not thread-safe.
 */
final class Eras {
  /**
   * The steps between two admissions.
   *
   * @param index how many admissions there were before it
   * @param first the first step
   * @param others the updates of other datacenters that are visible in it
   * @param committed the last commit number before it
   */
  private record Era(
      long index, long first, VersionVector others, long committed, long startNanos) {}

  /** The eras in their order; each one's clock contains that of the one before. */
  private final List<Era> eras = new ArrayList<>();

  Eras(VersionVector others, long committed, long startNanos) {
    eras.add(new Era(0, committed, others, committed, startNanos));
  }

  /** Begins another era, in which these updates of other datacenters are visible. */
  void begin(VersionVector others, long committed, long nowNanos) {
    long index = admissions() + 1;
    eras.add(new Era(index, index + committed, others, committed, nowNanos));
  }

  long admissions() {
    return eras.getLast().index;
  }

  /** Returns how many admissions there were at a step. */
  long admissions(long step) {
    return at(step).index;
  }

  VersionVector clock(long step) {
    return at(step).others;
  }

  private Era at(long step) {
    return eras.get(Math.max(0, first(e -> e.first > step) - 1));
  }

  /**
   * Forgets the eras that ended before a moment, or before a step.
   *
   * @return the given step, or the later one before which the eras were forgotten
   */
  long forget(long step, long oldestNanos) {
    long horizon = step;
    int over = 0;
    while (over + 1 < eras.size()) {
      Era next = eras.get(over + 1);
      if (next.first > horizon && next.startNanos >= oldestNanos) {
        break;
      }
      horizon = Math.max(horizon, next.first);
      over++;
    }
    eras.subList(0, over).clear();
    return horizon;
  }

  /**
   * Returns the oldest step that shows all that a clock contains.
   *
   * @param self the clock's number for this datacenter
   * @param others the clock's other numbers, which are visible here
   */
  long oldestStep(long self, VersionVector others) {
    int shown = first(e -> others.isAtMost(e.others));
    if (shown == eras.size()) {
      throw new IllegalArgumentException("the clock is not visible here");
    }
    Era during = eras.get(Math.max(0, first(e -> e.committed >= self) - 1));
    long byCommit = during.index + Math.max(self, during.committed);
    return Math.max(eras.get(shown).first, byCommit);
  }

  /**
   * Returns the index of the first era for which a predicate holds, or the number of eras. The
   * predicate must hold for all later eras, too.
   */
  private int first(Predicate<Era> holds) {
    int low = 0;
    int high = eras.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (holds.test(eras.get(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
