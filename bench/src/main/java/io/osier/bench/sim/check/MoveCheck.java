package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Programs that put their number under their datacenter's first key, rename this to the second one
 * and copy it to a third: nobody to whom they become visible together sees anything of the first
 * key, or another number under the second than under the third; and in the end none is there that
 * was overwritten.
 */
public final class MoveCheck {
  private static final class Known {
    final ReplicaId at;
    final long begun;

    /** The number of the event when its caller was told that it was done; -1 before. */
    long done = -1;

    Known(ReplicaId at, long begun) {
      this.at = at;
      this.begun = begun;
    }
  }

  private final Unit unit;

  /** The programs that are done, or may be. */
  private final Map<Long, Known> known = new HashMap<>();

  private long events;

  MoveCheck(Unit unit) {
    this.unit = unit;
  }

  /** A program is about to be asked for. */
  public void begins(ReplicaId at, long number) {
    known.put(number, new Known(at, events++));
  }

  /** A caller is told that its program was done. */
  public void done(long number) {
    Known one = known.get(number);
    if (one != null) {
      one.done = events++;
    }
  }

  /** A caller is told that its program was not done. */
  public void never(long number) {
    known.remove(number);
  }

  /**
   * Somebody sees a datacenter's three keys, to whom its programs become visible together.
   *
   * @param seen the numbers under each of them
   */
  public void saw(ReplicaId at, ReplicaId of, List<List<Long>> seen) {
    List<Long> second = seen.get(1);
    if (!seen.getFirst().isEmpty() || second.size() > 1 || !second.equals(seen.getLast())) {
      throw wrong("%s shows a part of what programs of %s have moved: %s", at, of, seen);
    }
    for (long number : second) {
      Known one = known.get(number);
      if (one == null || !one.at.equals(of)) {
        throw wrong("%s shows that program %d of %s was done: %s", at, number, of, seen);
      }
    }
  }

  /** As {@link #saw}, when all that will ever be visible is. */
  public void ended(ReplicaId at, ReplicaId of, List<List<Long>> seen) {
    saw(at, of, seen);
    List<Long> second = seen.get(1);
    Known last = second.isEmpty() ? null : known.get(second.getFirst());
    known.forEach(
        (number, one) -> {
          boolean follows = last == null || (last.done >= 0 && last.done < one.begun);
          if (one.at.equals(of) && one.done >= 0 && follows) {
            throw wrong("%s shows %s, although program %d of %s came last", at, seen, number, of);
          }
        });
  }

  private Violation wrong(String message, @Nullable Object... parameters) {
    return new Violation(unit + "/move", message, parameters);
  }
}
