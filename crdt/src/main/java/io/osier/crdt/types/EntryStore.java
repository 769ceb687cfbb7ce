package io.osier.crdt.types;

import io.osier.core.CausalContext;
import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
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
 * What the sets and the map are made of: a persistent map from elements or fields to cells, and the
 * join that touches only what a delta mentions.
 *
 * @param <S> the implementing class
 * @param <K> element or field
 * @param <V> cell
 */
public abstract class EntryStore<S extends EntryStore<S, K, V>, K extends Comparable<K>, V>
    extends EntryType<K, V> implements DotStore<S> {
  private static final long HEAP_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + 2 * Long.BYTES + 2 * Integer.BYTES);

  /**
   * More entries than this are packed when they are read. What has fewer, and is no map's field, is
   * packed whole while nobody uses it, and would be packed here once more at each use.
   */
  public static final int LOOSE_MAX = 1_024;

  /** Beyond this encoded size an object cannot be read as a whole. */
  public static final long WHOLE_BYTES_MAX = 64L << 20;

  /** More bytes than any object has, and few enough for sums of them. */
  private static final long SUM_MAX = 1L << 50;

  /** Of a decomposed object those that changed: in front of {@link #behind}. */
  private final EntryTree<K, V> cells;

  private final @Nullable BackingStore<K, V> behind;

  /** The sum of {@link #cellBytes}. */
  private final long bytes;

  /** The sum of {@link #cellHeapBytes} of those that the map itself does not count. */
  private final long heap;

  /** How many cells a reader sees. */
  private final int visible;

  /** Of how many cells something is left when they are trimmed. */
  private final int lasting;

  EntryStore(EntryContent<K, V> content) {
    this.cells = content.map();
    this.behind = content.behind();
    this.bytes = content.bytes();
    this.heap = content.heap();
    this.visible = content.visible();
    this.lasting = content.lasting();
  }

  /** A store of this type with other content. */
  abstract S with(EntryContent<K, V> content);

  /** See {@link TypeRegistry#readPacked}. */
  @Nullable Reading readPacked(Query query, WireInput in) {
    return query instanceof Query.Size ? readSize(in) : readExists(in);
  }

  // ---------------------------------------------------------------- what they share

  public final EntryEditor<S, K, V> edit() {
    return new EntryEditor<>(
        this, new EntryContent<>(cells, behind, bytes, heap, visible, lasting));
  }

  /** A store with no cells, to collect a delta in. */
  public final EntryEditor<S, K, V> delta() {
    return new EntryEditor<>(this, EntryContent.none());
  }

  /** A delta of one cell. */
  final S delta(K key, V cell) {
    EntryTree<K, V> map = EntryTree.<K, V>empty().put(key, cell);
    int seen = isVisible(cell) ? 1 : 0;
    int left = isLasting(cell) ? 1 : 0;
    return with(
        new EntryContent<>(map, null, cellBytes(key, cell), cellHeapBytes(key, cell), seen, left));
  }

  /** The key's cell, or null. */
  final @Nullable V find(K key) {
    V cell = cells.get(key);
    if (behind == null) {
      return cell;
    }
    return cell == null ? behind.entries().get(key) : isEmptyCell(cell) ? null : cell;
  }

  /** The few entries from one key to another, both included, of what is in memory. */
  final List<TreeEntry<K, V>> inMemory(K least, K most) {
    return cells.between(least, most);
  }

  /** The key's cell, empty if it is not there. */
  public final V cell(K key) {
    V cell = find(key);
    return cell == null ? emptyCell(key) : cell;
  }

  public final boolean has(K key) {
    return find(key) != null;
  }

  /** Whether a reader sees the key's cell. */
  public final boolean isSeen(K key) {
    V cell = find(key);
    return cell != null && isVisible(cell);
  }

  /** This without some cells, as if they had never been there. */
  public final S without(Iterable<K> keys) {
    EntryEditor<S, K, V> rest = edit();
    keys.forEach(rest::remove);
    return rest.done();
  }

  /**
   * This with some cells as another version has them.
   *
   * @param version of the same type
   * @param same the keys of those
   * @param gone the keys of others that are to go
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

  /** Prepares the reset of some cells, of those that are there. */
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
      return reset(leaf, preparation);
    }
    EntryEditor<S, K, V> delta = delta();
    for (TreeEntry<K, V> entry : cells()) {
      delta.put(entry.key(), resetCell(entry.cell(), preparation));
    }
    return delta.done();
  }

  /** Of a map that is one leaf: the delta's keys are the same ones. */
  @SuppressWarnings("unchecked") // only such keys and cells are in there
  private S reset(TreeNode.Leaf leaf, UpdateContext preparation) {
    Object[] reset = new Object[leaf.size];
    long sum = 0;
    long heapSum = 0;
    int seen = 0;
    int left = 0;
    for (int i = 0; i < leaf.size; i++) {
      K key = (K) leaf.keys[i];
      V cell = resetCell((V) leaf.cells[i], preparation);
      reset[i] = cell;
      sum += cellBytes(key, cell);
      heapSum += cellHeapBytes(key, cell);
      seen += isVisible(cell) ? 1 : 0;
      left += isLasting(cell) ? 1 : 0;
    }
    TreeNode root = new TreeNode.Leaf(null, leaf.keys, reset, leaf.size);
    EntryTree<K, V> map =
        leaf.size == 0 ? EntryTree.empty() : EntryTree.<K, V>empty().with(root, leaf.size, 0);
    return with(new EntryContent<>(map, null, sum, heapSum, seen, left));
  }

  /** All entries, in the order of the keys. */
  public final Iterable<TreeEntry<K, V>> cells() {
    return behind == null ? cells : () -> walk(null, false);
  }

  /**
   * All entries, of a decomposed object those that are in memory: the others were written here, so
   * whoever keeps account of what was seen has seen them.
   */
  public final Iterable<TreeEntry<K, V>> cellsInMemory() {
    return cells;
  }

  /** The entry before which there are so many, of one that is not decomposed. */
  final TreeEntry<K, V> entryAt(int rank) {
    return cells.at(rank);
  }

  /** How many entries there are. */
  public final int entryCount() {
    return behind == null ? cells.size() : behind.size();
  }

  /**
   * The entries from a key on, that included, in the order of the keys or against it.
   *
   * @param from where it begins; null for the end that it comes from
   */
  public final Iterator<TreeEntry<K, V>> walk(@Nullable K from, boolean down) {
    Iterator<TreeEntry<K, V>> front =
        down ? cells.downFrom(from) : from == null ? cells.iterator() : cells.from(from);
    return behind == null
        ? front
        : new LayeredWalk<>(front, behind.entries().walk(from, down), down, this::isEmptyCell);
  }

  /** How many cells a reader sees. */
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

  /** What a key's cell takes if it is in memory, and large enough not to be packed; 0 otherwise. */
  public final long bytesInMemory(K key) {
    V cell = cells.unpacked(key);
    return cell == null ? 0 : cellBytes(key, cell);
  }

  /** What the keys' cells take if they are large: none is read from bytes, or the disk. */
  final long bytesOfLarge(List<K> keys) {
    long sum = 0;
    boolean isKnown = false;
    for (K key : keys) {
      V cell = cells.unpacked(key);
      if (cell != null) {
        sum += cellBytes(key, cell);
        isKnown = true;
      }
    }
    // Of what lies outside nothing is known but the average: no more than one of the keys is there.
    return isKnown || behind == null ? sum : bytes / Math.max(1, behind.size());
  }

  /** What is shown of the cells that a reader sees, in their order. */
  final <T> List<T> visible(Function<TreeEntry<K, V>, T> shown) {
    List<T> all = new ArrayList<>(behind == null ? visible : Math.min(visible, LOOSE_MAX));
    for (TreeEntry<K, V> entry : cells()) {
      if (isVisible(entry.cell())) {
        all.add(shown.apply(entry));
      }
    }
    return all;
  }

  /** What is shown of the cells that a reader sees within a range, in their order. */
  final <T> List<T> visible(Query.Range range, Function<TreeEntry<K, V>, T> shown) {
    return new RangeReader<>(this, range).visible(shown);
  }

  // ---------------------------------------------------------------- bytes

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
   * Reads what {@link #write} wrote, into a store without cells. All of it is checked here, also
   * what is packed.
   *
   * @param replicas the causal context's, by which packed leaves number theirs; none if nothing is
   *     to be packed
   */
  public S read(WireInput in, List<ReplicaId> replicas) {
    int n = in.readCount(entryBytesMin());
    return n > LOOSE_MAX && !replicas.isEmpty()
        ? readPacked(in, n, replicas)
        : readLoose(in, n, replicas);
  }

  /** Goes past what {@link #write} wrote; whether a reader sees any cell. */
  final boolean skipAll(WireInput in) {
    boolean isAny = false;
    for (int n = in.readCount(entryBytesMin()); n > 0; n--) {
      isAny |= skip(in);
    }
    return isAny;
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

  private S readLoose(WireInput in, int n, List<ReplicaId> replicas) {
    EntryEditor<S, K, V> result = edit();
    K before = null;
    for (int i = 0; i < n; i++) {
      K key = readKey(in, before);
      result.put(key, readCell(in, key, replicas));
      before = key;
    }
    return result.done();
  }

  private S readPacked(WireInput in, int n, List<ReplicaId> replicas) {
    EntryTree.Loading<K, V> map = new EntryTree.Loading<>(new LeafPacking<>(codecType(), replicas));
    long sum = 0;
    int seen = 0;
    int left = 0;
    K before = null;
    for (int i = 0; i < n; i++) {
      K key = readKey(in, before);
      V cell = readCell(in, key, replicas);
      map.add(key, cell);
      sum += cellBytes(key, cell);
      seen += isVisible(cell) ? 1 : 0;
      left += isLasting(cell) ? 1 : 0;
      before = key;
    }
    return with(new EntryContent<>(map.done(), null, sum, 0, seen, left));
  }

  private K readKey(WireInput in, @Nullable K before) {
    K key = readKey(in);
    if (before != null && before.compareTo(key) >= 0) {
      throw new MalformedException("elements or fields are not in order");
    }
    return key;
  }

  /**
   * An equal store whose leaves are packed where that makes it smaller: this if there is nothing to
   * do. Costs what is not packed, and the nodes above.
   *
   * @param replicas the causal context's
   */
  final S packLeaves(List<ReplicaId> replicas) {
    EntryTree<K, V> packed = cells.packed(codecType(), replicas);
    return packed == cells
        ? self()
        : with(new EntryContent<>(packed, behind, bytes, 0, visible, lasting));
  }

  /** What {@link #packLeaves} may make smaller, in bytes of the heap, about. */
  public final long looseHeapBytes() {
    return heap;
  }

  /** The type's empty store: what packs leaves must not hold the version that it was made for. */
  @SuppressWarnings("unchecked") // a type has one class
  public final EntryStore<?, K, V> codecType() {
    return (EntryStore<?, K, V>) TypeRegistry.empty(type());
  }

  // ---------------------------------------------------------------- decomposed objects

  /** Those of the entries that are in memory. */
  public final EntryTree<K, V> inMemory() {
    return cells;
  }

  /** What is not in memory; null where everything is. */
  public final @Nullable BackingStore<K, V> behind() {
    return behind;
  }

  /** The same content, with nothing outside yet. */
  public final S decomposed() {
    BackingStore<K, V> nothing =
        new BackingStore<>(
            new BackingEntries<>(codecType(), EntrySource.EMPTY, KeyBounds.NOTHING),
            entryCount(),
            RecentKeys.since(CausalContext.EMPTY));
    return with(new EntryContent<>(cells, nothing, bytes, heap, visible, lasting));
  }

  /** The same content, all in memory. */
  public final S whole() {
    EntryTree<K, V> all = all();
    return with(new EntryContent<>(all, null, bytes, looseHeapBytes(all), visible, lasting));
  }

  /**
   * The same content, of which less is in memory.
   *
   * @param source has what a former version of this had, and may have what came after that
   * @param changed what has changed since then
   * @param recent which entries were changed lately, but for those
   * @param bounds between which the others lie
   */
  public final S rebased(
      EntrySource source, EntryTree<K, V> changed, RecentKeys recent, KeyBounds bounds) {
    BackingStore<K, V> back =
        new BackingStore<>(new BackingEntries<>(codecType(), source, bounds), entryCount(), recent);
    return with(
        new EntryContent<>(changed, back, bytes, looseHeapBytes(changed), visible, lasting));
  }

  private long looseHeapBytes(EntryTree<K, V> loose) {
    long sum = 0;
    for (TreeEntry<K, V> entry : loose) {
      sum += cellHeapBytes(entry.key(), entry.cell());
    }
    return sum;
  }

  /** Writes what is summed over all entries. */
  public final void writeSums(WireOutput out) {
    out.writeNumber(entryCount());
    out.writeNumber(bytes);
    out.writeNumber(visible);
    out.writeNumber(lasting);
  }

  /**
   * Reads what {@link #writeSums} wrote, into a store without cells.
   *
   * @param context of the version that the source has
   */
  public final S readSums(WireInput in, EntrySource source, CausalContext context) {
    int size = readSum(in);
    long sum = in.readNumber();
    int seen = readSum(in);
    int left = readSum(in);
    if (seen > size || left > size || (long) size * entryBytesMin() > sum || sum > SUM_MAX) {
      throw new MalformedException(
          "of %d entries with %d bytes %d are seen and %d last".formatted(size, sum, seen, left));
    }
    BackingStore<K, V> back =
        new BackingStore<>(
            new BackingEntries<>(codecType(), source, KeyBounds.UNKNOWN),
            size,
            RecentKeys.since(context));
    return with(new EntryContent<>(EntryTree.empty(), back, sum, 0, seen, left));
  }

  private static int readSum(WireInput in) {
    long sum = in.readNumber();
    if (sum < 0 || sum > Integer.MAX_VALUE) {
      throw new MalformedException("an object has " + sum + " entries");
    }
    return (int) sum;
  }

  @Override
  public final boolean equals(Object o) {
    return o instanceof EntryStore<?, ?, ?> s && type() == s.type() && hasEqualCells(s);
  }

  private boolean hasEqualCells(EntryStore<?, ?, ?> other) {
    if (behind == null && other.behind == null) {
      return cells.equals(other.cells);
    }
    return entryCount() == other.entryCount() && all().equals(other.all());
  }

  /** All entries in memory. */
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
