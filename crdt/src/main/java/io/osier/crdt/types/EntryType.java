package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.LeafCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The definition of a set's or the map's keys and cells. {@link EntryStore} makes a data type of
 * it.
 *
 * @param <K> element or field
 * @param <V> cell
 */
abstract class EntryType<K extends Comparable<K>, V> implements LeafCodec<K, V> {
  /**
   * Returns the type's empty store. Packed leaves refer to it, which must not keep the version that
   * they were made for.
   */
  abstract EntryType<K, V> codecType();

  abstract V emptyCell(K key);

  abstract V joinCells(V left, V right, JoinContext joining);

  /** Whether the cell holds nothing at all: a state drops it, a delta keeps it as a mention. */
  public abstract boolean isEmptyCell(V cell);

  /** Returns the cell as {@link io.osier.crdt.DotStore#trimmed} defines it. */
  V trimmedCell(V cell) {
    return cell;
  }

  /** Whether something is left of the cell after it is trimmed. */
  boolean isLasting(V cell) {
    return !isEmptyCell(cell);
  }

  /** Whether a reader sees the cell. */
  public abstract boolean isVisible(V cell);

  /** Returns a cell's part of a delta that resets it; marks its dots as superseded. */
  abstract V resetCell(V cell, UpdateContext preparation);

  /**
   * Returns the keys that an operation of this type changes, whether they exist or not; a key may
   * come twice.
   */
  public abstract List<K> touched(Operation operation);

  /**
   * Returns the keys of a part, one or more, in their order, whether they exist or not: no other
   * key is between them.
   *
   * @throws io.osier.core.OsierException WRONG_TYPE if this type has no such parts
   */
  public abstract List<K> keys(Part part);

  /** Whether two keys belong to one {@link Part}. */
  abstract boolean areOfOnePart(K one, K other);

  /** Whether nothing is left of a cell once all of its dots are removed. */
  public abstract boolean leavesNothing();

  public abstract long keyBytes(K key);

  public abstract long keyHeapBytes(K key);

  /** Returns the key as bytes, which sort like the keys. */
  public abstract byte[] orderedKey(K key);

  /** Reads the form that {@link #orderedKey} returns. */
  public abstract K readOrderedKey(byte[] bytes);

  public abstract long cellBytes(K key, V cell);

  /** Skips a key and its cell; returns whether a reader sees the cell. */
  abstract boolean skip(WireInput in);

  @Override
  public final void skip(WireInput in, List<ReplicaId> replicas) {
    boolean unused = skip(in);
  }

  /** Returns the fewest bytes that a key and its cell take when they are written. */
  abstract int entryBytesMin();

  /** Skips the bytes of an object or field; returns whether a reader sees any cell. */
  final boolean skipAll(WireInput in) {
    boolean isAny = false;
    for (int n = in.readCount(entryBytesMin()); n > 0; n--) {
      isAny |= skip(in);
    }
    return isAny;
  }

  /** See {@link TypeRegistry#readPacked}. */
  @Nullable Reading readPacked(Query query, WireInput in) {
    return query instanceof Query.Size ? readSize(in) : readExists(in);
  }

  private @Nullable Reading readExists(WireInput in) {
    for (int n = in.readCount(entryBytesMin()); n > 0; n--) {
      if (skip(in)) {
        return new Reading.Flag(true);
      }
    }
    return null;
  }

  private @Nullable Reading readSize(WireInput in) {
    int seen = 0;
    for (int n = in.readCount(entryBytesMin()); n > 0; n--) {
      seen += skip(in) ? 1 : 0;
    }
    return seen == 0 ? null : new Reading.Count(seen);
  }
}
