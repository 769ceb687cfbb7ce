package io.osier.adaptation;

import io.osier.adaptation.PlacementPolicy.Keyspace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a keyspace costs at certain holders, by the rates that are told at present. Pure.
 *
 * @param what which holders these are, in words: {@value #NOW}, {@value #ALL}, {@value #CHEAPEST},
 *     "with" or "without" a datacenter; several where they are the same ones
 * @param holders that hold it then
 * @param isAllowed whether its laws allow that, and those that are new could get it at present
 * @param linkBytes that travel between datacenters in a second, for reads and for updates
 * @param paid what {@link PlacementPolicy#paid} says, in bytes a second: ways and storage count,
 *     too
 * @param storedBytes at all holders together
 * @param ways of what is asked, by the datacenter whose clients ask
 */
public record PlacementAdvice(
    List<String> what,
    SortedSet<String> holders,
    boolean isAllowed,
    double linkBytes,
    double paid,
    double storedBytes,
    SortedMap<String, Way> ways) {
  /** Those that hold it at present. */
  public static final String NOW = "now";

  /** All datacenters. */
  public static final String ALL = "all";

  /** Those that should hold it by the present rates, if moves cost nothing. */
  public static final String CHEAPEST = "cheapest";

  /**
   * The way of what is asked by a datacenter's clients.
   *
   * @param asks in a second
   * @param millis there and back to the nearest holder; 0 if it is one; empty if it was not
   *     measured
   */
  public record Way(double asks, OptionalDouble millis) {}

  public PlacementAdvice {
    what = List.copyOf(what);
    holders = Collections.unmodifiableSortedSet(new TreeSet<>(holders));
    ways = Collections.unmodifiableSortedMap(new TreeMap<>(ways));
  }

  /**
   * What a keyspace costs at present, and would cost at all datacenters, with one holder more, with
   * one less, and where it is cheapest. Those that hold it at present come first.
   */
  public static List<PlacementAdvice> of(PlacementPolicy policy, Keyspace keyspace) {
    Keyspace k = keyspace.settled();
    Set<String> all = new TreeSet<>(k.demands().keySet());
    all.addAll(k.candidates());
    all.addAll(k.holders());
    Map<Set<String>, List<String>> sets = new LinkedHashMap<>();
    add(sets, k.holders(), NOW);
    add(sets, policy.cheapest(k), CHEAPEST);
    for (String dc : all) {
      Set<String> other = new TreeSet<>(k.holders());
      if (other.add(dc)) {
        add(sets, other, "with " + dc);
      } else if (other.size() > 1) {
        other.remove(dc);
        add(sets, other, "without " + dc);
      }
    }
    add(sets, all, ALL);
    List<PlacementAdvice> advice = new ArrayList<>();
    sets.forEach((holders, what) -> advice.add(at(policy, k, holders, what)));
    return advice;
  }

  private static void add(Map<Set<String>, List<String>> sets, Set<String> holders, String what) {
    sets.computeIfAbsent(holders, h -> new ArrayList<>()).add(what);
  }

  private static PlacementAdvice at(
      PlacementPolicy policy, Keyspace k, Set<String> holders, List<String> what) {
    Set<String> added = new TreeSet<>(holders);
    added.removeAll(k.holders());
    SortedMap<String, Way> ways = new TreeMap<>();
    for (String dc : k.demands().keySet()) {
      double asks = PlacementPolicy.demand(k, dc).asks();
      if (asks > 0) {
        ways.put(
            dc,
            new Way(
                asks,
                holders.contains(dc)
                    ? OptionalDouble.of(0)
                    : PlacementPolicy.nearest(k, dc, holders)));
      }
    }
    return new PlacementAdvice(
        what,
        new TreeSet<>(holders),
        holders.size() >= k.least() && k.candidates().containsAll(added),
        new PlacementPolicy(0, policy.horizonSeconds()).paid(k, holders),
        policy.paid(k, holders),
        holders.size() * k.bytes(),
        ways);
  }

  /**
   * The median way of all that is asked, in milliseconds; empty if nothing is, or if it is one that
   * was not measured. Ways that were not measured count as the longest.
   */
  public OptionalDouble p50Millis() {
    double half = ways.values().stream().mapToDouble(Way::asks).sum() / 2;
    double asks = 0;
    List<Way> sorted = new ArrayList<>(ways.values());
    sorted.sort(Comparator.comparingDouble(way -> way.millis().orElse(Double.POSITIVE_INFINITY)));
    for (Way way : sorted) {
      asks += way.asks();
      if (asks >= half) {
        return way.millis();
      }
    }
    return OptionalDouble.empty();
  }
}
