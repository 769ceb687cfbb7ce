package io.osier.crdt.tree;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireOutput;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the leaves of an {@link EntryTree} are packed: by which codec, and by the indices of which
 * replicas their dots are numbered. Leaves that are made together share it. Immutable and safe for
 * any thread.
 *
 * @param replicas in the order of a causal context, so that bytes that are written after the
 *     context have the same numbers
 */
public record LeafPacking<K extends Comparable<K>, V>(
    LeafCodec<K, V> codec, List<ReplicaId> replicas) {
  /**
   * Maps with more entries than this are packed when they are read. A smaller one that is no field
   * of a map is packed as a whole while nobody uses it, and would here be packed again at each use.
   */
  public static final int LOOSE_MAX = 1_024;

  /**
   * A leaf that would take more bytes is not packed: each search and each change would read too
   * much, and its entries are so large that an object's overhead does not matter.
   */
  static final int BYTES_MAX = 16_384;

  /** One in this many entries of a packed leaf is marked. */
  static final int MARK_EACH = 8;

  /** Whether leaves that were packed by another packing are the same as by this one. */
  boolean isLike(@Nullable LeafPacking<?, ?> other) {
    return other == this || (other != null && replicas.equals(other.replicas));
  }

  /** Writes the entries of a leaf and notes its marks; returns whether they fit into one. */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  boolean write(WireOutput out, Object[] keys, Object[] cells, int size, char[] marks) {
    replicas.forEach(out::presetReplica);
    for (int i = 0; i < size; i++) {
      if (i > 0 && i % MARK_EACH == 0) {
        marks[i / MARK_EACH - 1] = (char) out.position();
      }
      codec.writeKey(out, (K) keys[i]);
      codec.writeCell(out, (V) cells[i]);
      if (out.position() > BYTES_MAX) {
        return false;
      }
    }
    // A replica that is not in the context would be written out, once for all leaves.
    return out.replicas() == replicas.size();
  }

  /**
   * Returns the bytes of an entry in packed leaves; null if it has a dot of a replica without a
   * number.
   */
  byte @Nullable [] entry(K key, V cell) {
    boolean[] fits = {true};
    byte[] bytes =
        WireOutput.bytesOf(
            out -> {
              replicas.forEach(out::presetReplica);
              codec.writeKey(out, key);
              codec.writeCell(out, cell);
              fits[0] = out.replicas() == replicas.size();
            });
    return fits[0] ? bytes : null;
  }

  /**
   * Returns the cells of a leaf that is not packed, with their own leaves packed where possible.
   */
  @SuppressWarnings("unchecked") // only cells are in there
  Object[] packedCells(Object[] cells, int size) {
    Object[] packed = Arrays.copyOf(cells, size);
    for (int i = 0; i < size; i++) {
      packed[i] = codec.packedCell((V) packed[i], replicas);
    }
    return packed;
  }

  /** Returns about how many bytes the entries of a leaf take in the heap. */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  long entriesHeapBytes(Object[] keys, Object[] cells, int size) {
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += codec.cellHeapBytes((K) keys[i], (V) cells[i]);
    }
    return sum;
  }
}
