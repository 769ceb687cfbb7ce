package io.osier.datacenter.store.memory;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.LeaseTerm;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.VersionSearch;
import io.osier.datacenter.store.VersionStore;
import io.osier.propagation.host.StoredObjects.Logged;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps versions in memory: the simulator's disk, and the model with which the RocksDB adapter is
 * compared. Not thread-safe.
 */
public final class MemoryVersions implements VersionStore {
  private record Entry(
      VersionVector at,
      boolean isSnapshot,
      boolean isInPlace,
      boolean isAlone,
      Supplier<CrdtState> decoded,
      @Nullable Head head)
      implements VersionSearch.Stored {
    Entry(
        VersionVector at,
        boolean isSnapshot,
        boolean isInPlace,
        boolean isAlone,
        CrdtState content) {
      this(at, isSnapshot, isInPlace, isAlone, () -> content, null);
    }

    @Override
    public CrdtState content() {
      return decoded.get();
    }

    private static final Comparator<Entry> VERSIONS_NEWEST_FIRST =
        Comparator.<Entry>comparingLong(e -> -VersionSearch.maxOf(e.at))
            .thenComparing(e -> e.isSnapshot)
            .thenComparing(e -> e.at, (a, b) -> a.equals(b) ? 0 : compare(a, b));

    /** An object has one state in place, and it comes first. */
    static final Comparator<Entry> NEWEST_FIRST =
        (a, b) ->
            a.isInPlace || b.isInPlace
                ? Boolean.compare(b.isInPlace, a.isInPlace)
                : VERSIONS_NEWEST_FIRST.compare(a, b);

    private static int compare(VersionVector a, VersionVector b) {
      return a.toString().compareTo(b.toString());
    }
  }

  /** The written head of a decomposed object. */
  private record Head(int form, List<ReplicaId> replicas, byte[] bytes) {}

  private static final LeaseTerm.Times SHORT =
      new LeaseTerm.Times(0, TimeUnit.MILLISECONDS.toNanos(700), TimeUnit.SECONDS.toNanos(2));

  private static final CrdtType FIRST_TYPE = CrdtType.values()[0];
  private static final CrdtType LAST_TYPE = CrdtType.values()[CrdtType.values().length - 1];

  private final NavigableMap<ObjectId, NavigableSet<Entry>> objects = new TreeMap<>();
  private final NavigableMap<Long, ObjectId> log = new TreeMap<>();
  private final NavigableSet<ObjectId> removed = new TreeSet<>();
  private final NavigableSet<Deadline> deadlines = new TreeSet<>();
  private final NavigableMap<Long, TransactionId> transactions = new TreeMap<>();
  private final Set<ReplicaId> replicas = new TreeSet<>();

  /** The replicas of decomposed objects' entries, in the order of their numbers. */
  private final List<ReplicaId> numbered = new ArrayList<>();

  private final NavigableMap<ObjectId, MemoryEntries> entries = new TreeMap<>();
  private Optional<Set<CrdtType>> types = Optional.empty();
  private Optional<StoredState> state = Optional.empty();

  private final LeaseTerm.Times times;
  private final LongSupplier nanos;

  /** An empty store whose entries, once read, stay the same. */
  public MemoryVersions() {
    this(LeaseTerm.Times.DEFAULT, () -> 0);
  }

  /**
   * An empty store from which a decomposed object's former entries can be read for a second or two,
   * unless they are held: for much less time than from a disk.
   */
  public static MemoryVersions shortLived(LongSupplier nanos) {
    return new MemoryVersions(SHORT, nanos);
  }

  private MemoryVersions(LeaseTerm.Times times, LongSupplier nanos) {
    this.times = times;
    this.nanos = nanos;
  }

  /** Returns another store with the same content. */
  public MemoryVersions copy() {
    MemoryVersions copy = new MemoryVersions(times, nanos);
    objects.forEach((object, entries) -> copy.objects.put(object, new TreeSet<>(entries)));
    copy.log.putAll(log);
    copy.removed.addAll(removed);
    copy.deadlines.addAll(deadlines);
    copy.transactions.putAll(transactions);
    copy.replicas.addAll(replicas);
    copy.numbered.addAll(numbered);
    entries.forEach((object, e) -> copy.entries.put(object, e.copy()));
    // Heads are read with the entries of their own store.
    objects.forEach(
        (object, all) ->
            all.stream()
                .filter(e -> e.head != null)
                .forEach(e -> copy.putHead(object, e.at, e.isAlone, e.head)));
    copy.types = types;
    copy.state = state;
    return copy;
  }

  public void write(List<Change> group) {
    group.forEach(this::write);
  }

  private void write(Change change) {
    switch (change) {
      case Change.PutOperation p ->
          put(p.object(), new Entry(p.at(), false, false, false, p.delta()));
      case Change.PutSnapshot p ->
          put(p.object(), new Entry(p.at(), true, false, false, p.state()));
      case Change.PutInPlace p ->
          put(
              p.object(),
              new Entry(p.state().context().toVersionVector(), true, true, p.isAlone(), p.state()));
      case Change.PutDecomposed p -> put(p);
      case Change.DropEntries d -> entries.remove(d.object());
      case Change.PutTypes p -> types = Optional.of(p.types());
      case Change.Prune p -> prune(p.object());
      case Change.PutLogged p -> log.put(p.number(), p.object());
      case Change.PutTransaction p -> transactions.put(p.number(), p.transaction());
      case Change.DropTransactions d -> transactions.headMap(d.through(), true).clear();
      case Change.PutRemoved p -> removed.add(p.object());
      case Change.DropRemoved d -> removed.remove(d.object());
      case Change.PutDeadline p -> deadlines.add(p.deadline());
      case Change.DropDeadline d -> deadlines.remove(d.deadline());
      case Change.PutState p -> state = Optional.of(p.state());
      case Change.DropLogged d -> log.headMap(d.through(), true).clear();
      case Change.DropObject d -> objects.remove(d.object());
    }
  }

  private void put(Change.PutDecomposed put) {
    ObjectId object = put.object();
    CrdtState state = put.state();
    for (ReplicaId replica : state.context().replicas()) {
      if (!numbered.contains(replica)) {
        numbered.add(replica);
      }
    }
    MemoryEntries written = entries.computeIfAbsent(object, o -> new MemoryEntries());
    if (!put.giveChanged(numbered, written::put)) {
      MemoryEntries all = new MemoryEntries();
      Decomposition.all(state, numbered, all::put);
      entries.put(object, all);
    }
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              state.context().replicas().forEach(out::presetReplica);
              Decomposition.writeHead(state, out);
            });
    putHead(
        object,
        state.context().toVersionVector(),
        put.isAlone(),
        new Head(state.form(), state.context().replicas(), head));
  }

  private void putHead(ObjectId object, VersionVector at, boolean isAlone, Head head) {
    put(object, new Entry(at, true, true, isAlone, () -> read(object, head), head));
  }

  private CrdtState read(ObjectId object, Head head) {
    return Decomposition.readHead(
        head.form, head.replicas, new WireInput(head.bytes), entries(object));
  }

  @Override
  public EntrySource entries(ObjectId object) {
    MemoryEntries written = entries.get(object);
    return written == null
        ? EntrySource.EMPTY
        : written.source(
            numbered, () -> entries.get(object), new LeaseTerm(times, nanos.getAsLong()), nanos);
  }

  private void prune(ObjectId object) {
    NavigableSet<Entry> entries = recordsOf(object);
    Entry newest = null;
    for (Entry e : entries) {
      if (e.isSnapshot && (newest == null || VersionSearch.isNewer(e.at, newest.at))) {
        newest = e;
      }
    }
    if (newest != null) {
      Entry kept = newest;
      entries.removeIf(e -> e != kept && !e.isInPlace && e.at.isAtMost(kept.at));
    }
  }

  private void put(ObjectId object, Entry entry) {
    NavigableSet<Entry> entries =
        objects.computeIfAbsent(object, o -> new TreeSet<>(Entry.NEWEST_FIRST));
    entries.remove(entry);
    entries.add(entry);
    for (int i = 0; i < entry.at.size(); i++) {
      replicas.add(entry.at.replica(i));
    }
  }

  /** Returns every replica that a record names. */
  public Set<ReplicaId> replicas() {
    return Collections.unmodifiableSet(replicas);
  }

  private NavigableSet<Entry> recordsOf(ObjectId object) {
    return objects.getOrDefault(object, Collections.emptyNavigableSet());
  }

  private static @Nullable Entry inPlace(NavigableSet<Entry> entries) {
    Entry first = entries.isEmpty() ? null : entries.first();
    return first != null && first.isInPlace ? first : null;
  }

  private static Iterator<Entry> versions(NavigableSet<Entry> entries) {
    Iterator<Entry> versions = entries.iterator();
    if (inPlace(entries) != null) {
      versions.next();
    }
    return versions;
  }

  public int records(ObjectId object) {
    return recordsOf(object).size();
  }

  /** Finds the same as the RocksDB adapter, which looks for objects of the stored types only. */
  @Override
  public List<Loaded> load(Key key) {
    if (types.isPresent()) {
      List<Entry> all = new ArrayList<>();
      for (CrdtType type : types.get()) {
        Entry entry = inPlace(recordsOf(new ObjectId(key, type)));
        if (entry != null) {
          all.add(entry);
        }
      }
      if (all.isEmpty()) {
        return List.of();
      }
      if (all.size() == 1 && all.getFirst().isAlone) {
        return List.of(new Loaded(all.getFirst().content(), 0, 0, false));
      }
    }
    List<Loaded> found = new ArrayList<>(1);
    for (NavigableSet<Entry> entries :
        objects
            .subMap(new ObjectId(key, FIRST_TYPE), true, new ObjectId(key, LAST_TYPE), true)
            .values()) {
      VersionSearch.newest(inPlace(entries), versions(entries), replicas).ifPresent(found::add);
    }
    return found;
  }

  @Override
  public List<ObjectId> objects(Optional<ObjectId> after, Optional<Key> to, int limit) {
    NavigableMap<ObjectId, ?> from =
        after.isEmpty() ? objects : objects.tailMap(after.get(), false);
    return from.keySet().stream()
        .takeWhile(object -> to.isEmpty() || object.key().compareTo(to.get()) < 0)
        .limit(limit)
        .toList();
  }

  @Override
  public List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    NavigableSet<ObjectId> from = after.isEmpty() ? removed : removed.tailSet(after.get(), false);
    return from.stream().limit(limit).toList();
  }

  @Override
  public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
    NavigableSet<Deadline> from =
        after.isEmpty() ? deadlines : deadlines.tailSet(after.get(), false);
    return from.stream().limit(limit).toList();
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return log.tailMap(after, false).entrySet().stream()
        .limit(limit)
        .map(e -> new Logged(e.getKey(), e.getValue()))
        .toList();
  }

  @Override
  public List<Committed> transactions() {
    return transactions.entrySet().stream()
        .map(e -> new Committed(e.getKey(), e.getValue()))
        .toList();
  }

  @Override
  public Optional<Set<CrdtType>> types() {
    return types;
  }

  @Override
  public Optional<StoredState> state() {
    return state;
  }
}
