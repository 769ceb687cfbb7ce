package io.osier.datacenter.placement;

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
 * @param decider who decides at present; empty if nobody can
 * @param next what happens next, or what is waited for, and why, in words
 * @param loads by datacenter, what is asked of it
 * @param cheapest those that should hold it by the present rates, if moves cost nothing
 * @param paid what all pay at present, in bytes a second
 * @param least what all would pay then
 */
public record PlacementView(
    String keyspace,
    String placement,
    SortedMap<String, String> holders,
    String decider,
    String next,
    SortedMap<String, Load> loads,
    List<String> cheapest,
    double paid,
    double least) {
  public PlacementView {
    holders = Collections.unmodifiableSortedMap(new TreeMap<>(holders));
    loads = Collections.unmodifiableSortedMap(new TreeMap<>(loads));
    cheapest = List.copyOf(cheapest);
  }

  /** Who holds it, and what happens next. */
  public String summary() {
    StringJoiner held = new StringJoiner(", ");
    holders.forEach((dc, state) -> held.add(state.equals("holds") ? dc : dc + " (" + state + ")"));
    return "%s, %s: held by %s\n  %s decides: %s"
        .formatted(keyspace, placement, held, decider.isEmpty() ? "nobody" : decider, next);
  }

  /** What that rests on. */
  public String figures() {
    StringBuilder text = new StringBuilder();
    loads.forEach((dc, load) -> text.append("  %s: %s\n".formatted(dc, load.text())));
    return text.append(
            String.format(
                Locale.ROOT,
                "  all pay %.0f B/s, and would pay %.0f B/s if it were held by %s",
                paid,
                least,
                String.join(", ", cheapest)))
        .toString();
  }
}
