package io.osier.datacenter.store.rocks;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.VersionSearch;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.RecordValues;
import io.osier.propagation.host.StoredObjects.Logged;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** One partition's versions in a {@link RocksDatabase}. Thread-safe. */
public final class RocksVersions implements VersionStore {
  private final RocksDatabase database;
  private final RecordKeys keys;

  /**
   * The types that reading a key looks for; empty if objects may have no state in place. A type is
   * added before any object of it is written.
   */
  private volatile Optional<Set<CrdtType>> types;

  RocksVersions(RocksDatabase database, RecordKeys keys) {
    this.database = database;
    this.keys = keys;
    this.types =
        database
            .open()
            .useOf(keys, db -> Optional.ofNullable(db.get(keys.types())).map(RecordValues::types));
  }

  /** Encodes changes as records for {@link RocksDatabase#write}. For any thread. */
  public EncodedGroup encode(List<Change> changes) {
    for (Change change : changes) {
      if (change instanceof Change.PutTypes p) {
        types = Optional.of(p.types());
      }
    }
    return EncodedGroup.of(changes, keys, database.dictionary());
  }

  private interface Search<T> {
    T in(RecordWalk walk);
  }

  private <T> T search(byte[] from, byte[] to, Search<T> search) {
    return database.open().useOf(keys, db -> search(db, from, to, search));
  }

  /** As {@link #search(byte[], byte[], Search)}, for data that clients are shown. */
  private <T> T searchShown(byte[] from, byte[] to, Search<T> search) {
    return database.open().use(keys, db -> search(db, from, to, search));
  }

  private <T> T search(RocksDB db, byte[] from, byte[] to, Search<T> search)
      throws RocksDBException {
    try (RecordWalk walk =
        new RecordWalk(db, database.dictionary(), database.gaps(), this::inPlace, from, to)) {
      T found = search.in(walk);
      walk.checkEnd();
      return found;
    }
  }

  /** Returns the results of a search for the records of a range, at most {@code limit}. */
  private <T> List<T> list(byte[] from, byte[] to, int limit, Search<T> of) {
    return search(
        from,
        to,
        walk -> {
          List<T> found = new ArrayList<>();
          while (found.size() < limit && walk.hasNext()) {
            found.add(of.in(walk));
            walk.skip();
          }
          return found;
        });
  }

  /**
   * Looks for states in place first. Point lookups use the bloom filter, so a key that does not
   * exist costs no block of a table, and a key whose only record says that it is alone costs one.
   */
  @Override
  public List<Loaded> load(Key key) {
    Optional<Set<CrdtType>> wanted = types;
    return wanted.flatMap(known -> loadInPlace(key, known)).orElseGet(() -> loadAll(key));
  }

  /** Loads the states in place; empty if the key may have other records. */
  private Optional<List<Loaded>> loadInPlace(Key key, Set<CrdtType> known) {
    return database
        .open()
        .use(
            keys,
            db -> {
              byte[] only = null;
              CrdtType ofType = null;
              List<byte[]> values = places(db, key, known);
              int i = 0;
              for (CrdtType type : known) {
                byte[] value = values.get(i++);
                if (value == null) {
                  continue;
                }
                if (only != null || !RecordValues.isAlone(value)) {
                  return Optional.empty();
                }
                only = value;
                ofType = type;
              }
              if (only == null || ofType == null) {
                return Optional.of(List.of());
              }
              return alone(db, new ObjectId(key, ofType), only)
                  .map(state -> List.of(new Loaded(state, 0, 0, false)));
            });
  }

  /** Returns an object that is alone, if it still is when its entries are read; empty otherwise. */
  private Optional<CrdtState> alone(RocksDB db, ObjectId object, byte[] value)
      throws RocksDBException {
    if (!RecordValues.isDecomposed(value)) {
      return Optional.of(RecordValues.inPlace(value, object.type(), database.dictionary()));
    }
    Head head = head(db, object, value);
    return head.value.length == 0 || !RecordValues.isAlone(head.value)
        ? Optional.empty()
        : Optional.of(state(object, head));
  }

  /**
   * Returns the object in its place; if it is decomposed, as it is now.
   *
   * @param value the bytes that were read there
   */
  private CrdtState inPlace(ObjectId object, byte[] value) {
    return RecordValues.isDecomposed(value)
        ? database.open().use(keys, db -> state(object, head(db, object, value)))
        : RecordValues.inPlace(value, object.type(), database.dictionary());
  }

  /**
   * The value in an object's place at the time of a lease.
   *
   * @param value empty if there was none
   */
  private record Head(byte[] value, SnapshotLease lease) {}

  /**
   * Returns an object's head with a lease of its time.
   *
   * @param value the bytes that were read; there may be others by now
   */
  private Head head(RocksDB db, ObjectId object, byte[] value) throws RocksDBException {
    long now = System.nanoTime();
    SnapshotLease recent = database.leases().recent(now);
    if (recent != null && Arrays.equals(value(db, object, recent), value)) {
      return new Head(value, recent);
    }
    SnapshotLease lease = database.leases().begin(db, now);
    return new Head(value(db, object, lease), lease);
  }

  private CrdtState state(ObjectId object, Head head) {
    if (head.value.length == 0) {
      return CrdtState.bottom(object.type()); // the object was dropped meanwhile
    }
    if (!RecordValues.isDecomposed(head.value)) {
      return RecordValues.inPlace(head.value, object.type(), database.dictionary());
    }
    EntrySource entries = entries(object, head.lease);
    return RecordValues.decomposed(head.value, object.type(), database.dictionary(), entries);
  }

  /** Returns the value in an object's place at the time of a lease; empty if there was none. */
  private byte[] value(RocksDB db, ObjectId object, SnapshotLease lease) throws RocksDBException {
    byte[] key = keys.inPlace(object);
    return lease.read(options -> Optional.ofNullable(db.get(options, key))).orElse(new byte[0]);
  }

  @Override
  public EntrySource entries(ObjectId object) {
    return database
        .open()
        .use(keys, db -> entries(object, database.leases().begin(db, System.nanoTime())));
  }

  private EntrySource entries(ObjectId object, SnapshotLease lease) {
    return new RocksEntries(
        database.open(), database.dictionary(), database.gaps(), keys, object, lease);
  }

  /**
   * Returns the values in the places of a key's objects, at one moment; null where there is none.
   */
  private List<byte[]> places(RocksDB db, Key key, Set<CrdtType> known) throws RocksDBException {
    if (known.isEmpty()) {
      return List.of(); // RocksDB wants at least one key
    }
    if (known.size() == 1) {
      ObjectId only = new ObjectId(key, known.iterator().next());
      return Collections.singletonList(db.get(keys.inPlace(only)));
    }
    return db.multiGetAsList(
        known.stream().map(type -> keys.inPlace(new ObjectId(key, type))).toList());
  }

  private List<Loaded> loadAll(Key key) {
    return searchShown(
        keys.keyBegin(key),
        keys.keyEnd(key),
        walk -> {
          List<Loaded> found = new ArrayList<>(1);
          while (walk.hasNext()) {
            byte[] first = walk.key();
            int length = RecordKeys.objectLength(first);
            byte[] end = Arrays.copyOf(first, length);
            end[length - 1]++;
            RecordWalk.Stored inPlace = walk.nextInPlace();
            VersionSearch.newest(inPlace, walk.until(end), database.replicas())
                .ifPresent(found::add);
            if (walk.hasNext() && Arrays.compareUnsigned(walk.key(), end) < 0) {
              walk.seek(end);
            }
          }
          return found;
        });
  }

  public int records(ObjectId object) {
    return list(keys.objectBegin(object), keys.objectEnd(object), Integer.MAX_VALUE, walk -> object)
        .size();
  }

  @Override
  public List<ObjectId> objects(Optional<ObjectId> after, Optional<Key> to, int limit) {
    byte[] from = after.map(keys::objectEnd).orElse(keys.objectsBegin());
    return searchShown(
        from,
        to.map(keys::keyBegin).orElse(keys.objectsEnd()),
        walk -> {
          List<ObjectId> found = new ArrayList<>();
          while (found.size() < limit && walk.hasNext()) {
            byte[] key = walk.key();
            found.add(RecordKeys.object(key));
            byte[] end = Arrays.copyOf(key, RecordKeys.objectLength(key));
            end[end.length - 1]++;
            walk.seek(end);
          }
          return found;
        });
  }

  @Override
  public List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    return list(
        keys.removedBegin(after), keys.removedEnd(), limit, walk -> RecordKeys.object(walk.key()));
  }

  @Override
  public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
    return list(
        keys.deadlinesBegin(after),
        keys.deadlinesEnd(),
        limit,
        walk -> RecordKeys.deadline(walk.key()));
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return list(
        keys.firstLogged(after),
        keys.logEnd(),
        limit,
        walk -> new Logged(RecordKeys.loggedNumber(walk.key()), RecordValues.logged(walk.value())));
  }

  @Override
  public List<Committed> transactions() {
    return list(
        keys.transaction(0),
        keys.transactionsEnd(),
        Integer.MAX_VALUE,
        walk ->
            new Committed(
                RecordKeys.loggedNumber(walk.key()), RecordValues.transaction(walk.value())));
  }

  @Override
  public Optional<Set<CrdtType>> types() {
    return types;
  }

  @Override
  public boolean isDamaged() {
    return !database.damage().isEmpty();
  }

  @Override
  public Optional<StoredState> state() {
    return database
        .open()
        .useOf(keys, db -> Optional.ofNullable(db.get(keys.state())).map(StoredState::decode));
  }
}
