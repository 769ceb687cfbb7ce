package io.osier.crdt.tree;

import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A leaf as the bytes of its entries, in their order: the same that a store writes for them, so
 * that a state is written by copying. What is asked of it is read from the bytes each time, and
 * nothing is kept: it is immutable and safe for any thread.
 *
 * <p>The places of some entries are noted, in the beginning of one in {@value
 * LeafPacking#MARK_EACH}, later as {@link LeafPlace} leaves them. A search compares with those by
 * halving, and then reads through the few behind one: about eight keys in all. A place of each
 * entry would save half of that, and take two bytes an entry where small entries take ten.
 */
final class PackedLeaf extends TreeNode {
  private static final long OBJECT_BYTES = HeapSize.object(3 * HeapSize.REFERENCE + Integer.BYTES);

  private final LeafPacking<?, ?> packing;
  final byte[] bytes;

  /** Where the entries begin that are marked, in their order; the first one is not. */
  final char[] marks;

  final int size;

  /** The entries' bytes are not over {@link LeafPacking#BYTES_MAX}. */
  PackedLeaf(LeafPacking<?, ?> packing, byte[] bytes, char[] marks, int size) {
    this.packing = packing;
    this.bytes = bytes;
    this.marks = marks;
    this.size = size;
  }

  /** A leaf of these entries; if they are too large for one, another whose cells are packed. */
  static TreeNode of(LeafPacking<?, ?> packing, Object[] keys, Object[] cells, int size) {
    char[] marks = new char[(size - 1) / LeafPacking.MARK_EACH];
    boolean[] fits = {true};
    byte[] bytes =
        WireOutput.bytesOf(out -> fits[0] = packing.write(out, keys, cells, size, marks));
    return fits[0]
        ? new PackedLeaf(packing, bytes, marks, size)
        : Leaf.settled(packing, keys, cells, size);
  }

  @Override
  LeafPacking<?, ?> settled() {
    return packing;
  }

  /** What it takes in the heap, about, in bytes. */
  long heapBytes() {
    return OBJECT_BYTES
        + HeapSize.array(bytes.length, 1)
        + HeapSize.array(marks.length, Character.BYTES);
  }

  /** The bytes to be read. */
  WireInput input() {
    return new WireInput(bytes, packing.replicas());
  }

  /** Where a block begins: what comes behind so many marks. */
  int blockStart(int block) {
    return block == 0 ? 0 : marks[block - 1];
  }

  int blockEnd(int block) {
    return block == marks.length ? bytes.length : marks[block];
  }

  /** The least key; there is one. */
  Object low() {
    return packing.codec().readKey(input());
  }

  /** The mark that divides the bytes about in their middle: there is one if entries are many. */
  int middle() {
    int at = Arrays.binarySearch(marks, (char) (bytes.length / 2));
    return Math.min(at < 0 ? -at - 1 : at, marks.length - 1);
  }

  /** A leaf of the entries before a mark. */
  PackedLeaf before(int mark) {
    WireInput in = input();
    int entries = 0;
    for (; in.position() < marks[mark]; entries++) {
      packing.codec().skip(in, packing.replicas());
    }
    return new PackedLeaf(
        packing, Arrays.copyOf(bytes, marks[mark]), Arrays.copyOf(marks, mark), entries);
  }

  /**
   * A leaf of the entries from a mark on.
   *
   * @param entries how many that are
   */
  PackedLeaf from(int mark, int entries) {
    int from = marks[mark];
    char[] moved = Arrays.copyOfRange(marks, mark + 1, marks.length);
    for (int i = 0; i < moved.length; i++) {
      moved[i] -= (char) from;
    }
    return new PackedLeaf(packing, Arrays.copyOfRange(bytes, from, bytes.length), moved, entries);
  }

  @SuppressWarnings("unchecked") // the packing is of the map's types
  <K extends Comparable<K>, V> LeafPlace<K, V> place(K key) {
    return new LeafPlace<>(this, (LeafPacking<K, V>) packing, key);
  }

  /**
   * A leaf with the same entries.
   *
   * @param room for how many
   */
  Leaf unpacked(@Nullable Object owner, int room) {
    Object[] keys = new Object[room];
    Object[] cells = new Object[room];
    read(packing, keys, cells);
    return new Leaf(owner, keys, cells, size);
  }

  private <K extends Comparable<K>, V> void read(
      LeafPacking<K, V> by, Object[] keys, Object[] cells) {
    LeafCodec<K, V> codec = by.codec();
    WireInput in = input();
    for (int i = 0; i < size; i++) {
      K key = codec.readKey(in);
      keys[i] = key;
      cells[i] = codec.readCell(in, key, by.replicas());
    }
  }

  /** Writes the entries where replicas are numbered as in here. */
  void copyTo(WireOutput out) {
    out.writeBytes(bytes);
  }
}
