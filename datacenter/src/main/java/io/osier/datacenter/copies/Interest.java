package io.osier.datacenter.copies;

import io.osier.adaptation.SpaceSaving;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Counts which objects of other datacenters are read here most, and decides at the end of each
 * period which of them are worth a copy. Pure; guarded by its owner's lock.
 */
final class Interest {
  /** The least number of counters: with fewer of them none would be kept for long. */
  private static final int COUNTED_MIN = 1_000;

  /**
   * The longest key that is counted, in bytes, since only the number of counters bounds their
   * memory.
   */
  private static final int KEY_LENGTH_MAX = 256;

  /** The most periods after which a holder that told nothing is asked again. */
  private static final int REFUSED_PERIODS = 15;

  /**
   * A time in which a holder is not asked to send changes.
   *
   * @param until the first period in which it is asked again
   * @param periods its length in periods; 0 if the holder has sent something since
   */
  private record Pause(long until, int periods) {
    private static final Pause NONE = new Pause(0, 0);
  }

  /** An object whose reads are forwarded. */
  private static final class Counted {
    Demand demand = new Demand();
    String holder = "";

    /** Gives the counter to another object; a copy of the former one may keep the old demand. */
    private static void clear(ObjectName former, Counted counted) {
      counted.demand = new Demand();
      counted.holder = "";
    }
  }

  /**
   * An object that is worth a copy.
   *
   * @param holder the datacenter that answered its last read
   */
  record Candidate(ObjectName name, String holder, Demand demand, double saved) {}

  private final CopyRule rule;
  private final SpaceSaving<ObjectName, Counted> counted;

  /** The holders that are not asked at present, by name. */
  private final Map<String, Pause> paused = new HashMap<>();

  private long period;

  /** The period of the last read. */
  private long readIn;

  Interest(CopyRule rule, int counters) {
    this.rule = rule;
    this.counted = new SpaceSaving<>(Math.max(COUNTED_MIN, counters), Counted::new, Counted::clear);
  }

  /** Notes that a holder has answered a read of an object without a copy, with so many bytes. */
  void read(ObjectName name, String holder, long size) {
    if (name.key().length() > KEY_LENGTH_MAX) {
      return;
    }
    Counted of = counted.offer(name);
    of.demand.read(1, size);
    of.holder = holder;
    readIn = period;
  }

  /** Notes that another holder answers the reads of an object now. */
  void isAt(ObjectName name, String holder) {
    Counted of = counted.note(name);
    if (of != null) {
      of.holder = holder;
    }
  }

  /**
   * Notes that a holder has sent nothing about followed objects. It may not know copies, or may
   * only have lost the link for a moment, so it is asked again soon, and then more and more seldom.
   */
  void refuses(String holder) {
    int last = paused.getOrDefault(holder, Pause.NONE).periods;
    pause(holder, Math.clamp(2L * last, 1, REFUSED_PERIODS));
  }

  /** Notes that what a holder sends about objects cannot be right. */
  void distrusts(String holder) {
    pause(holder, REFUSED_PERIODS);
  }

  private void pause(String holder, int periods) {
    paused.put(holder, new Pause(period + periods, periods));
  }

  /** Notes that a holder sends the changes of objects. */
  void tells(String holder) {
    paused.computeIfPresent(holder, (dc, pause) -> new Pause(pause.until, 0));
  }

  /** Begins the next period. */
  void nextPeriod() {
    period++;
  }

  /** Ends the period of a copy's demand, and returns whether the copy is still worth it. */
  boolean isWorthIt(Demand demand, double roundTripMillis) {
    demand.periodEnds();
    return rule.stays(demand, roundTripMillis);
  }

  /** A copy, and what it saves in a period, in bytes: what its reads would cost if forwarded. */
  record Saving(Copy copy, double saved) {}

  /** Returns the copies, first those that save least. */
  Iterator<Saving> leastFirst(List<Copy> copies, ToDoubleFunction<String> roundTripMillis) {
    return copies.stream()
        .map(
            copy -> {
              double way = roundTripMillis.applyAsDouble(copy.of().holder());
              return new Saving(copy, rule.saved(copy.demand(), way));
            })
        .sorted(Comparator.comparingDouble(Saving::saved))
        .iterator();
  }

  /** Notes that a copy was not worth it, or found no room. */
  void wasNotWorthIt(Demand demand) {
    demand.wasNotWorthIt(period);
  }

  /**
   * Ends the period of all objects without a copy, and returns those that are worth one, best
   * first.
   *
   * @param isCopied whether an object has a copy
   * @param roundTripMillis returns the round trip to a holder, in milliseconds; called once for
   *     each holder
   */
  List<Candidate> candidates(
      Predicate<ObjectName> isCopied, ToDoubleFunction<String> roundTripMillis) {
    List<Candidate> candidates = new ArrayList<>();
    Map<String, Double> ways = new HashMap<>();
    for (SpaceSaving.Entry<ObjectName, Counted> entry : counted.top(counted.size())) {
      if (isCopied.test(entry.item())) {
        continue; // the copy keeps its demand
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

  /** Returns whether nothing was read for {@link CopyRule#PAUSE_MAX} periods. */
  boolean isIdle() {
    return period - readIn > CopyRule.PAUSE_MAX;
  }
}
