package io.osier.proxy.call;

import io.osier.core.Key;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.Keyspace.Row;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Pages that the homes of a keyspace have for one scan, as one. A home of which no row was shown is
 * not asked again before its first one. Used for one page after the other.
 */
final class HomePages {
  /** By home of which nothing was shown, where its rows begin; empty where there are none. */
  private volatile Map<String, Optional<Key>> ahead = Map.of();

  /** What a home has from a key on, where that is known to be nothing yet; empty if not. */
  Optional<Page> unasked(String home, Optional<Key> from) {
    Optional<Key> begins = ahead.get(home);
    if (begins == null
        || (begins.isPresent() && (from.isEmpty() || begins.get().compareTo(from.get()) <= 0))) {
      return Optional.empty();
    }
    return Optional.of(new Page(List.of(), begins));
  }

  /** As {@link #merged(List, int)}; remembers of which homes it has nothing. */
  Page merged(List<String> homes, List<Page> pages, int limit) {
    Page merged = merged(pages, limit);
    Map<String, Optional<Key>> next = new HashMap<>();
    for (int i = 0; i < homes.size(); i++) {
      Page page = pages.get(i);
      Optional<Key> first = page.rows().stream().findFirst().map(Row::key).or(page::next);
      boolean isShown =
          first.isPresent()
              && (merged.next().isEmpty() || first.get().compareTo(merged.next().get()) < 0);
      if (!isShown) {
        next.put(homes.get(i), first);
      }
    }
    ahead = next;
    return merged;
  }

  /**
   * The rows in the order of their keys, up to where the first of the pages ends: what is behind
   * that is asked for again, since that home may have more before it.
   *
   * @param limit at most so many rows, but all of the last one's key
   */
  static Page merged(List<Page> pages, int limit) {
    Optional<Key> next =
        pages.stream().flatMap(page -> page.next().stream()).min(Comparator.naturalOrder());
    List<Row> rows =
        pages.stream()
            .flatMap(page -> page.rows().stream())
            .filter(row -> next.isEmpty() || row.key().compareTo(next.get()) < 0)
            .sorted(Comparator.comparing(Row::key)) // stable: of one key as its home has them
            .toList();
    int end = Math.min(limit, rows.size());
    while (end < rows.size() && rows.get(end).key().equals(rows.get(end - 1).key())) {
      end++;
    }
    return end == rows.size()
        ? new Page(rows, next)
        : new Page(List.copyOf(rows.subList(0, end)), Optional.of(rows.get(end).key()));
  }
}
