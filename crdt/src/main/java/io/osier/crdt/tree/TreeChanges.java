package io.osier.crdt.tree;

import static java.util.Objects.requireNonNull;

import io.osier.crdt.tree.TreeNode.Inner;
import io.osier.crdt.tree.TreeNode.Leaf;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the entries that differ between two versions of an {@link EntryTree}, by the leaves that
 * they do not share: all entries that were changed, even if they were changed back, and perhaps
 * some whose leaf was packed or unpacked.
 */
public final class TreeChanges {
  private TreeChanges() {}

  /**
   * Returns the entries of a version that were changed since another one.
   *
   * @param before a version from which no key was removed since
   * @param isGone whether a cell means that the entry was removed. Such cells cannot be told apart
   *     by their identity, so they count as changed: the entry may have existed in between
   */
  public static <K extends Comparable<K>, V> EntryTree<K, V> since(
      EntryTree<K, V> before, EntryTree<K, V> after, Predicate<V> isGone) {
    List<TreeNode> former = leaves(before);
    List<TreeNode> present = leaves(after);
    Set<TreeNode> shared = identities(present);
    shared.retainAll(identities(former));
    Unshared<K, V> known = new Unshared<>(former, shared);
    TreeEdit<K, V> changed = EntryTree.<K, V>empty().edit();
    for (Unshared<K, V> now = new Unshared<>(present, shared); now.isAtEntry(); now.next()) {
      K key = now.key();
      V cell = now.cell();
      while (known.isAtEntry() && known.key().compareTo(key) < 0) {
        known.next();
      }
      boolean isAsItWas =
          known.isAtEntry() && known.key().compareTo(key) == 0 && known.cell() == cell;
      if (!isAsItWas || isGone.test(cell)) {
        changed.put(key, cell);
      }
    }
    return changed.done();
  }

  /**
   * Walks over the entries of the leaves that two versions do not share, in the order of the keys.
   * Two such walks are compared without a hash table: clients choose the keys, and may choose keys
   * with one hash. Not thread-safe.
   */
  private static final class Unshared<K extends Comparable<K>, V> {
    private final Iterator<TreeNode> leaves;
    private final Set<TreeNode> shared;
    private @Nullable Leaf leaf;
    private int at;

    Unshared(List<TreeNode> leaves, Set<TreeNode> shared) {
      this.leaves = leaves.iterator();
      this.shared = shared;
      toAnEntry();
    }

    /** Goes to the next unshared leaf that has entries, if this one has no more. */
    private void toAnEntry() {
      while (leaf == null || at == leaf.size) {
        if (!leaves.hasNext()) {
          leaf = null;
          return;
        }
        TreeNode node = leaves.next();
        leaf = shared.contains(node) ? null : TreeNode.entries(node);
        at = 0;
      }
    }

    boolean isAtEntry() {
      return leaf != null;
    }

    void next() {
      at++;
      toAnEntry();
    }

    @SuppressWarnings("unchecked") // only keys are in there
    K key() {
      return (K) requireNonNull(leaf).keys[at];
    }

    @SuppressWarnings("unchecked") // only cells are in there
    V cell() {
      return (V) requireNonNull(leaf).cells[at];
    }
  }

  private static Set<TreeNode> identities(List<TreeNode> leaves) {
    Set<TreeNode> identities = Collections.newSetFromMap(new IdentityHashMap<>());
    identities.addAll(leaves);
    return identities;
  }

  private static List<TreeNode> leaves(EntryTree<?, ?> map) {
    List<TreeNode> leaves = new ArrayList<>();
    addLeaves(map.root(), leaves);
    return leaves;
  }

  private static void addLeaves(TreeNode node, List<TreeNode> leaves) {
    if (node instanceof Inner inner) {
      for (TreeNode child : inner.children) {
        addLeaves(child, leaves);
      }
    } else {
      leaves.add(node);
    }
  }
}
