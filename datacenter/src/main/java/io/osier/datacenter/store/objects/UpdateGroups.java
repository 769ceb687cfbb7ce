package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.VersionStore;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Gathers a partition's writes into groups, hands each group to the writer, and makes durable
 * objects visible to all readers. {@link UpdateRecords} decides in which form an update is written.
 * Only for the partition's thread, but for {@link #durable}.
 */
final class UpdateGroups {
  /** Updates of an object that belong to one group. */
  private static final class Gathered {
    private final List<CrdtState> contents = new ArrayList<>(2);
    private CrdtState state;

    private Gathered(CrdtState state) {
      this.state = state;
    }
  }

  private final VersionStore versions;
  private final GroupWriter writer;
  private final ReplicaId self;
  private final ObjectCache objects;
  private final LargeObjects large;
  private final OwnUpdateLog log;

  /** The types of all objects ever written; null if some objects may have no state in place. */
  private @Nullable Set<CrdtType> types;

  /** The number and changes of the present group. */
  private long number = 1;

  private List<Change> changes = new ArrayList<>();

  /** The objects that the present group creates. */
  private final Set<ObjectId> made = new HashSet<>();

  private Set<Key> changed = new HashSet<>();

  /** The updates of the present group, by object. */
  private Map<ObjectId, Gathered> gathered = new LinkedHashMap<>();

  /** The log entries of the present group, written if any peer may need them. */
  private List<Change.PutLogged> logged = new ArrayList<>();

  /** The group up to which everything is durable. */
  private volatile long durable;

  /** How many groups were handed to the writer and are not yet durable. */
  private final AtomicInteger underWay = new AtomicInteger();

  UpdateGroups(
      VersionStore versions,
      GroupWriter writer,
      ReplicaId self,
      ObjectCache objects,
      LargeObjects large,
      OwnUpdateLog log) {
    this.versions = versions;
    this.writer = writer;
    this.self = self;
    this.objects = objects;
    this.large = large;
    this.log = log;
  }

  /** Reads the types. They are known in stores that have had states in place from the beginning. */
  void recoverTypes() {
    Optional<Set<CrdtType>> known = versions.types();
    if (known.isPresent()) {
      types = EnumSet.noneOf(CrdtType.class);
      types.addAll(known.get());
    } else if (versions.objects(Optional.empty(), 1).isEmpty()) {
      types = EnumSet.noneOf(CrdtType.class);
      changes.add(new Change.PutTypes(Set.of()));
    }
  }

  /** Returns the number of the present group. */
  long number() {
    return number;
  }

  /** Adds a change to the present group. */
  void add(Change change) {
    changes.add(change);
  }

  /** Returns the number of the last group that has changes. */
  long lastChanged() {
    return changes.isEmpty() ? number - 1 : number;
  }

  /** Returns the group up to which everything is durable. For any thread. */
  long durable() {
    return durable;
  }

  /** Notes that the present group changes objects of this key. */
  void changed(Key key) {
    changed.add(key);
  }

  /** Notes that the present group creates this object. */
  void made(ObjectId object) {
    made.add(object);
  }

  /** Adds an update to the present group; {@code state} is the object with it. */
  void append(Shipment update, CrdtState state) {
    ObjectId object = update.object();
    noteType(object.type());
    Gathered updates = gathered.computeIfAbsent(object, o -> new Gathered(state));
    updates.contents.add(update.content());
    updates.state = state;
    // Not for a state that came back from a peer; the clearing of a large set is a state, too.
    if (update.origin().equals(self) && update.updates() > 0) {
      logged.add(new Change.PutLogged(update.last(), update.object()));
    }
  }

  /** Notes the type of an object before the object is written. */
  private void noteType(CrdtType type) {
    if (types != null && types.add(type)) {
      changes.add(new Change.PutTypes(EnumSet.copyOf(types)));
    }
  }

  /** Ends the present group; see {@link io.osier.datacenter.store.Journal#commit}. */
  void end(Optional<PartitionProgress> progress, long keys, long forgotten, Runnable whenDurable) {
    writeGathered();
    made.clear();
    large.groupEnded();
    large.settle(durable, objects::replace);
    writeLogged(progress);
    progress.ifPresent(p -> note(p, keys, forgotten));
    if (changes.isEmpty() && underWay.get() == 0) {
      whenDurable.run();
      return;
    }
    List<Change> written = changes;
    Set<Key> touched = changed;
    long ended = number;
    changes = new ArrayList<>();
    changed = new HashSet<>();
    number++;
    underWay.incrementAndGet();
    writer.write(
        new GroupWriter.Group(
            written,
            heldBytes(touched),
            () -> {
              objects.becameDurable(touched, ended);
              durable = ended;
              whenDurable.run();
              underWay.decrementAndGet();
            }));
  }

  /** Written after all other changes of the group, whose drops concern earlier groups. */
  private void writeGathered() {
    if (gathered.isEmpty()) {
      return;
    }
    gathered.forEach(this::write);
    gathered = new LinkedHashMap<>();
  }

  private void write(ObjectId object, Gathered updates) {
    Key key = object.key();
    CrdtState state = large.formed(object, updates.state, updates.contents);
    KeyObjects written =
        UpdateRecords.add(
            object,
            made.contains(object),
            updates.contents,
            state,
            large.before(object),
            objects.get(key),
            number,
            changes);
    CrdtState kept = large.written(object, state, number, durable);
    objects.put(key, kept == updates.state ? written : written.with(kept, number));
  }

  private void writeLogged(Optional<PartitionProgress> progress) {
    if (logged.isEmpty()) {
      return;
    }
    if (!progress.map(p -> log.skips(p.shipped(), p.committed())).orElse(false)) {
      changes.addAll(logged);
      log.added(logged.getLast().number());
    }
    logged = new ArrayList<>();
  }

  /** Returns the bytes that stay pending until a group is written. */
  private long heldBytes(Set<Key> touched) {
    long bytes = 0;
    for (Key key : touched) {
      bytes += objects.get(key).heapBytes(key);
    }
    return bytes;
  }

  private void note(PartitionProgress p, long keys, long forgotten) {
    log.drop(Math.min(p.shipped(), p.committed()), versions.isDamaged()).ifPresent(changes::add);
    changes.add(
        new Change.PutState(
            new StoredState(
                self,
                p.committed(),
                p.timestamp(),
                keys,
                forgotten,
                p.others().through(),
                p.others().cursors(),
                p.others().settled(),
                p.caughtUp(),
                p.unremembered())));
  }
}
