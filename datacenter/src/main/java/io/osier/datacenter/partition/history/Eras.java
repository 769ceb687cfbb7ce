package io.osier.datacenter.partition.history;

import io.osier.core.VersionVector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The steps of a {@link SnapshotHistory}, divided by admissions of others' updates: what each step
 * shows. Not thread-safe.
 */
final class Eras {
  /**
   * The steps between two admissions.
   *
   * @param index how many admissions there were
   * @param first the first step
   * @param others what was visible of the others
   * @param committed the last commit number before it
   */
  private record Era(
      long index, long first, VersionVector others, long committed, long startNanos) {}

  /** In their order; of each the clock contains that of the one before. */
  private final List<Era> eras = new ArrayList<>();

  Eras(VersionVector others, long committed, long startNanos) {
    eras.add(new Era(0, committed, others, committed, startNanos));
  }

  /** Another one begins: these of others' updates are visible from now on. */
  void begin(VersionVector others, long committed, long nowNanos) {
    long index = admissions() + 1;
    eras.add(new Era(index, index + committed, others, committed, nowNanos));
  }

  long admissions() {
    return eras.getLast().index;
  }

  /** How many there were at a step. */
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
   * Forgets those that were over before a moment, or before a step.
   *
   * @return the step, or a later one before which nothing can be told any more
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
   * The oldest step that shows all that a clock contains.
   *
   * @param self the clock's entry of this datacenter
   * @param others its other entries, which are visible here
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

  /** The first one of which something holds that then holds of all later ones, or their number. */
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
