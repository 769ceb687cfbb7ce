package io.osier.proxy.call;

import io.osier.core.Key;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.Keyspace.Row;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Pages that the homes of a keyspace have for one scan, as one. Pure. */
final class HomePages {
  private HomePages() {}

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
