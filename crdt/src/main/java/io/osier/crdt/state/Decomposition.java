package io.osier.crdt.state;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.expiry.Expiry;
import io.osier.crdt.tree.EntrySource;
import io.osier.crdt.tree.EntryTree;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.RecentKeys;
import io.osier.crdt.tree.TreeChanges;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.BackingStore;
import io.osier.crdt.types.EntryStore;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Decomposed objects: large sets and maps whose entries lie outside the heap, each by itself. After
 * Brown, Lakhani and Place, "Big(ger) Sets: decomposed delta CRDT sets in Riak" (2016), as a form
 * of storage and not as a type: all other code treats a decomposed object like any other.
 *
 * <p>In memory are the <em>head</em> (context, deadlines, counts and sums) and the entries that
 * changed since their {@link EntrySource} was taken. An update reads from the source the entries
 * that it changes, a query a page of those that it shows; only a query for everything reads
 * everything.
 *
 * <p>All methods are pure but for the source, and safe for any thread.
 */
public final class Decomposition {
  /** Smaller fields are written as a whole with each update of them, without a check. */
  private static final long FIELD_BYTES_MAX = 64 << 10;

  /** See {@link #isMostlyOneField}: "much" is at least this share, and "little" at most. */
  private static final long FIELD_SHARE = 16;

  private Decomposition() {}

  /** Takes entries as bytes. */
  @FunctionalInterface
  public interface Sink {
    /**
     * Takes an entry.
     *
     * @param key bytes whose unsigned order is the order of the keys
     * @param cell the entry's content; null if there is no such entry (any more)
     */
    void entry(byte[] key, byte @Nullable [] cell);
  }

  /** Whether an object can be decomposed: it is a state of a set or a map. */
  public static boolean isPossible(CrdtState object) {
    return object.isFull() && object.store() instanceof EntryStore;
  }

  /** Whether entries of an object lie outside the heap, or are to. */
  public static boolean isDecomposed(CrdtState object) {
    return object.isDecomposed();
  }

  /** Returns an equal object that is decomposed, with all entries still in memory. */
  public static CrdtState of(CrdtState object) {
    return isDecomposed(object) ? object : with(object, cells(object).decomposed());
  }

  /** Returns an equal object that is not decomposed; reads all entries. */
  public static CrdtState whole(CrdtState object) {
    return isDecomposed(object) ? with(object, cells(object).whole()) : object;
  }

  private static CrdtState with(CrdtState object, DotStore<?> store) {
    return CrdtState.of(store, object.expiry(), object.context(), object.isFull());
  }

  private static EntryStore<?, ?, ?> cells(CrdtState object) {
    if (object.store() instanceof EntryStore<?, ?, ?> cells) {
      return cells;
    }
    throw new IllegalArgumentException("a " + object.type() + " has no entries");
  }

  /** Returns how many entries of a decomposed object are in memory, removed ones included. */
  public static int inMemory(CrdtState object) {
    return cells(object).inMemory().size();
  }

  /** Returns the average size of an object's entries, in bytes; 0 if it has none. */
  public static long averageEntryBytes(CrdtState object) {
    return object.store() instanceof EntryStore<?, ?, ?> cells
        ? cells.sizeBytes() / Math.max(1, cells.entryCount())
        : 0;
  }

  /** Returns about how many bytes are written of a decomposed object with each update of it. */
  public static long headBytes(CrdtState object) {
    return object.sizeBytes() - object.store().sizeBytes();
  }

  /**
   * Whether a map should rather be written as a whole, with its updates beside it: one of its
   * fields is a large share of it, and would be written again for updates that change little of
   * that field.
   *
   * @param updates the updates that were joined to it
   */
  public static boolean isMostlyOneField(CrdtState object, List<CrdtState> updates) {
    if (object.type() != CrdtType.OR_MAP) {
      return false;
    }
    long changed = 0;
    long written = 0;
    for (CrdtState update : updates) {
      changed += update.sizeBytes();
      written = Math.max(written, largest(cells(object), cells(update)));
    }
    return written > FIELD_BYTES_MAX
        && written > FIELD_SHARE * changed
        && FIELD_SHARE * written > object.sizeBytes();
  }

  /** Returns the bytes of the largest of the entries that an update mentions. */
  @SuppressWarnings("unchecked") // updates are of the object's type
  private static <K extends Comparable<K>, V> long largest(
      EntryStore<?, K, V> cells, EntryStore<?, ?, ?> update) {
    long largest = 0;
    for (TreeEntry<K, ?> entry : ((EntryStore<?, K, ?>) update).inMemory()) {
      largest = Math.max(largest, cells.bytesInMemory(entry.key()));
    }
    return largest;
  }

  /** Whether an object's source should be replaced by a later one. */
  public static boolean isOld(CrdtState object) {
    EntrySource source = source(object);
    return source != null && source.isOld();
  }

  /**
   * Keeps an object's source from changing for {@link EntrySource#HOLD_MILLIS}.
   *
   * @return whether it has not changed until now; always true for an object in memory
   */
  public static boolean hold(CrdtState object) {
    EntrySource source = source(object);
    return source == null || source.hold(EntrySource.HOLD_MILLIS, true);
  }

  /**
   * Returns the source of an object's entries that are not in memory; null if all are in memory.
   */
  public static @Nullable EntrySource source(CrdtState object) {
    return object.store() instanceof EntryStore<?, ?, ?> cells && cells.behind() != null
        ? cells.behind().entries().source()
        : null;
  }

  /**
   * Returns an equal object that reads written entries from a later source.
   *
   * @param written a version that this one was made of
   * @param source has that version; it may have some of the later changes, too
   * @return this if the two have different sources
   */
  public static CrdtState rebased(CrdtState object, CrdtState written, EntrySource source) {
    EntryStore<?, ?, ?> cells = cells(object);
    return with(object, rebased(cells, cells(written), written.context(), source));
  }

  @SuppressWarnings("unchecked") // versions of one object
  private static <K extends Comparable<K>, V> EntryStore<?, K, V> rebased(
      EntryStore<?, K, V> cells,
      EntryStore<?, ?, ?> written,
      CausalContext context,
      EntrySource source) {
    if (!haveSameSource(cells, written)) {
      return cells;
    }
    EntryTree<K, V> before = (EntryTree<K, V>) written.inMemory();
    EntryTree<K, V> changed = TreeChanges.since(before, cells.inMemory(), cells::isEmptyCell);
    RecentKeys recent = recent(written, context);
    return (EntryStore<?, K, V>) cells.rebased(source, changed, recent, bounds(written));
  }

  /**
   * Returns which entries were changed lately, for a version that has none of the written ones in
   * memory.
   */
  private static <K extends Comparable<K>, V> RecentKeys recent(
      EntryStore<?, K, V> written, CausalContext context) {
    Iterator<byte[]> keys =
        StreamSupport.stream(written.inMemory().spliterator(), false)
            .map(entry -> written.orderedKey(entry.key()))
            .iterator();
    return requireNonNull(written.behind()).recent().after(context, keys);
  }

  /**
   * Returns the bounds of the keys outside memory once a source has all of a version: the former
   * bounds, extended by the entries that the version had in memory. An entry that the source has
   * from later versions was changed since, so it is in memory.
   */
  private static <K extends Comparable<K>, V> KeyBounds bounds(EntryStore<?, K, V> written) {
    KeyBounds before = requireNonNull(written.behind()).entries().bounds();
    EntryTree<K, V> inMemory = written.inMemory();
    if (inMemory.size() == 0) {
      return before;
    }
    K first = inMemory.iterator().next().key();
    K last = inMemory.downFrom(null).next().key();
    return before.with(written.orderedKey(first), written.orderedKey(last));
  }

  /**
   * Returns an object that was read again, with the former one's knowledge of recent changes.
   *
   * @param former may be of any version, or form
   */
  public static CrdtState remembering(CrdtState object, CrdtState former) {
    if (!isDecomposed(object)
        || !isDecomposed(former)
        || !object.context().equals(former.context())) {
      return object;
    }
    RecentKeys recent = recent(cells(former), former.context());
    return with(object, remembering(cells(object), recent, bounds(cells(former))));
  }

  private static <K extends Comparable<K>, V> EntryStore<?, K, V> remembering(
      EntryStore<?, K, V> cells, RecentKeys recent, KeyBounds bounds) {
    EntrySource source = requireNonNull(cells.behind()).entries().source();
    return cells.rebased(source, cells.inMemory(), recent, bounds);
  }

  // ---------------------------------------------------------------- bytes

  /** Writes everything of an object but its entries, after the replicas of its context. */
  public static void writeHead(CrdtState object, WireOutput out) {
    out.writeRanges(object.context());
    cells(object).writeSums(out);
    if (object.expires()) {
      object.expiry().write(out, object.store());
    }
  }

  /**
   * Reads what {@link #writeHead} wrote.
   *
   * @param form the value of {@link CrdtState#form}
   * @param replicas the context's, in its order
   * @param source has the object's entries
   */
  public static CrdtState readHead(
      int form, List<ReplicaId> replicas, WireInput in, EntrySource source) {
    return in.readPart(
        replicas,
        part -> {
          CausalContext context = part.readRanges(replicas);
          EntryStore<?, ?, ?> type = cells(CrdtState.bottom(ObjectForm.type(form)));
          DotStore<?> store = type.readSums(part, source, context);
          Expiry expiry =
              ObjectForm.expires(form) ? Expiry.read(part, store, true, replicas) : Expiry.NONE;
          return CrdtState.of(store, expiry, context, true);
        });
  }

  /**
   * Hands all entries of an object to a sink.
   *
   * @param replicas number the dots by their index; include all replicas of the object's context
   */
  public static void all(CrdtState object, List<ReplicaId> replicas, Sink sink) {
    all(cells(object), replicas, sink);
  }

  private static <K extends Comparable<K>, V> void all(
      EntryStore<?, K, V> cells, List<ReplicaId> replicas, Sink sink) {
    Entries<K, V> entries = new Entries<>(cells, replicas, sink);
    for (TreeEntry<K, V> entry : cells.cells()) {
      entries.give(entry.key(), entry.cell());
    }
  }

  /**
   * Hands the entries that updates have changed to a sink, each once.
   *
   * @param updates the updates that were joined to a former version of the object, giving this one
   * @param replicas number the dots by their index; include all replicas of the object's context
   */
  public static void changed(
      CrdtState object, List<CrdtState> updates, List<ReplicaId> replicas, Sink sink) {
    changed(cells(object), updates, replicas, sink);
  }

  @SuppressWarnings("unchecked") // updates are of the object's type
  private static <K extends Comparable<K>, V> void changed(
      EntryStore<?, K, V> cells, List<CrdtState> updates, List<ReplicaId> replicas, Sink sink) {
    Entries<K, V> entries = new Entries<>(cells, replicas, sink);
    Set<K> given = new TreeSet<>(); // clients choose the keys, and may choose keys with one hash
    for (CrdtState update : updates) {
      for (TreeEntry<K, V> entry : ((EntryStore<?, K, V>) update.store()).cells()) {
        if (given.add(entry.key())) {
          entries.give(entry.key(), cells.find(entry.key()));
        }
      }
    }
  }

  /**
   * Hands the entries that differ between an object and a former version of it to a sink.
   *
   * @param before has the same source
   * @param replicas number the dots by their index; include all replicas of the object's context
   * @return false, without any entries, if it has another source
   */
  public static boolean changedSince(
      CrdtState object, CrdtState before, List<ReplicaId> replicas, Sink sink) {
    return changedSince(cells(object), cells(before), replicas, sink);
  }

  @SuppressWarnings("unchecked") // versions of one object
  private static <K extends Comparable<K>, V> boolean changedSince(
      EntryStore<?, K, V> cells, EntryStore<?, ?, ?> before, List<ReplicaId> replicas, Sink sink) {
    if (!haveSameSource(cells, before)) {
      return false;
    }
    Entries<K, V> entries = new Entries<>(cells, replicas, sink);
    EntryTree<K, V> former = (EntryTree<K, V>) before.inMemory();
    for (TreeEntry<K, V> entry : TreeChanges.since(former, cells.inMemory(), cells::isEmptyCell)) {
      entries.give(entry.key(), cells.isEmptyCell(entry.cell()) ? null : entry.cell());
    }
    return true;
  }

  private static boolean haveSameSource(EntryStore<?, ?, ?> one, EntryStore<?, ?, ?> other) {
    BackingStore<?, ?> a = one.behind();
    BackingStore<?, ?> b = other.behind();
    return a != null && b != null && a.entries() == b.entries();
  }

  private static final class Entries<K extends Comparable<K>, V> {
    private final EntryStore<?, K, V> type;
    private final int replicas;
    private final Sink sink;
    private final WireOutput out = new WireOutput();

    Entries(EntryStore<?, K, V> type, List<ReplicaId> replicas, Sink sink) {
      this.type = type;
      this.replicas = replicas.size();
      this.sink = sink;
      replicas.forEach(out::presetReplica);
    }

    void give(K key, @Nullable V cell) {
      if (cell == null) {
        sink.entry(type.orderedKey(key), null);
        return;
      }
      out.setPosition(0);
      type.writeCell(out, cell);
      if (out.replicas() != replicas) {
        throw new IllegalStateException("an entry's replica is not in its object's context");
      }
      sink.entry(type.orderedKey(key), Arrays.copyOf(out.getBuffer(), out.position()));
    }
  }
}
