package io.osier.crdt.types;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.EntrySource;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.LayeredWalk;
import io.osier.crdt.tree.LeafPacking;
import io.osier.crdt.tree.RecentKeys;
import io.osier.crdt.tree.TreeEdit;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.tree.TreeNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The common part of sets and the map: a persistent map from elements or fields to cells, and the
 * join that touches only what a delta mentions.
 *
 * @param <K> element or field
 * @param <V> cell
 */
public abstract class EntryStore<S extends EntryStore<S, K, V>, K extends Comparable<K>, V>
    extends EntryType<K, V> implements DotStore<S> {
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + 2 * Long.BYTES + 2 * Integer.BYTES);

  /** An object whose encoded size is above this cannot be read as a whole. */
  public static final long WHOLE_BYTES_MAX = 64L << 20;

  /**
   * All entries; of a decomposed object those that changed, which replace ones in {@link #behind}.
   */
  private final EntryTree<K, V> cells;

  private final @Nullable BackingStore<K, V> behind;

  /** The sum of {@link #cellBytes}. */
  private final long bytes;

  /** The sum of {@link #cellHeapBytes} of those that the map itself does not count. */
  private final long heap;

  private final int visible;

  /** The number of cells of which something is left after they are trimmed. */
  private final int lasting;

  EntryStore(EntryContent<K, V> content) {
    this.cells = content.map();
    this.behind = content.behind();
    this.bytes = content.bytes();
    this.heap = content.heap();
    this.visible = content.visible();
    this.lasting = content.lasting();
  }

  abstract S with(EntryContent<K, V> content);

  @Override
  public abstract S codecType();

  private EntryContent<K, V> content() {
    return new EntryContent<>(cells, behind, bytes, heap, visible, lasting);
  }

  public final EntryEditor<S, K, V> edit() {
    return new EntryEditor<>(this, content());
  }

  /** Returns an editor without cells, to collect a delta in. */
  public final EntryEditor<S, K, V> delta() {
    return new EntryEditor<>(this, EntryContent.none());
  }

  /** A delta of one cell. */
  public final S delta(K key, V cell) {
    return with(EntryContent.one(this, key, cell));
  }

  /** Returns the key's cell, or null. */
  public final @Nullable V find(K key) {
    V cell = cells.get(key);
    if (behind == null) {
      return cell;
    }
    return cell == null ? behind.entries().get(key) : isEmptyCell(cell) ? null : cell;
  }

  /** Returns the key's cell; an empty one if there is none. */
  public final V cell(K key) {
    V cell = find(key);
    return cell == null ? emptyCell(key) : cell;
  }

  /** Whether a reader sees the key's cell. */
  public final boolean isSeen(K key) {
    V cell = find(key);
    return cell != null && isVisible(cell);
  }

  /** Returns this without some cells, as if they had never been there. */
  public final S without(Iterable<K> keys) {
    EntryEditor<S, K, V> rest = edit();
    keys.forEach(rest::remove);
    return rest.done();
  }

  /**
   * Returns this with some cells replaced by those of another version.
   *
   * @param version of the same type
   * @param same the keys of those cells
   * @param gone the keys of cells to remove
   */
  public final S with(EntryStore<?, K, ?> version, Iterable<K> same, Iterable<K> gone) {
    @SuppressWarnings("unchecked") // of the same type
    EntryStore<?, K, V> others = (EntryStore<?, K, V>) version;
    EntryEditor<S, K, V> result = edit();
    for (K key : same) {
      V cell = others.find(key);
      if (cell == null) {
        result.remove(key);
      } else {
        result.put(key, cell);
      }
    }
    gone.forEach(result::remove);
    return result.done();
  }

  /** Prepares the reset of those of the keys' cells that exist. */
  public final S reset(Iterable<K> keys, UpdateContext preparation) {
    EntryEditor<S, K, V> delta = delta();
    for (K key : keys) {
      V cell = find(key);
      if (cell != null && !delta.has(key)) { // given twice it is reset once
        delta.put(key, resetCell(cell, preparation));
      }
    }
    return delta.done();
  }

  @Override
  public final S reset(UpdateContext preparation) {
    if (behind == null && cells.root() instanceof TreeNode.Leaf leaf) {
      return with(EntryContent.reset(this, leaf, preparation));
    }
    EntryEditor<S, K, V> delta = delta();
    for (TreeEntry<K, V> entry : cells()) {
      delta.put(entry.key(), resetCell(entry.cell(), preparation));
    }
    return delta.done();
  }

  /** Returns all entries, in the order of the keys. */
  public final Iterable<TreeEntry<K, V>> cells() {
    return behind == null ? cells : () -> walk(null, false);
  }

  /**
   * Returns the entries in memory. The others of a decomposed object were stored here, so a caller
   * that tracks what this replica has seen has them already.
   */
  public final EntryTree<K, V> inMemory() {
    return cells;
  }

  public final int entryCount() {
    return behind == null ? cells.size() : behind.size();
  }

  /**
   * Returns an iterator over the entries from a key on, that included, in the order of the keys or
   * against it.
   *
   * @param from the first key; null for the end at which the iteration starts
   */
  public final Iterator<TreeEntry<K, V>> walk(@Nullable K from, boolean down) {
    Iterator<TreeEntry<K, V>> front =
        down ? cells.downFrom(from) : from == null ? cells.iterator() : cells.from(from);
    return behind == null
        ? front
        : new LayeredWalk<>(front, behind.entries().walk(from, down), down, this::isEmptyCell);
  }

  /** Returns the number of cells that a reader sees. */
  final int visible() {
    return visible;
  }

  @Override
  public final S join(S other, JoinContext joining) {
    return new EntryJoin<>(self(), joining).with(other);
  }

  @SuppressWarnings("unchecked") // S is the implementing class
  private S self() {
    return (S) this;
  }

  @Override
  public final S trimmed() {
    EntryEditor<S, K, V> result = edit();
    for (TreeEntry<K, V> entry : cells()) {
      V trimmed = trimmedCell(entry.cell());
      if (isEmptyCell(trimmed)) {
        result.remove(entry.key());
      } else if (trimmed != entry.cell()) {
        result.put(entry.key(), trimmed);
      }
    }
    return result.done();
  }

  @Override
  public final boolean isBottom() {
    return visible == 0;
  }

  @Override
  public final boolean isTrimmedEmpty() {
    return lasting == 0;
  }

  @Override
  public final boolean isEmpty() {
    return entryCount() == 0;
  }

  @Override
  public final long heapBytes() {
    return HEAP_BYTES + cells.heapBytes() + heap + (behind == null ? 0 : behind.heapBytes());
  }

  @Override
  public final long sizeBytes() {
    return 2 + bytes;
  }

  /**
   * Returns the bytes of a key's cell if it is in memory and too large to be packed; 0 otherwise.
   */
  public final long bytesInMemory(K key) {
    V cell = cells.unpacked(key);
    return cell == null ? 0 : cellBytes(key, cell);
  }

  /** Returns what a function makes of the cells that a reader sees, in their order. */
  final <T> List<T> visible(Function<TreeEntry<K, V>, T> shown) {
    List<T> all =
        new ArrayList<>(behind == null ? visible : Math.min(visible, LeafPacking.LOOSE_MAX));
    for (TreeEntry<K, V> entry : cells()) {
      if (isVisible(entry.cell())) {
        all.add(shown.apply(entry));
      }
    }
    return all;
  }

  @Override
  public final void write(WireOutput out) {
    out.writeCount(entryCount());
    if (behind == null) {
      cells.write(out, this);
      return;
    }
    for (TreeEntry<K, V> entry : cells()) {
      writeKey(out, entry.key());
      writeCell(out, entry.cell());
    }
  }

  /**
   * Reads the form that {@link #write} produces, into a store without cells. Checks all of it,
   * including what is packed.
   *
   * @param replicas the causal context's, by which packed leaves number theirs; none if nothing is
   *     to be packed
   */
  public S read(WireInput in, List<ReplicaId> replicas) {
    return with(EntryContent.read(this, in, replicas));
  }

  /**
   * Returns an equal store whose leaves are packed where that makes it smaller: this if there is
   * nothing to do. Costs what is not packed, and the nodes above.
   *
   * @param replicas the causal context's
   */
  final S packLeaves(List<ReplicaId> replicas) {
    EntryTree<K, V> packed = cells.packed(codecType(), replicas);
    return packed == cells
        ? self()
        : with(new EntryContent<>(packed, behind, bytes, 0, visible, lasting));
  }

  /** Returns about how many bytes of the heap {@link #packLeaves} may make smaller. */
  public final long looseHeapBytes() {
    return heap;
  }

  /** Returns the entries that are not in memory; null if all are. */
  public final @Nullable BackingStore<K, V> behind() {
    return behind;
  }

  /** Returns the same content, with nothing outside yet. */
  public final S decomposed() {
    BackingStore<K, V> nothing =
        new BackingStore<>(
            new BackingEntries<>(codecType(), EntrySource.EMPTY, KeyBounds.NOTHING),
            entryCount(),
            RecentKeys.since(CausalContext.EMPTY));
    return with(new EntryContent<>(cells, nothing, bytes, heap, visible, lasting));
  }

  /** Returns the same content, all in memory. */
  public final S whole() {
    return with(content().of(this, all(), null));
  }

  /**
   * Returns the same content with less of it in memory.
   *
   * @param source has what a former version of this had, and may have later entries
   * @param changed the entries that have changed since then
   * @param recent the keys of the entries that were changed lately, except for those
   * @param bounds the bounds of the other keys
   */
  public final S rebased(
      EntrySource source, EntryTree<K, V> changed, RecentKeys recent, KeyBounds bounds) {
    BackingStore<K, V> back =
        new BackingStore<>(new BackingEntries<>(codecType(), source, bounds), entryCount(), recent);
    return with(content().of(this, changed, back));
  }

  /** Writes the sums over all entries. */
  public final void writeSums(WireOutput out) {
    out.writeNumber(entryCount());
    out.writeNumber(bytes);
    out.writeNumber(visible);
    out.writeNumber(lasting);
  }

  /**
   * Reads the form that {@link #writeSums} produces, into a store without cells.
   *
   * @param context of the version that the source has
   */
  public final S readSums(WireInput in, EntrySource source, CausalContext context) {
    return with(EntryContent.readSums(this, in, source, context));
  }

  @Override
  public final boolean equals(Object o) {
    return o instanceof EntryStore<?, ?, ?> s
        && type() == s.type()
        && ((behind == null && s.behind == null)
            ? cells.equals(s.cells)
            : entryCount() == s.entryCount() && all().equals(s.all()));
  }

  private EntryTree<K, V> all() {
    if (behind == null) {
      return cells;
    }
    TreeEdit<K, V> edit = EntryTree.<K, V>empty().edit();
    cells().forEach(entry -> edit.put(entry.key(), entry.cell()));
    return edit.done();
  }

  @Override
  public final int hashCode() {
    return all().hashCode();
  }

  @Override
  public final String toString() {
    return type() + all().toString();
  }
}
