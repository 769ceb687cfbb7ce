package io.osier.crdt.types;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.OsierException;
import io.osier.crdt.JoinContext;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.tree.TreeNode;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Joins a store of entries with another one of its type, a state or a delta, and looks only at what
 * may differ.
 */
final class EntryJoin<S extends EntryStore<S, K, V>, K extends Comparable<K>, V> {
  /**
   * When this joins a state with far fewer entries: the entries that remain, or that change, are
   * few if they are at most one of so many of all.
   */
  private static final int FEW_SHARE = 16;

  private final S store;
  private final JoinContext joining;

  /** The store's entries in memory. */
  private final EntryTree<K, V> cells;

  /** The store's other entries; null if there are none. */
  private final @Nullable BackingStore<K, V> behind;

  EntryJoin(S store, JoinContext joining) {
    this.store = store;
    this.joining = joining;
    this.cells = store.inMemory();
    this.behind = store.behind();
  }

  S with(S other) {
    if (joining.rightFull() && !joining.leftFull()) {
      return other.join(store, joining.swapped());
    }
    if (joining.rightFull() && store.leavesNothing() && isMuchLess(other)) {
      Set<K> unseen = unseenBy(joining.right(), joining.left());
      return unseen == null ? remaining(other) : beside(other, unseen);
    }
    EntryEditor<S, K, V> result = store.edit();
    if (joining.rightFull()) {
      joinAll(result, other);
    } else if (other.behind() == null && other.inMemory().root() instanceof TreeNode.Leaf leaf) {
      joinLeaf(result, leaf);
    } else if (behind != null && (long) FEW_SHARE * other.entryCount() > store.entryCount()) {
      return joinMany(other);
    } else {
      joinEach(result, other);
    }
    return result.done();
  }

  private void joinEach(EntryEditor<S, K, V> result, S delta) {
    for (TreeEntry<K, V> entry : delta.cells()) {
      K key = entry.key();
      joinInto(result, key, store.find(key), entry.cell());
    }
  }

  /**
   * Whether a state has far fewer entries than this, as that of a set that was cleared and perhaps
   * refilled.
   */
  private boolean isMuchLess(S state) {
    return state.isEmpty()
        || (state.behind() == null && 2L * state.entryCount() < store.entryCount());
  }

  /**
   * Returns the keys of entries that may have dots that a context has not seen: mostly there are
   * none.
   *
   * @return null if every entry may, or most of them
   */
  private @Nullable Set<K> unseenBy(CausalContext seen, CausalContext context) {
    if (seen.covers(context)) {
      return Set.of();
    }
    List<byte[]> recent = behind == null ? null : behind.recent().unseenBy(seen);
    if (recent == null || 2L * (cells.size() + recent.size()) > store.entryCount()) {
      return null;
    }
    Set<K> keys = new TreeSet<>(); // clients choose the keys, and may choose some with equal hashes
    for (TreeEntry<K, V> entry : cells) {
      keys.add(entry.key());
    }
    for (byte[] key : recent) {
      keys.add(store.readOrderedKey(key));
    }
    return keys;
  }

  /**
   * Returns what is left of this beside a state that has removed most of it. Entries that the state
   * does not mention, and that have no dot which it has not seen, need not be looked at.
   *
   * @param unseen the keys of all entries that may have such dots
   */
  private S beside(S state, Set<K> unseen) {
    EntryEditor<S, K, V> rest = store.delta();
    for (TreeEntry<K, V> entry : state.cells()) {
      putJoined(rest, entry.key(), entry.cell());
    }
    for (K key : unseen) {
      if (state.find(key) == null) {
        putJoined(rest, key, store.emptyCell(key));
      }
    }
    return rest.done();
  }

  private void putJoined(EntryEditor<S, K, V> rest, K key, V theirs) {
    V cell = joined(key, store.find(key), theirs);
    if (cell != null) {
      rest.put(key, cell);
    }
  }

  /**
   * As {@link #beside} where any entry of this may have dots that the other state has not seen: all
   * are looked at. Of a state that was cleared, what remains is made anew. But a state that has
   * hardly seen this set has far fewer entries, too: then all but the changed ones stay where they
   * are, which for a decomposed object is outside. Mostly one of the two is few, and the first walk
   * has all of it.
   */
  private S remaining(S state) {
    int few = store.entryCount() / FEW_SHARE;
    Outcome outcome = new Outcome(few);
    forBoth(state, outcome);
    boolean isKept = outcome.changedCount <= outcome.restCount;
    if ((isKept ? outcome.changedCount : outcome.restCount) <= few) {
      return (isKept ? outcome.changed : outcome.rest).done();
    }
    EntryEditor<S, K, V> result = isKept ? store.edit() : store.delta();
    if (isKept) {
      joinAll(result, state);
    } else {
      forBoth(
          state,
          (key, mine, theirs) -> {
            V cell = joined(key, mine, theirs);
            if (cell != null) {
              result.put(key, cell);
            }
          });
    }
    return result.done();
  }

  /**
   * Counts the entries that a state leaves of this, and those that it changes; has each of them if
   * they are few.
   */
  private final class Outcome implements Both<K, V> {
    final EntryEditor<S, K, V> rest = store.delta();
    final EntryEditor<S, K, V> changed = store.edit();
    int restCount;
    int changedCount;
    private final int few;

    Outcome(int few) {
      this.few = few;
    }

    @Override
    public void take(K key, @Nullable V mine, V theirs) {
      V cell = joined(key, mine, theirs);
      if (cell != null && ++restCount <= few) {
        rest.put(key, cell);
      }
      if (isChanged(mine, cell) && ++changedCount <= few) {
        change(changed, key, mine, cell);
      }
    }
  }

  /**
   * Joins a delta's only leaf, as nearly all have it: without a walk, which costs as much as a
   * join.
   */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  private void joinLeaf(EntryEditor<S, K, V> result, TreeNode.Leaf leaf) {
    for (int i = 0; i < leaf.size; i++) {
      K key = (K) leaf.keys[i];
      joinInto(result, key, store.find(key), (V) leaf.cells[i]);
    }
  }

  /**
   * Joins a delta that mentions much of what lies outside, such as the clearing of a map: a walk
   * reads it page by page, where each entry would be looked up separately.
   */
  private S joinMany(S delta) {
    EntryEditor<S, K, V> result = store.edit();
    try {
      Iterator<TreeEntry<K, V>> all = store.cells().iterator();
      TreeEntry<K, V> here = next(all);
      for (TreeEntry<K, V> entry : delta.cells()) {
        K key = entry.key();
        while (here != null && here.key().compareTo(key) < 0) {
          here = next(all);
        }
        V mine = here != null && here.key().compareTo(key) == 0 ? here.cell() : null;
        joinInto(result, key, mine, entry.cell());
      }
    } catch (OsierException e) { // a damaged entry, which the delta need not mention
      result = store.edit();
      joinEach(result, delta);
    }
    return result.done();
  }

  /** Joins two states: an entry that only the left side has may have been removed on the right. */
  private void joinAll(EntryEditor<S, K, V> result, S other) {
    BackingStore<K, V> back = other.behind();
    if (behind != null && back != null && behind.entries() == back.entries()) {
      joinChanged(result, other);
    } else {
      forBoth(other, (key, mine, theirs) -> joinInto(result, key, mine, theirs));
    }
  }

  /** Takes what two states have of a key. */
  @FunctionalInterface
  private interface Both<K, V> {
    /**
     * Takes a key of one or both.
     *
     * @param mine this state's cell; null if it has none
     * @param theirs the other state's cell; empty if it has none
     */
    void take(K key, @Nullable V mine, V theirs);
  }

  /** Walks through this and another state, in the order of the keys. */
  private void forBoth(S other, Both<K, V> both) {
    Iterator<TreeEntry<K, V>> lefts = store.cells().iterator();
    Iterator<TreeEntry<K, V>> rights = other.cells().iterator();
    TreeEntry<K, V> left = next(lefts);
    TreeEntry<K, V> right = next(rights);
    while (left != null || right != null) {
      int order = left == null ? 1 : right == null ? -1 : left.key().compareTo(right.key());
      if (order < 0) {
        TreeEntry<K, V> mine = requireNonNull(left);
        both.take(mine.key(), mine.cell(), store.emptyCell(mine.key()));
      } else {
        TreeEntry<K, V> theirs = requireNonNull(right);
        V mine = order == 0 ? requireNonNull(left).cell() : null;
        both.take(theirs.key(), mine, theirs.cell());
        right = next(rights);
      }
      left = order <= 0 ? next(lefts) : left;
    }
  }

  /**
   * Joins two versions of a decomposed object: the entries that neither has in memory are the same.
   */
  private void joinChanged(EntryEditor<S, K, V> result, S other) {
    for (TreeEntry<K, V> entry : cells) {
      joinInto(result, entry.key(), store.find(entry.key()), other.cell(entry.key()));
    }
    for (TreeEntry<K, V> entry : other.inMemory()) {
      if (cells.get(entry.key()) == null) {
        joinInto(result, entry.key(), store.find(entry.key()), other.cell(entry.key()));
      }
    }
  }

  private static <T> @Nullable T next(Iterator<T> iterator) {
    return iterator.hasNext() ? iterator.next() : null;
  }

  /**
   * Joins a cell into a copy of this.
   *
   * @param mine this one's cell, or null
   */
  private void joinInto(EntryEditor<S, K, V> result, K key, @Nullable V mine, V theirs) {
    V cell = joined(key, mine, theirs);
    if (isChanged(mine, cell)) {
      change(result, key, mine, cell);
    }
  }

  /**
   * Returns the join of two cells of a key.
   *
   * @param mine this one's cell, or null
   * @return null if the key is gone
   */
  private @Nullable V joined(K key, @Nullable V mine, V theirs) {
    V cell = store.joinCells(mine == null ? store.emptyCell(key) : mine, theirs, joining);
    return joining.full() && store.isEmptyCell(cell) ? null : cell;
  }

  private boolean isChanged(@Nullable V mine, @Nullable V joined) {
    return joined != mine && (joined == null || !staysOutside(mine, joined));
  }

  private void change(EntryEditor<S, K, V> result, K key, @Nullable V mine, @Nullable V joined) {
    if (joined != null) {
      result.replace(key, mine, joined);
    } else if (mine != null) {
      result.remove(key, mine);
    }
  }

  /** Whether a cell need not be put into memory: it is equal, though another object. */
  private boolean staysOutside(@Nullable V mine, V joined) {
    return behind != null && joined.equals(mine);
  }
}
