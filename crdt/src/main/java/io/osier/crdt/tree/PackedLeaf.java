package io.osier.crdt.tree;

import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A leaf as the bytes of its entries, in their order: the same bytes that a store writes for them,
 * so that a state is written by copying. Each access decodes what it needs and keeps nothing:
 * immutable and safe for any thread.
 *
 * <p>The positions of some entries are marked: at first one in {@value LeafPacking#MARK_EACH},
 * later as {@link LeafPlace} leaves them. A binary search compares with the marked keys, and then
 * reads through the few behind one mark: about eight keys in all. A mark for each entry would save
 * half of that, and take two bytes an entry, where small entries take ten.
 */
final class PackedLeaf extends TreeNode {
  private static final long OBJECT_BYTES = HeapSize.object(3 * HeapSize.REFERENCE + Integer.BYTES);

  private final LeafPacking<?, ?> packing;
  final byte[] bytes;

  /** Where the marked entries begin, in their order; the first entry has no mark. */
  final char[] marks;

  final int size;

  /** Creates a leaf of bytes that must not exceed {@link LeafPacking#BYTES_MAX}. */
  PackedLeaf(LeafPacking<?, ?> packing, byte[] bytes, char[] marks, int size) {
    this.packing = packing;
    this.bytes = bytes;
    this.marks = marks;
    this.size = size;
  }

  /**
   * Returns a packed leaf of these entries; if they are too large for one, an unpacked leaf whose
   * cells are packed.
   */
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

  /** Returns about how many bytes it takes in the heap. */
  long heapBytes() {
    return OBJECT_BYTES
        + HeapSize.array(bytes.length, 1)
        + HeapSize.array(marks.length, Character.BYTES);
  }

  /** Returns an input of its bytes. */
  WireInput input() {
    return new WireInput(bytes, packing.replicas());
  }

  /** Returns where a block begins: the one after this many marks. */
  int blockStart(int block) {
    return block == 0 ? 0 : marks[block - 1];
  }

  int blockEnd(int block) {
    return block == marks.length ? bytes.length : marks[block];
  }

  /** Returns the least key; there is one. */
  Object low() {
    return packing.codec().readKey(input());
  }

  /**
   * Returns the mark nearest to the middle of the bytes; there is a mark if there are many entries.
   */
  int middle() {
    int at = Arrays.binarySearch(marks, (char) (bytes.length / 2));
    return Math.min(at < 0 ? -at - 1 : at, marks.length - 1);
  }

  /** Returns a leaf of the entries before a mark. */
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
   * Returns a leaf of the entries from a mark on.
   *
   * @param entries how many there are
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
   * Returns an unpacked leaf with the same entries.
   *
   * @param room the number of entries for which its arrays have room
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

  /** Writes the entries' bytes, if replicas are numbered as in this leaf. */
  void copyTo(WireOutput out) {
    out.writeBytes(bytes);
  }
}
