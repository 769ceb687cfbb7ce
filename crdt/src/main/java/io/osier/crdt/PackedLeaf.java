package io.osier.crdt;

import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import org.jspecify.annotations.Nullable;

/**
 * A leaf as the bytes of its entries, in their order: the same that a store writes for them, so
 * that a state is written by copying. What is asked of it is read from the bytes each time, and
 * nothing is kept: it is immutable and safe for any thread.
 *
 * <p>Of each {@value #MARK_EACH} entries the first one's place is noted. A search compares with
 * those by halving, and then reads through the few behind one: about eight keys and four cells in
 * all. A place of each entry would save half of that, and take two bytes an entry where small
 * entries take ten.
 */
final class PackedLeaf extends CellNode {
  /** One in so many entries is marked. */
  static final int MARK_EACH = 8;

  private static final long OBJECT_BYTES = HeapSize.object(3 * HeapSize.REFERENCE + Integer.BYTES);

  private final LeafPacking<?, ?> packing;
  private final byte[] bytes;

  /** Where the entries begin that are marked, but the first one. */
  private final char[] marks;

  final int size;

  /** The entries' bytes are not over {@link LeafPacking#BYTES_MAX}. */
  PackedLeaf(LeafPacking<?, ?> packing, byte[] bytes, char[] marks, int size) {
    this.packing = packing;
    this.bytes = bytes;
    this.marks = marks;
    this.size = size;
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

  private WireInput input() {
    WireInput in = new WireInput(bytes);
    for (ReplicaId replica : packing.replicas()) {
      in.presetReplica(replica);
    }
    return in;
  }

  /** The key's cell, or null. */
  @Nullable Object find(Comparable<?> key) {
    return find(packing, key);
  }

  @SuppressWarnings("unchecked") // the packing's keys are of the map's type
  private <K extends Comparable<K>> @Nullable Object find(
      LeafPacking<K, ?> by, Comparable<?> wanted) {
    K key = (K) wanted;
    LeafCodec<K, ?> codec = by.codec();
    WireInput in = input();
    int low = 0;
    int high = marks.length;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      in.setPosition(marks[middle - 1]);
      if (codec.readKey(in).compareTo(key) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    in.setPosition(low == 0 ? 0 : marks[low - 1]);
    int last = Math.min(size, (low + 1) * MARK_EACH);
    for (int i = low * MARK_EACH; i < last; i++) {
      K at = codec.readKey(in);
      int order = at.compareTo(key);
      if (order > 0) {
        return null;
      }
      Object cell = codec.readCell(in, at, by.replicas());
      if (order == 0) {
        return cell;
      }
    }
    return null;
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
