package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementAdvice;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * A keyspace whose holders follow its load, as an operator sees it.
 *
 * @param placement adaptive, or pinned
 * @param holders each with its state, in words
 * @param decider the datacenter that decides at present; empty if none can
 * @param next what happens next, or what is waited for, and why, in words
 * @param loads its load, by datacenter
 * @param advice its cost at the present holders, which comes first, and at others
 */
public record PlacementView(
    String keyspace,
    String placement,
    SortedMap<String, String> holders,
    String decider,
    String next,
    SortedMap<String, Load> loads,
    List<PlacementAdvice> advice) {
  public PlacementView {
    holders = Collections.unmodifiableSortedMap(new TreeMap<>(holders));
    loads = Collections.unmodifiableSortedMap(new TreeMap<>(loads));
    advice = List.copyOf(advice);
  }

  /** Returns the cost at present. */
  public PlacementAdvice now() {
    return advice.getFirst();
  }

  /** Returns the cost where it is lowest. */
  public PlacementAdvice cheapest() {
    return advice.stream()
        .filter(a -> a.what().contains(PlacementAdvice.CHEAPEST))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the holders, and what happens next, in words. */
  public String summary() {
    StringJoiner held = new StringJoiner(", ");
    holders.forEach((dc, state) -> held.add(state.equals("holds") ? dc : dc + " (" + state + ")"));
    return "%s, %s: held by %s\n  %s decides: %s"
        .formatted(keyspace, placement, held, decider.isEmpty() ? "nobody" : decider, next);
  }

  /** Returns the figures behind that, in words. */
  public String figures() {
    StringBuilder text = new StringBuilder();
    loads.forEach((dc, load) -> text.append("  %s: %s\n".formatted(dc, load.text())));
    return text.append(
            String.format(
                Locale.ROOT,
                "  all pay %.0f B/s, and would pay %.0f B/s if it were held by %s",
                now().paid(),
                cheapest().paid(),
                String.join(", ", cheapest().holders())))
        .toString();
  }
}
