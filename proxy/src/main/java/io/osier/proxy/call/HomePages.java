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
 * Merges the homes' pages of one scan into one page. A home whose first row comes after the merged
 * page is not asked again until the scan gets there. For one thread at a time.
 */
final class HomePages {
  /**
   * For each home that has no row in the last merged page, its first key; empty if it has no more
   * rows.
   */
  private volatile Map<String, Optional<Key>> ahead = Map.of();

  /**
   * Returns a home's page from a key on, if it is known to have no row yet; empty if it must be
   * asked.
   */
  Optional<Page> unasked(String home, Optional<Key> from) {
    Optional<Key> begins = ahead.get(home);
    if (begins == null
        || (begins.isPresent() && (from.isEmpty() || begins.get().compareTo(from.get()) <= 0))) {
      return Optional.empty();
    }
    return Optional.of(new Page(List.of(), begins));
  }

  /** As {@link #merged(List, int)}; remembers which homes have no row in the merged page. */
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
   * Merges rows in the order of their keys, up to the key at which the first of the pages ends.
   * Rows after that key are requested again, since the page's home may have more rows before them.
   *
   * @param limit the most rows; exceeded only to include all rows of the last key
   */
  static Page merged(List<Page> pages, int limit) {
    Optional<Key> next =
        pages.stream().flatMap(page -> page.next().stream()).min(Comparator.naturalOrder());
    List<Row> rows =
        pages.stream()
            .flatMap(page -> page.rows().stream())
            .filter(row -> next.isEmpty() || row.key().compareTo(next.get()) < 0)
            .sorted(Comparator.comparing(Row::key)) // stable: rows of one key keep their order
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
