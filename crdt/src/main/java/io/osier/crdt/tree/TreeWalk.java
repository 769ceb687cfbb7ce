package io.osier.crdt.tree;

import io.osier.crdt.tree.TreeNode.Inner;
import io.osier.crdt.tree.TreeNode.Leaf;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Walks over the entries of an {@link EntryTree}, up or down. Not thread-safe. */
final class TreeWalk<K extends Comparable<K>, V> implements Iterator<TreeEntry<K, V>> {
  /** The position of a walk in an inner node. */
  private static final class Step {
    final Inner node;
    int child;

    Step(Inner node, int child) {
      this.node = node;
      this.child = child;
    }
  }

  private final boolean down;
  private final ArrayDeque<Step> above = new ArrayDeque<>(4);
  private Leaf leaf;
  private int next;

  /**
   * @param key where it begins; null for the end from which it comes
   */
  TreeWalk(TreeNode root, @Nullable K key, boolean down) {
    this.down = down;
    TreeNode node = root;
    while (node instanceof Inner inner) {
      int child = key == null ? end(inner.children.length) : inner.childOf(key);
      above.push(new Step(inner, child));
      node = inner.children[child];
    }
    leaf = TreeNode.entries(node);
    int i = key == null ? end(leaf.size) : TreeNode.find(leaf.keys, 0, leaf.size, key);
    next = i >= 0 || key == null ? i : down ? -i - 2 : -i - 1;
    toAnEntry();
  }

  private int end(int size) {
    return down ? size - 1 : 0;
  }

  private boolean isWithin(int i, int size) {
    return 0 <= i && i < size;
  }

  /** Goes to the next leaf if this one has no more; no leaf is empty. */
  private void toAnEntry() {
    while (!isWithin(next, leaf.size) && !above.isEmpty()) {
      Step step = above.peek();
      step.child += down ? -1 : 1;
      if (!isWithin(step.child, step.node.children.length)) {
        above.pop();
        continue;
      }
      TreeNode node = step.node.children[step.child];
      while (node instanceof Inner inner) {
        int child = end(inner.children.length);
        above.push(new Step(inner, child));
        node = inner.children[child];
      }
      leaf = TreeNode.entries(node);
      next = end(leaf.size);
    }
  }

  @Override
  public boolean hasNext() {
    return isWithin(next, leaf.size);
  }

  @Override
  @SuppressWarnings("unchecked") // a key and its cell
  public TreeEntry<K, V> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    TreeEntry<K, V> entry = new TreeEntry<>((K) leaf.keys[next], (V) leaf.cells[next]);
    next += down ? -1 : 1;
    toAnEntry();
    return entry;
  }
}
