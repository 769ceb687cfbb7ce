package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The entries that differ between two versions of a map. */
final class TreeChangesTest {
  /** Clients choose the keys, so that many may have one hash: nothing may depend on it. */
  private record Unhashed(int number) implements Comparable<Unhashed> {
    @Override
    public int compareTo(Unhashed other) {
      return Integer.compare(number, other.number);
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Unhashed u && number == u.number;
    }

    @Override
    public int hashCode() {
      throw new AssertionError("a key's hash was asked for");
    }
  }

  private record Cell(boolean isGone) {}

  /** A map with many leaves, some of which stay as they were. */
  @Property(tries = 300)
  void changedEntries_areThoseWithAnotherCell(
      @ForAll @IntRange(max = 2_000) int size,
      @ForAll @Size(max = 30) List<@IntRange(max = 4_100) Integer> changes) {
    TreeEdit<Unhashed, Cell> first = EntryTree.<Unhashed, Cell>empty().edit();
    for (int i = 0; i < size; i++) {
      first.put(new Unhashed(2 * i), new Cell(false));
    }
    EntryTree<Unhashed, Cell> before = first.done();
    TreeEdit<Unhashed, Cell> next = before.edit();
    TreeMap<Unhashed, Cell> expected = new TreeMap<>();
    for (int key : changes) {
      Cell cell = new Cell(key % 3 == 0);
      next.put(new Unhashed(key), cell);
      expected.put(new Unhashed(key), cell);
    }

    EntryTree<Unhashed, Cell> changed = TreeChanges.since(before, next.done(), Cell::isGone);
    assertThat(changed.size()).isEqualTo(expected.size());
    for (TreeEntry<Unhashed, Cell> entry : changed) {
      assertThat(entry.cell()).isSameAs(expected.get(entry.key()));
    }
  }

  @Test
  void removedEntry_countsAsChanged_whereItsLeafWas() {
    EntryTree<Unhashed, Cell> before =
        EntryTree.<Unhashed, Cell>empty().put(new Unhashed(1), new Cell(true));
    EntryTree<Unhashed, Cell> after = before.put(new Unhashed(2), new Cell(false));
    assertThat(TreeChanges.since(before, after, Cell::isGone).size()).isEqualTo(2);
    assertThat(TreeChanges.since(before, after, cell -> false).size()).isEqualTo(1);
    assertThat(TreeChanges.since(before, before, Cell::isGone).isEmpty()).isTrue();
  }
}
