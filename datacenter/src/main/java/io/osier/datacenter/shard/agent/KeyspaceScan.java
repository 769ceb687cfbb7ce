package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Makes one page of a scan: merges the durable objects of all partitions in their order, those on
 * the disk included. The page is bounded in rows, in bytes and in objects looked at. A scan holds
 * no lock and uses no partition's thread. Used by one thread.
 */
public final class KeyspaceScan {
  /** The most objects that a partition's walk reads at once. */
  private static final int BATCH_MAX = 256;

  /**
   * How many objects a walk reads first: most ranges are small, and objects beyond them are read in
   * vain.
   */
  private static final int BATCH_FIRST = 16;

  /** A page has at most so many bytes, unless a single row has more. */
  private static final long PAGE_BYTES_MAX = 4 << 20;

  /** The most bytes that all partitions' walks read ahead of the page. */
  private static final long AHEAD_BYTES_MAX = 4 << 20;

  /**
   * The most objects that a page looks at, wanted or not, so that a scan does not block other
   * readers.
   */
  static final int PAGE_OBJECTS_MAX = 5_000;

  /** The most dropped objects that are added to a page. */
  static final int DROPPED_MAX = 1_000;

  /** What a row without a value takes besides its key, about, in bytes. */
  private static final long BARE_BYTES = 16;

  private final ScanRequest scan;
  private final LongSupplier millis;
  private final PriorityQueue<Walk> walks =
      new PriorityQueue<>(Comparator.comparing(w -> w.current().object()));
  private final List<VersionVector> seen = new ArrayList<>();
  private final List<Reply.Row> rows = new ArrayList<>();
  private long counted;
  private long bytes;
  private int objects;

  private KeyspaceScan(List<ObjectStore> stores, ScanRequest scan, LongSupplier millis) {
    this.scan = scan;
    this.millis = millis;
    for (int i = 0; i < stores.size(); i++) {
      seen.add(VersionVector.EMPTY);
      Walk walk = new Walk(i, stores.get(i), AHEAD_BYTES_MAX / stores.size(), scan);
      if (!walk.isAtEnd()) {
        walks.add(walk);
      }
    }
  }

  /**
   * Returns a page of a scan.
   *
   * @param stores the partitions' stores, in order
   * @param millis the time, in milliseconds since 1970; asked for only where something expires
   * @throws OsierException INVALID_ARGUMENT if its limit is out of range, WRONG_TYPE if an object's
   *     type has no such query
   */
  public static Reply of(List<ObjectStore> stores, ScanRequest scan, LongSupplier millis) {
    if (scan.limit() < 1 || scan.limit() > Request.SCAN_ROWS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a scan's limit must be 1 to " + Request.SCAN_ROWS_MAX + ", not " + scan.limit());
    }
    return new KeyspaceScan(stores, scan, millis).page();
  }

  private Reply page() {
    Key last = null;
    while (!walks.isEmpty()) {
      Walk walk = walks.poll();
      StoredObjects.Entry entry = walk.current();
      Key key = entry.object().key();
      if (scan.to().isPresent() && key.compareTo(scan.to().get()) >= 0) {
        return page(Optional.empty());
      }
      // The next page starts with a whole key, so that a key's objects of several types stay
      // together.
      boolean newKey = !key.equals(last);
      objects++;
      if (newKey && (objects > PAGE_OBJECTS_MAX || isFull(entry))) {
        return page(Optional.of(key));
      }
      last = key;
      take(walk.partition, entry);
      walk.next();
      if (!walk.isAtEnd()) {
        walks.add(walk);
      }
    }
    return page(Optional.empty());
  }

  /** Returns whether the page has no room for this object, which the scan wants. */
  private boolean isFull(StoredObjects.Entry entry) {
    return isWanted(entry.state())
        && (rows.size() >= scan.limit()
            || (!rows.isEmpty() && bytes + bytesOf(entry) > PAGE_BYTES_MAX));
  }

  private boolean isWanted(CrdtState state) {
    return (scan.want() == ScanRequest.Want.KNOWN
            || (!state.isBottom() && !(state.expires() && state.isNothing(millis.getAsLong()))))
        && (scan.type().isEmpty() || scan.type().get() == state.type());
  }

  private long bytesOf(StoredObjects.Entry entry) {
    // A KNOWN scan's values are read later, as they were at this moment.
    boolean bare =
        scan.want() != ScanRequest.Want.KNOWN
            && (scan.query() instanceof Query.Exists || scan.query() instanceof Query.Size);
    return entry.object().key().length() + (bare ? BARE_BYTES : entry.state().sizeBytes());
  }

  private void take(int partition, StoredObjects.Entry entry) {
    CrdtState state = entry.state();
    if (!isWanted(state)) {
      return;
    }
    if (scan.want() == ScanRequest.Want.COUNT) {
      counted++;
    } else {
      rows.add(new Reply.Row(entry.object().key(), state.type(), read(state)));
      bytes += bytesOf(entry);
    }
    seen.set(partition, seen.get(partition).join(state.context().toVersionVector()));
  }

  private Reading read(CrdtState state) {
    boolean selects = scan.query() instanceof Query.Select;
    boolean asItWas = scan.want() == ScanRequest.Want.KNOWN || !state.expires();
    CrdtState seen = asItWas ? state : state.at(millis.getAsLong());
    return seen.read(selects && state.type() != CrdtType.OR_MAP ? new Query.Whole() : scan.query());
  }

  private Reply page(Optional<Key> next) {
    return scan.want() == ScanRequest.Want.COUNT
        ? new Reply.Counted(counted, next, seen)
        : new Reply.Page(rows, next, seen);
  }

  /** Merges a page of stored objects with the dropped objects of its range. */
  static Reply.Page together(Reply.Page stored, Reply.Page dropped) {
    TreeMap<ObjectId, Reply.Row> all = new TreeMap<>();
    dropped.rows().forEach(row -> all.put(new ObjectId(row.key(), row.type()), row));
    Optional<Key> end = dropped.next();
    stored.rows().stream()
        .filter(row -> end.isEmpty() || row.key().compareTo(end.get()) < 0)
        .forEach(row -> all.put(new ObjectId(row.key(), row.type()), row));
    return new Reply.Page(List.copyOf(all.values()), end.or(stored::next), stored.seen());
  }

  /** Walks one partition's objects in order. */
  private static final class Walk {
    private final int partition;
    private final ObjectStore store;
    private final long bytesMax;

    /** Where the scan ends. */
    private final Optional<Key> to;

    private int limit = BATCH_FIRST;
    private List<StoredObjects.Entry> batch;

    /** The next batch begins after this object. */
    private Optional<ObjectId> after;

    private boolean last;
    private int at;

    Walk(int partition, ObjectStore store, long bytesMax, ScanRequest scan) {
      this.partition = partition;
      this.store = store;
      this.bytesMax = bytesMax;
      this.to = scan.to();
      // Pages begin after an object; this is the key's first possible one, which is read by itself.
      this.after = scan.from().map(key -> new ObjectId(key, CrdtType.values()[0]));
      CrdtState first = after.map(store::getDurable).orElse(null);
      this.batch =
          first == null ? List.of() : List.of(new StoredObjects.Entry(after.orElseThrow(), first));
      fill();
    }

    boolean isAtEnd() {
      return at >= batch.size();
    }

    StoredObjects.Entry current() {
      return batch.get(at);
    }

    void next() {
      at++;
      fill();
    }

    /** Reads the next batch when the last one is used up, unless the walk has ended. */
    private void fill() {
      while (at >= batch.size() && !last) {
        StoredObjects.Page page = store.pageDurable(after, to, limit, bytesMax);
        limit = Math.min(BATCH_MAX, 4 * limit);
        batch = page.entries();
        last = page.end();
        at = 0;
        if (!batch.isEmpty()) {
          after = Optional.of(batch.getLast().object());
        }
      }
    }
  }
}
