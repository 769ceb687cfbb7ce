package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Programs that put their number into their datacenter's bag and take some numbers from it, from
 * what their callers are told alone: nothing is taken twice, nor what was never put there; what was
 * taken is gone in the end, and what was not is there.
 */
public final class TakeCheck {
  private static final class Bag {
    /** Programs without an answer, with how many each may take. */
    final Map<Long, Integer> open = new HashMap<>();

    final Set<Long> put = new HashSet<>();
    final Set<Long> taken = new HashSet<>();
  }

  private final Unit unit;
  private final Map<ReplicaId, Bag> bags = new HashMap<>();
  private long taken;

  TakeCheck(Unit unit) {
    this.unit = unit;
  }

  /** How many numbers were taken. */
  public long taken() {
    return taken;
  }

  private Bag bag(ReplicaId of) {
    return bags.computeIfAbsent(of, o -> new Bag());
  }

  /**
   * A program is about to be asked for.
   *
   * @param most how many it takes at most
   */
  public void begins(ReplicaId at, long number, int most) {
    bag(at).open.put(number, most);
  }

  /** A caller is told that its program was done, and what it has taken. */
  public void done(ReplicaId at, long number, List<Long> some) {
    Bag bag = bag(at);
    bag.open.remove(number);
    bag.put.add(number);
    for (long one : some) {
      boolean known = bag.put.contains(one) || bag.open.containsKey(one);
      if (!known || !bag.taken.add(one)) {
        throw wrong(
            "program %d of %s has taken %d, which %s",
            number, at, one, known ? "another one has taken" : "was not put there");
      }
      taken++;
    }
  }

  /** A caller is told that its program was not done. */
  public void never(ReplicaId at, long number) {
    Bag bag = bag(at);
    bag.open.remove(number);
    if (bag.taken.contains(number)) {
      throw wrong("program %d of %s was not done, and another one has taken it", number, at);
    }
  }

  /** What is in a datacenter's bag when all that will ever be visible is. */
  public void ended(ReplicaId at, ReplicaId of, Set<Long> seen) {
    Bag bag = bag(of);
    for (long one : seen) {
      boolean known = bag.put.contains(one) || bag.open.containsKey(one);
      if (!known || bag.taken.contains(one)) {
        throw wrong(
            "%s shows %d in the bag of %s, which %s",
            at, one, of, known ? "was taken" : "was not put there");
      }
    }
    Set<Long> lacking = new TreeSet<>(bag.put);
    lacking.removeAll(seen);
    lacking.removeAll(bag.taken);
    int most = bag.open.values().stream().mapToInt(n -> n).sum();
    if (lacking.size() > most) {
      throw wrong(
          "%s lacks %s in the bag of %s; programs without an answer took %d at most",
          at, lacking, of, most);
    }
  }

  private Violation wrong(String message, @Nullable Object... parameters) {
    return new Violation(unit + "/take", message, parameters);
  }
}
