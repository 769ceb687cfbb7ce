package io.osier.crdt.tree;

import io.osier.core.codec.WireInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The position of a key in a {@link PackedLeaf}, or where it would be; and makes leaves with
 * another entry there: their bytes are the same that packing all entries anew would give. Only the
 * entries of one block are read, which is what lies between two marks. Not thread-safe.
 *
 * <p>A block has at most {@value #BLOCK_MAX} entries: one that gets more is divided. Its number of
 * entries is not stored but counted when one is added.
 */
final class LeafPlace<K extends Comparable<K>, V> {
  /** The most entries of a block. */
  static final int BLOCK_MAX = 2 * LeafPacking.MARK_EACH;

  /**
   * A cell that takes about more bytes than this in the heap is not put in as bytes: frequent
   * changes of a large field should not decode and encode all of it each time.
   */
  private static final int SPLICED_HEAP_BYTES_MAX = 2_048;

  private final PackedLeaf leaf;
  private final LeafPacking<K, V> packing;
  private final K key;
  private final WireInput in;

  /** The number of marks before the position. */
  private final int block;

  /** The number of the block's entries before the position. */
  private final int before;

  /**
   * The byte at which the entry begins; {@link #to} is its end, which is the same if there is no
   * entry.
   */
  private final int from;

  private final int to;
  private final @Nullable V cell;

  LeafPlace(PackedLeaf leaf, LeafPacking<K, V> packing, K key) {
    this.leaf = leaf;
    this.packing = packing;
    this.key = key;
    LeafCodec<K, V> codec = packing.codec();
    in = leaf.input();
    int low = 0;
    int high = leaf.marks.length;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      in.setPosition(leaf.marks[middle - 1]);
      if (codec.compareKey(in, key) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    block = low;
    int at = leaf.blockStart(low);
    int end = leaf.blockEnd(low);
    int passed = 0;
    V found = null;
    while (at < end) {
      in.setPosition(at);
      int order = codec.compareKey(in, key);
      if (order == 0) {
        found = codec.readCell(in, key, packing.replicas());
      }
      if (order >= 0) {
        break;
      }
      in.setPosition(at);
      codec.skip(in, packing.replicas());
      at = in.position();
      passed++;
    }
    before = passed;
    from = at;
    to = found == null ? at : in.position();
    cell = found;
  }

  /** Returns the key's cell; null if the key is not in the leaf. */
  @Nullable V cell() {
    return cell;
  }

  /** Returns the entries from the position on, up to that of a key. */
  List<TreeEntry<K, V>> through(K last) {
    LeafCodec<K, V> codec = packing.codec();
    List<TreeEntry<K, V>> found = new ArrayList<>(1);
    int at = from;
    while (at < leaf.bytes.length) {
      in.setPosition(at);
      if (codec.compareKey(in, last) > 0) {
        break;
      }
      in.setPosition(at);
      K next = codec.readKey(in);
      found.add(new TreeEntry<>(next, codec.readCell(in, next, packing.replicas())));
      at = in.position();
    }
    return found;
  }

  /** Whether no other key is before it. */
  boolean isFirst() {
    return from == 0;
  }

  /** Whether the key is not in the leaf, and would be behind all others. */
  boolean isBehindAll() {
    return from == leaf.bytes.length;
  }

  /** Returns the leaf with this cell for the key; null if the leaf has to be unpacked for that. */
  @Nullable PackedLeaf with(V put) {
    int size = cell == null ? leaf.size + 1 : leaf.size;
    if (size > TreeNode.LEAF_MAX
        || packing.codec().cellHeapBytes(key, put) > SPLICED_HEAP_BYTES_MAX) {
      return null;
    }
    byte[] entry = packing.entry(key, put);
    if (entry == null || from + entry.length + leaf.bytes.length - to > LeafPacking.BYTES_MAX) {
      return null;
    }
    byte[] bytes = spliced(entry);
    int more = bytes.length - leaf.bytes.length;
    char[] marks = moved(block, block, more);
    if (cell == null && before + 1 + entriesBehind() > BLOCK_MAX) {
      marks = divided(bytes, marks);
    }
    return new PackedLeaf(packing, bytes, marks, size);
  }

  PackedLeaf without() {
    byte[] bytes = spliced(new byte[0]);
    boolean isGone = from == leaf.blockStart(block) && to == leaf.blockEnd(block);
    // An empty block loses its mark. The first block has none, so the second one's mark goes.
    int kept = isGone && block > 0 ? block - 1 : block;
    int behind = isGone && leaf.marks.length > 0 ? kept + 1 : kept;
    return new PackedLeaf(
        packing, bytes, moved(kept, behind, bytes.length - leaf.bytes.length), leaf.size - 1);
  }

  private byte[] spliced(byte[] entry) {
    int behind = leaf.bytes.length - to;
    byte[] bytes = new byte[from + entry.length + behind];
    System.arraycopy(leaf.bytes, 0, bytes, 0, from);
    System.arraycopy(entry, 0, bytes, from, entry.length);
    System.arraycopy(leaf.bytes, to, bytes, from + entry.length, behind);
    return bytes;
  }

  /**
   * Returns the first marks unchanged, and those from {@code others} on shifted by {@code by}
   * bytes.
   */
  private char[] moved(int first, int others, int by) {
    char[] all = leaf.marks;
    if (by == 0 && first == others) {
      return all;
    }
    char[] marks = Arrays.copyOf(all, first + all.length - others);
    for (int i = others; i < all.length; i++) {
      marks[first + i - others] = (char) (all[i] + by);
    }
    return marks;
  }

  /** Counts the block's entries behind the position, at which there is none. */
  private int entriesBehind() {
    in.setPosition(from);
    int entries = 0;
    for (int end = leaf.blockEnd(block); in.position() < end; entries++) {
      packing.codec().skip(in, packing.replicas());
    }
    return entries;
  }

  /** Returns the marks with another one in the middle of the block. */
  private char[] divided(byte[] bytes, char[] marks) {
    WireInput made = new WireInput(bytes, packing.replicas());
    made.setPosition(leaf.blockStart(block));
    for (int i = 0; i < LeafPacking.MARK_EACH; i++) {
      packing.codec().skip(made, packing.replicas());
    }
    char[] more = new char[marks.length + 1];
    System.arraycopy(marks, 0, more, 0, block);
    more[block] = (char) made.position();
    System.arraycopy(marks, block, more, block + 1, marks.length - block);
    return more;
  }
}
