package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.codec.WireInput;
import java.util.ArrayList;
import java.util.List;

/** The results of a walk through all nodes of a tree. */
final class Nodes {

  int packed;

  /** The bytes of the largest packed leaf. */
  int largest;

  int loose;
  long settledHeapBytes;
  final List<TreeNode.Leaf> looseLeaves = new ArrayList<>();

  static Nodes of(EntryTree<?, ?> map) {
    Nodes nodes = new Nodes();
    nodes.visit(map.root());
    return nodes;
  }

  private void visit(TreeNode node) {
    LeafPacking<?, ?> settled = node.settled();
    if (node instanceof TreeNode.Inner inner) {
      for (TreeNode child : inner.children) {
        if (settled != null) {
          assertThat(settled.isLike(child.settled())).as("below what is settled").isTrue();
        }
        visit(child);
      }
    } else if (settled != null) {
      settledHeapBytes += EntryTree.settledHeapBytes(node, settled);
      if (node instanceof PackedLeaf leaf) {
        packed++;
        largest = Math.max(largest, leaf.bytes.length);
        checkBlocks(leaf, settled);
      }
    } else {
      loose++;
      looseLeaves.add((TreeNode.Leaf) node);
    }
  }

  /**
   * Checks that a leaf's bytes are as if it had been packed now, and that its marks divide them
   * into small blocks.
   */
  private static <K extends Comparable<K>, V> void checkBlocks(
      PackedLeaf leaf, LeafPacking<K, V> packing) {
    assertThat(leaf.bytes.length).isBetween(1, LeafPacking.BYTES_MAX);
    TreeNode.Leaf entries = TreeNode.entries(leaf);
    TreeNode anew = PackedLeaf.of(packing, entries.keys, entries.cells, entries.size);
    assertThat(leaf.bytes).isEqualTo(((PackedLeaf) anew).bytes);
    WireInput in = leaf.input();
    int size = 0;
    for (int block = 0; block <= leaf.marks.length; block++) {
      assertThat(in.position()).as("entry that is marked").isEqualTo(leaf.blockStart(block));
      int first = size;
      while (in.position() < leaf.blockEnd(block)) {
        packing.codec().skip(in, packing.replicas());
        size++;
      }
      assertThat(size - first).as("block").isBetween(1, LeafPlace.BLOCK_MAX);
    }
    assertThat(size).isEqualTo(leaf.size);
  }
}
