package io.osier.datacenter.copies;

import io.osier.adaptation.SpaceSaving;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Which objects that others hold are read here most, and which of them are worth a copy, in periods
 * of time. Pure; used under its owner's lock.
 */
final class Interest {
  /** So many are counted at least: of fewer counters none would be kept for long. */
  private static final int COUNTED_MIN = 1_000;

  /**
   * Reads of longer keys, in bytes, are not counted: the counters' number is all that bounds them.
   */
  private static final int KEY_LENGTH_MAX = 256;

  /** Who could not be followed is asked again after so many periods at most. */
  private static final int REFUSED_PERIODS = 15;

  /**
   * A datacenter is not asked to be followed.
   *
   * @param until the first period in which it is asked again
   * @param periods for how many it was not asked; 0 if it has told something since
   */
  private record Pause(long until, int periods) {
    private static final Pause NONE = new Pause(0, 0);
  }

  /** An object whose reads are forwarded. */
  private static final class Counted {
    Demand demand = new Demand();
    String holder = "";

    /**
     * Another object takes the counter over; the demand may go on with a copy of the former one.
     */
    private static void clear(ObjectName former, Counted counted) {
      counted.demand = new Demand();
      counted.holder = "";
    }
  }

  /**
   * An object that is worth a copy.
   *
   * @param holder who has answered its last read
   */
  record Candidate(ObjectName name, String holder, Demand demand, double saved) {}

  private final CopyRule rule;
  private final SpaceSaving<ObjectName, Counted> counted;

  private final Map<String, Pause> paused = new HashMap<>();

  private long period;

  /** The period in which something was read last. */
  private long readIn;

  Interest(CopyRule rule, int counters) {
    this.rule = rule;
    this.counted = new SpaceSaving<>(Math.max(COUNTED_MIN, counters), Counted::new, Counted::clear);
  }

  /** An object of which there is no copy was read at a holder. */
  void read(ObjectName name, String holder, long size) {
    if (name.key().length() > KEY_LENGTH_MAX) {
      return;
    }
    Counted of = counted.offer(name);
    of.demand.read(1, size);
    of.holder = holder;
    readIn = period;
  }

  /** Reads of an object are answered by another holder now. */
  void isAt(ObjectName name, String holder) {
    Counted of = counted.note(name);
    if (of != null) {
      of.holder = holder;
    }
  }

  /**
   * A holder has told nothing of what becomes of objects. It may know nothing of copies, or only
   * have lost the link for a moment: so it is asked again soon, and then more and more seldom.
   */
  void refuses(String holder) {
    int last = paused.getOrDefault(holder, Pause.NONE).periods;
    pause(holder, Math.clamp(2L * last, 1, REFUSED_PERIODS));
  }

  /** What a holder tells of objects cannot be right. */
  void distrusts(String holder) {
    pause(holder, REFUSED_PERIODS);
  }

  private void pause(String holder, int periods) {
    paused.put(holder, new Pause(period + periods, periods));
  }

  /** A holder tells what becomes of objects. */
  void tells(String holder) {
    paused.computeIfPresent(holder, (dc, pause) -> new Pause(pause.until, 0));
  }

  /** Another period begins. */
  void nextPeriod() {
    period++;
  }

  /** Whether a copy is still worth it, now that a period is over. */
  boolean isWorthIt(Demand demand, double roundTripMillis) {
    demand.periodEnds();
    return rule.stays(demand, roundTripMillis);
  }

  /** What a copy saves of what its reads would cost if they were forwarded. */
  double saved(Demand demand, double roundTripMillis) {
    return rule.saved(demand, roundTripMillis);
  }

  /** A copy has ended that was not worth it, or found no room. */
  void wasNotWorthIt(Demand demand) {
    demand.wasNotWorthIt(period);
  }

  /**
   * Those that are worth a copy, now that a period is over, best first.
   *
   * @param isCopied of which there are copies
   * @param roundTripMillis the way to a holder and back
   */
  List<Candidate> candidates(
      Predicate<ObjectName> isCopied, ToDoubleFunction<String> roundTripMillis) {
    List<Candidate> candidates = new ArrayList<>();
    Map<String, Double> ways = new HashMap<>();
    for (SpaceSaving.Entry<ObjectName, Counted> entry : counted.top(counted.size())) {
      if (isCopied.test(entry.item())) {
        continue; // its demand is the copy's
      }
      Counted of = entry.note();
      of.demand.periodEnds();
      double way = ways.computeIfAbsent(of.holder, roundTripMillis::applyAsDouble);
      if (rule.begins(of.demand, way, period)
          && paused.getOrDefault(of.holder, Pause.NONE).until <= period) {
        candidates.add(
            new Candidate(entry.item(), of.holder, of.demand, rule.saved(of.demand, way)));
      }
    }
    counted.halve();
    candidates.sort(Comparator.comparingDouble(Candidate::saved).reversed());
    return candidates;
  }

  /** Whether nothing was read for long. */
  boolean isIdle() {
    return period - readIn > CopyRule.PAUSE_MAX;
  }
}
