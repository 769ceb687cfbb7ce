package io.osier.crdt.tree;

import io.osier.crdt.tree.TreeNode.Inner;
import io.osier.crdt.tree.TreeNode.Leaf;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Finds the few entries between two keys, by one search. Static, for any thread. */
final class TreeRange {
  private TreeRange() {}

  /** As {@link EntryTree#between}. */
  static <K extends Comparable<K>, V> List<TreeEntry<K, V>> of(
      EntryTree<K, V> tree, K least, K most) {
    TreeNode node = tree.root();
    boolean goesOn = false; // whether they may go on in the next leaf
    while (node instanceof Inner inner) {
      int child = inner.childOf(least);
      if (child + 1 < inner.children.length) {
        goesOn = isAtMost(inner.lows[child + 1], most);
      }
      node = inner.children[child];
    }
    if (goesOn) {
      return walk(tree.from(least), most);
    }
    if (node instanceof PackedLeaf packed) {
      LeafPlace<K, V> place = packed.place(least);
      return place.through(most);
    }
    return within((Leaf) node, least, most);
  }

  private static <K extends Comparable<K>, V> List<TreeEntry<K, V>> walk(
      Iterator<TreeEntry<K, V>> entries, K most) {
    List<TreeEntry<K, V>> found = new ArrayList<>();
    while (entries.hasNext()) {
      TreeEntry<K, V> next = entries.next();
      if (next.key().compareTo(most) > 0) {
        break;
      }
      found.add(next);
    }
    return found;
  }

  @SuppressWarnings("unchecked") // a key and its cell
  private static <K extends Comparable<K>, V> List<TreeEntry<K, V>> within(
      Leaf leaf, K least, K most) {
    int place = TreeNode.find(leaf.keys, 0, leaf.size, least);
    int first = place >= 0 ? place : -place - 1;
    List<TreeEntry<K, V>> found = new ArrayList<>(1);
    for (int i = first; i < leaf.size && isAtMost(leaf.keys[i], most); i++) {
      found.add(new TreeEntry<>((K) leaf.keys[i], (V) leaf.cells[i]));
    }
    return found;
  }

  @SuppressWarnings("unchecked") // only keys are in there
  private static <K extends Comparable<K>> boolean isAtMost(Object key, K most) {
    return ((K) key).compareTo(most) <= 0;
  }
}
