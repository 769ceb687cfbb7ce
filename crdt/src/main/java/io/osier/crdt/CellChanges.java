package io.osier.crdt;

import io.osier.crdt.CellNode.Inner;
import io.osier.crdt.CellNode.Leaf;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What was changed between two versions of a {@link CellMap}, by the leaves that they do not share:
 * every entry that was, if only to and fro, and maybe some that were packed or unpacked.
 */
final class CellChanges {
  private CellChanges() {}

  /**
   * The entries of a version that were changed since another one.
   *
   * @param before a version from which no key was removed since
   * @param isGone whether a cell says that the entry was removed. Such cells are not told apart by
   *     their identity, so they count as changed: the entry may have been there in between
   */
  @SuppressWarnings("unchecked") // keys and cells of these maps
  static <K extends Comparable<K>, V> CellMap<K, V> since(
      CellMap<K, V> before, CellMap<K, V> after, Predicate<V> isGone) {
    List<CellNode> former = leaves(before);
    List<CellNode> present = leaves(after);
    Set<CellNode> shared = identities(present);
    shared.retainAll(identities(former));
    Map<Object, Object> known = new HashMap<>();
    for (CellNode leaf : former) {
      if (!shared.contains(leaf)) {
        Leaf entries = CellNode.entries(leaf);
        for (int i = 0; i < entries.size; i++) {
          known.put(entries.keys[i], entries.cells[i]);
        }
      }
    }
    CellEdit<K, V> changed = CellMap.<K, V>empty().edit();
    for (CellNode leaf : present) {
      if (!shared.contains(leaf)) {
        Leaf entries = CellNode.entries(leaf);
        for (int i = 0; i < entries.size; i++) {
          V cell = (V) entries.cells[i];
          if (isGone.test(cell) || known.get(entries.keys[i]) != cell) {
            changed.put((K) entries.keys[i], cell);
          }
        }
      }
    }
    return changed.done();
  }

  private static Set<CellNode> identities(List<CellNode> leaves) {
    Set<CellNode> identities = Collections.newSetFromMap(new IdentityHashMap<>());
    identities.addAll(leaves);
    return identities;
  }

  private static List<CellNode> leaves(CellMap<?, ?> map) {
    List<CellNode> leaves = new ArrayList<>();
    addLeaves(map.root(), leaves);
    return leaves;
  }

  private static void addLeaves(CellNode node, List<CellNode> leaves) {
    if (node instanceof Inner inner) {
      for (CellNode child : inner.children) {
        addLeaves(child, leaves);
      }
    } else {
      leaves.add(node);
    }
  }
}
