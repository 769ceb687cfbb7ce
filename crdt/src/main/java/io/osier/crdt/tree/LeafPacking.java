package io.osier.crdt.tree;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireOutput;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the leaves of a {@link EntryTree} are packed: by which codec, and by the places of which
 * replicas their dots are numbered. Leaves that are made together share it. Immutable and safe for
 * any thread.
 *
 * @param replicas in the order of a causal context, so that what is written behind the context is
 *     numbered alike
 */
public record LeafPacking<K extends Comparable<K>, V>(
    LeafCodec<K, V> codec, List<ReplicaId> replicas) {
  /**
   * More entries than this are packed when they are read. What has fewer, and is no map's field, is
   * packed whole while nobody uses it, and would be packed here once more at each use.
   */
  public static final int LOOSE_MAX = 1_024;

  /**
   * A leaf that would take more bytes is not packed: each search and each change would read too
   * much, and what it holds is large enough for an object's overhead not to matter.
   */
  static final int BYTES_MAX = 16_384;

  /** One in so many entries of a packed leaf is marked. */
  static final int MARK_EACH = 8;

  /** Whether what was packed by another one is packed as this one does. */
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
    // A replica that the context does not have would be written out, once for all leaves.
    return out.replicas() == replicas.size();
  }

  /** An entry as packed leaves have it; null if it has a dot of a replica that has no number. */
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

  /** The cells of a leaf that is not packed: they pack what they can themselves. */
  @SuppressWarnings("unchecked") // only cells are in there
  Object[] packedCells(Object[] cells, int size) {
    Object[] packed = Arrays.copyOf(cells, size);
    for (int i = 0; i < size; i++) {
      packed[i] = codec.packedCell((V) packed[i], replicas);
    }
    return packed;
  }

  /** What the entries of a leaf take in the heap, about, in bytes. */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  long entriesHeapBytes(Object[] keys, Object[] cells, int size) {
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += codec.cellHeapBytes((K) keys[i], (V) cells[i]);
    }
    return sum;
  }
}
