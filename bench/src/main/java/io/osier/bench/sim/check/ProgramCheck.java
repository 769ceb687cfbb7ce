package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Programs, from what their callers are told alone. Each adds its number to several sets and 1 to
 * its datacenter's counter; some also assign to their datacenter's register the number after the
 * one that they have read, if nobody has assigned anything since.
 *
 * <ul>
 *   <li>Whole: a reader to whom a datacenter's programs become visible together sees each in all
 *       sets or in none, and as many as the counter says.
 *   <li>One at a time: of those that assign, no two have read the same; and none is refused unless
 *       another one was on its way.
 *   <li>What was refused is never seen, and what was acknowledged is there in the end, once.
 * </ul>
 */
public final class ProgramCheck {
  private enum Outcome {
    UNKNOWN,
    DONE,
    NEVER
  }

  private static final class Known {
    final ReplicaId at;

    /** The value that it assigns; 0 if it assigns nothing. */
    final long assigns;

    Outcome outcome = Outcome.UNKNOWN;

    Known(ReplicaId at, long assigns) {
      this.at = at;
      this.assigns = assigns;
    }
  }

  /** The programs of one datacenter that assign. */
  private static final class Assigning {
    int begun;
    int open;

    /** By assigned value, the program whose caller was told that it was done. */
    final TreeMap<Long, Integer> done = new TreeMap<>();
  }

  /**
   * What a reader sees of some programs.
   *
   * @param sets their numbers, in each of the sets
   * @param counts by those who have done them
   */
  public record View(List<BitSet> sets, Map<ReplicaId, Long> counts) {
    /** Makes a view of the readings of the sets, which the readings of the counters follow. */
    public static View of(List<Reading> readings, List<ReplicaId> counted) {
      List<BitSet> sets = new ArrayList<>();
      int first = readings.size() - counted.size();
      for (Reading reading : readings.subList(0, first)) {
        BitSet numbers = new BitSet();
        for (Value value : ((Reading.Many) reading).values()) {
          numbers.set(Math.toIntExact(((Value.Int) value).content()));
        }
        sets.add(numbers);
      }
      Map<ReplicaId, Long> counts = new TreeMap<>();
      for (int i = 0; i < counted.size(); i++) {
        counts.put(counted.get(i), ((Reading.Count) readings.get(first + i)).value());
      }
      return new View(sets, counts);
    }

    private BitSet any() {
      BitSet any = new BitSet();
      sets.forEach(any::or);
      return any;
    }
  }

  private final Unit unit;
  private final TakeCheck takes;
  private final MoveCheck moves;
  private final List<Known> known = new ArrayList<>();
  private final Map<ReplicaId, Assigning> assigning = new HashMap<>();
  private long views;
  private long done;
  private long refused;

  public ProgramCheck(Unit unit) {
    this.unit = unit;
    this.takes = new TakeCheck(unit);
    this.moves = new MoveCheck(unit);
  }

  /** The check of programs that take elements of a set. */
  public TakeCheck takes() {
    return takes;
  }

  /** The check of programs that rename and copy keys. */
  public MoveCheck moves() {
    return moves;
  }

  /** How often what somebody saw was checked. */
  public long views() {
    return views;
  }

  /** How many programs were acknowledged. */
  public long done() {
    return done;
  }

  /** How many programs were not done since others had come between. */
  public long refused() {
    return refused;
  }

  /** How many programs were asked for. */
  public int begun() {
    return known.size();
  }

  private Assigning assigning(ReplicaId at) {
    return assigning.computeIfAbsent(at, a -> new Assigning());
  }

  /**
   * A program is about to be asked for.
   *
   * @param assigns what it assigns; 0 for nothing
   * @return its number, which it adds to the sets
   */
  public int begins(ReplicaId at, long assigns) {
    known.add(new Known(at, assigns));
    if (assigns > 0) {
      assigning(at).begun++;
      assigning(at).open++;
    }
    return known.size() - 1;
  }

  /**
   * Somebody is about to read a datacenter's register.
   *
   * @return for {@link #refused}: how many that assign it had begun; -1 if one was under way
   */
  public int before(ReplicaId at) {
    return assigning(at).open > 0 ? -1 : assigning(at).begun;
  }

  private Known ends(int number, Outcome outcome) {
    Known one = known.get(number);
    one.outcome = outcome;
    if (one.assigns > 0) {
      assigning(one.at).open--;
    }
    return one;
  }

  /** A caller is told that its program was done. */
  public void done(int number) {
    Known one = ends(number, Outcome.DONE);
    done++;
    if (one.assigns > 0) {
      Integer other = assigning(one.at).done.put(one.assigns, number);
      if (other != null) {
        throw wrong(
            "%s has done programs %d and %d, which had both read %d: an update is lost",
            one.at, other, number, one.assigns - 1);
      }
    }
  }

  /** A caller is told that its program has failed. */
  public void failed(int number) {
    ends(number, Outcome.NEVER);
  }

  /**
   * A caller is told that another one came between.
   *
   * @param before of {@link #before}, when it began to read
   */
  public void refused(int number, int before) {
    Known one = ends(number, Outcome.NEVER);
    refused++;
    if (one.assigns == 0 || assigning(one.at).begun == before + 1) {
      throw wrong("%s has not done program %d, and nothing had come between", one.at, number);
    }
  }

  /**
   * Somebody sees programs.
   *
   * @param isWhole whose programs become visible together to this reader
   */
  public void saw(ReplicaId at, View view, Predicate<ReplicaId> isWhole) {
    views++;
    BitSet any = view.any();
    Map<ReplicaId, Long> seen = new HashMap<>();
    for (int number = any.nextSetBit(0); number >= 0; number = any.nextSetBit(number + 1)) {
      Known one = number < known.size() ? known.get(number) : null;
      if (one == null || one.outcome == Outcome.NEVER) {
        throw wrong("%s shows program %d, which was never done: %s", at, number, view);
      }
      for (BitSet set : view.sets) {
        if (!set.get(number) && isWhole.test(one.at)) {
          throw wrong("%s shows a part of program %d of %s: %s", at, number, one.at, view);
        }
      }
      seen.merge(one.at, 1L, Long::sum);
    }
    view.counts.forEach(
        (by, count) -> {
          if (isWhole.test(by) && !count.equals(seen.getOrDefault(by, 0L))) {
            throw wrong("%s counts %d programs of %s, and shows others: %s", at, count, by, view);
          }
        });
  }

  /**
   * All that will ever be visible at a datacenter is.
   *
   * @param from the first of the programs that it shows
   * @param to the one after the last
   */
  public void ended(ReplicaId at, int from, int to, View view, Set<ReplicaId> lost) {
    BitSet any = view.any();
    for (int number = from; number < Math.min(to, known.size()); number++) {
      Known one = known.get(number);
      if (one.outcome == Outcome.DONE && !lost.contains(one.at) && !any.get(number)) {
        throw wrong("%s lacks program %d of %s: %s", at, number, one.at, view);
      }
    }
  }

  /** What a datacenter's register is in the end: each program that was done has added 1. */
  public void ended(ReplicaId at, ReplicaId of, long value) {
    Assigning all = assigning(of);
    long least = Math.max(all.done.size(), all.done.isEmpty() ? 0 : all.done.lastKey());
    if (value < least || value > all.done.size() + all.open) {
      throw wrong(
          "%s has %d in the register of %s, where %d programs were done, the last with %d, and %d"
              + " may have been",
          at, value, of, all.done.size(), least, all.open);
    }
  }

  private Violation wrong(String message, @Nullable Object... parameters) {
    return new Violation(unit + "/program", message, parameters);
  }
}
