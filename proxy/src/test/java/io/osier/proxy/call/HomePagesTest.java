package io.osier.proxy.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.Keyspace.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class HomePagesTest {
  private static final List<String> HOMES = List.of("k", "k@eu", "k@us");

  private static Row row(Key key) {
    return new Row(key, CrdtType.EW_FLAG, new Reading.Flag(true));
  }

  /** The page of one home: it may end anywhere, but before its next key. */
  private static Page page(TreeSet<Key> home, Key from, int limit, Random random) {
    List<Key> all = List.copyOf(home.tailSet(from));
    int rows = Math.min(all.size(), random.nextInt(limit + 1));
    Optional<Key> next = rows < all.size() ? Optional.of(all.get(rows)) : Optional.empty();
    return new Page(all.subList(0, rows).stream().map(HomePagesTest::row).toList(), next);
  }

  @Test
  void pagesOfAllHomes_haveEachKeyOnce_inOrder_whereverTheirsEnd() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 200; i++) {
      List<TreeSet<Key>> homes = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
      TreeSet<Key> all = new TreeSet<>();
      for (int n = random.nextInt(30); n > 0; n--) {
        Key key = Key.of("k" + random.nextInt(1_000));
        if (all.add(key)) {
          homes.get(random.nextInt(homes.size())).add(key);
        }
      }
      List<Key> shown = new ArrayList<>();
      Optional<Key> from = Optional.of(Key.of("k"));
      HomePages pages = new HomePages();
      for (int asked = 0; from.isPresent() && asked < 1_000; asked++) {
        Key at = from.get();
        int limit = 1 + random.nextInt(4);
        Page merged =
            pages.merged(
                HOMES,
                IntStream.range(0, HOMES.size())
                    .mapToObj(
                        h ->
                            pages
                                .unasked(HOMES.get(h), Optional.of(at))
                                .orElseGet(() -> page(homes.get(h), at, limit, random)))
                    .toList(),
                limit);
        assertThat(merged.rows()).as("seed %d", seed).hasSizeLessThanOrEqualTo(limit);
        merged.rows().forEach(row -> shown.add(row.key()));
        from = merged.next();
      }
      assertThat(shown).as("seed %d", seed).isSortedAccordingTo(Comparator.naturalOrder());
      assertThat(shown).as("seed %d", seed).containsExactlyElementsOf(all);
    }
  }

  /** As a page of one home has them: the next one begins behind a key. */
  @Test
  void objectsOfAKey_areNotParted_byTheLimit() {
    Row a = row(Key.of("a"));
    Row other = new Row(a.key(), CrdtType.PN_COUNTER, new Reading.Count(1));
    Row b = row(Key.of("b"));
    Page eu = new Page(List.of(a, other), Optional.empty());
    Page us = new Page(List.of(b), Optional.empty());
    assertThat(HomePages.merged(List.of(us, eu), 1))
        .isEqualTo(new Page(List.of(a, other), Optional.of(b.key())));
    assertThat(HomePages.merged(List.of(us, eu), 3))
        .isEqualTo(new Page(List.of(a, other, b), Optional.empty()));
  }

  /** All keys of a home begin with its name, so that its rows come together. */
  @Test
  void homeIsNotAskedAgain_beforeItsFirstRow() {
    Page eu = new Page(List.of(row(Key.of("eu:1"))), Optional.of(Key.of("eu:2")));
    Page us = new Page(List.of(row(Key.of("us:1"))), Optional.empty());
    Page none = new Page(List.of(), Optional.empty());
    HomePages pages = new HomePages();
    assertThat(pages.unasked("k@us", Optional.empty())).isEmpty();
    assertThat(pages.merged(HOMES, List.of(none, eu, us), 9)).isEqualTo(eu);
    assertThat(pages.unasked("k", eu.next())).contains(none);
    assertThat(pages.unasked("k@eu", eu.next())).isEmpty();
    Page later = new Page(List.of(), Optional.of(Key.of("us:1")));
    assertThat(pages.unasked("k@us", eu.next())).contains(later);
    Page last = new Page(List.of(row(Key.of("eu:2"))), Optional.empty());
    assertThat(pages.merged(HOMES, List.of(none, last, later), 9))
        .isEqualTo(new Page(last.rows(), later.next()));
    assertThat(pages.unasked("k@us", later.next())).isEmpty();
  }
}
