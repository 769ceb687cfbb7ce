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
 * What a set or the map defines of its keys and cells. {@link EntryStore} makes a data type of it.
 *
 * @param <K> element or field
 * @param <V> cell
 */
abstract class EntryType<K extends Comparable<K>, V> implements LeafCodec<K, V> {
  /** The type's empty store: what packs leaves must not hold the version that it was made for. */
  abstract EntryType<K, V> codecType();

  abstract V emptyCell(K key);

  abstract V joinCells(V left, V right, JoinContext joining);

  /** Whether the cell holds nothing at all: a state drops it, a delta keeps it as a mention. */
  public abstract boolean isEmptyCell(V cell);

  /** The cell as in {@link io.osier.crdt.DotStore#trimmed}. */
  V trimmedCell(V cell) {
    return cell;
  }

  /** Whether something is left of the cell when it is trimmed. */
  boolean isLasting(V cell) {
    return !isEmptyCell(cell);
  }

  /** Whether a reader sees the cell. */
  public abstract boolean isVisible(V cell);

  /** A cell's part of a delta that resets it; notes what that supersedes. */
  abstract V resetCell(V cell, UpdateContext preparation);

  /** The keys that an operation of this type changes, be they there or not; each may come twice. */
  public abstract List<K> touched(Operation operation);

  /**
   * The keys of a part, one or more, in their order, be they there or not: nothing else is between
   * them.
   *
   * @throws io.osier.core.OsierException WRONG_TYPE if this type has no such parts
   */
  public abstract List<K> keys(Part part);

  /** Whether two keys are of one {@link Part}. */
  abstract boolean areOfOnePart(K one, K other);

  /** Whether nothing is left of a cell once all of its dots were removed. */
  public abstract boolean leavesNothing();

  public abstract long keyBytes(K key);

  public abstract long keyHeapBytes(K key);

  /** The key as bytes, which are in the order of the keys. */
  public abstract byte[] orderedKey(K key);

  /** Reads what {@link #orderedKey} gave. */
  public abstract K readOrderedKey(byte[] bytes);

  public abstract long cellBytes(K key, V cell);

  /** Goes past a key and its cell; whether a reader sees the cell. */
  abstract boolean skip(WireInput in);

  @Override
  public final void skip(WireInput in, List<ReplicaId> replicas) {
    boolean unused = skip(in);
  }

  /** The fewest bytes that a key and its cell take when they are written. */
  abstract int entryBytesMin();

  /** Goes past the bytes of an object or field; whether a reader sees any cell. */
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
