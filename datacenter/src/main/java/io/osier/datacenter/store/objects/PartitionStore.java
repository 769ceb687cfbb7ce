package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.VersionStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StoredObjects.Logged;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A partition's objects and its journal, over the versions of a {@link VersionStore}: gathers what
 * is to be written into groups, hands them to the writer, and lets everybody see what is durable.
 * What an update is written as is up to {@link UpdateRecords}; what is in memory, to {@link
 * ObjectCache}; what a start begins with, to {@link Recovery}.
 *
 * <p>One thread writes, the partition's; any thread may read.
 */
public final class PartitionStore implements ObjectStore, Journal {
  /** What the nearest deadlines take in memory; the others are on the disk alone. */
  private static final long DEADLINE_BYTES = 4 << 20;

  private final VersionStore versions;
  private final GroupWriter writer;
  private final ReplicaId self;
  private final ObjectCache objects;
  private final StoreScan scan;
  private final ReadAhead ahead;

  // Only the partition's thread touches what follows.
  private List<Change> changes = new ArrayList<>();

  /** The objects that the present group makes. */
  private final Set<ObjectId> made = new HashSet<>();

  private Set<Key> changed = new HashSet<>();
  private long group = 1;
  private long forgotten;
  private final OwnUpdateLog log;

  /** The log's entries of the present group, if it turns out that anybody may want them. */
  private List<Change.PutLogged> logged = new ArrayList<>();

  private final CommittedTransactions transactions = new CommittedTransactions();
  private Map<TransactionId, Long> recoveredTransactions = Map.of();

  /** Of the objects that were ever written; null where some may have no state in their place. */
  private @Nullable Set<CrdtType> types;

  private final AtomicLong keys = new AtomicLong();

  private final LargeObjects large;
  private final Deadlines deadlines;

  /** Up to this group everything is durable. */
  private volatile long durableGroup;

  private volatile Runnable wake = () -> {};

  /** The present group's updates, by object. */
  private Map<ObjectId, Gathered> gathered = new LinkedHashMap<>();

  /** Groups handed to the writer and not yet durable. */
  private final AtomicInteger underWay = new AtomicInteger();

  /** Updates of an object that belong to one group. */
  private static final class Gathered {
    private final List<CrdtState> contents = new ArrayList<>(2);
    private CrdtState state;

    private Gathered(CrdtState state) {
      this.state = state;
    }
  }

  /**
   * The store of a partition that is about to start.
   *
   * @param self the incarnation of this life
   * @param cacheBytes how much to keep in memory
   * @param logMax so many entries of the log are kept at most for datacenters that are away
   * @param hash places keys in memory
   * @param readers what reads ahead; its threads may wait
   */
  public PartitionStore(
      VersionStore versions,
      GroupWriter writer,
      ReplicaId self,
      long cacheBytes,
      long logMax,
      KeyedHash hash,
      Executor readers) {
    this(versions, writer, self, cacheBytes, logMax, hash, readers, DecompositionLimits.DEFAULT);
  }

  /**
   * As the other one, with other limits of what is large.
   *
   * @param limits when objects are decomposed
   */
  public PartitionStore(
      VersionStore versions,
      GroupWriter writer,
      ReplicaId self,
      long cacheBytes,
      long logMax,
      KeyedHash hash,
      Executor readers,
      DecompositionLimits limits) {
    this.versions = versions;
    this.writer = writer;
    this.self = self;
    this.log = new OwnUpdateLog(logMax);
    this.objects = new ObjectCache(versions, hash, cacheBytes, this::evicted);
    this.scan = new StoreScan(versions, objects);
    this.ahead = new ReadAhead(scan, objects, readers);
    this.deadlines = new Deadlines(new Notes(), readers, DEADLINE_BYTES);
    this.large = new LargeObjects(limits, versions::entries);
  }

  private final class Notes implements Deadlines.Notes {
    @Override
    public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
      return versions.deadlines(after, limit);
    }

    @Override
    public long group() {
      return changes.isEmpty() ? group - 1 : group;
    }

    @Override
    public long durableGroup() {
      return durableGroup;
    }

    @Override
    public void wake() {
      wake.run();
    }
  }

  private Runnable evicted(Key key, KeyObjects evicted) {
    List<Change> snapshots = UpdateRecords.ofEvicted(key, evicted);
    return snapshots.isEmpty() ? () -> {} : writer.someTime(snapshots);
  }

  /**
   * What the partition starts with. Called once, before anything else.
   *
   * @param life of the store
   * @param resumed whether the last incarnation goes on
   * @param replicas every replica that a record may name
   */
  public RecoveredState recover(long life, boolean resumed, Collection<ReplicaId> replicas) {
    Optional<Logged> firstLogged = versions.logged(0, 1).stream().findFirst();
    Recovery recovery = Recovery.of(versions.state(), firstLogged, self, life, resumed, replicas);
    keys.set(recovery.keys());
    forgotten = recovery.forgotten();
    changes.addAll(recovery.changes());
    recoverTypes();
    deadlines.recover();
    RecoveredState recovered = recovery.recovered();
    if (recovery.goesOn()) {
      log.recovered(recovered.loggedAfter(), recovered.committed());
      recoveredTransactions = transactions.recovered(versions.transactions());
    }
    return recovered;
  }

  /** Whether each object has a state in its place is known of stores that began so. */
  private void recoverTypes() {
    Optional<Set<CrdtType>> known = versions.types();
    if (known.isPresent()) {
      types = EnumSet.noneOf(CrdtType.class);
      types.addAll(known.get());
    } else if (versions.objects(Optional.empty(), 1).isEmpty()) {
      types = EnumSet.noneOf(CrdtType.class);
      changes.add(new Change.PutTypes(Set.of()));
    }
  }

  /** Notes that there is an object of a type, before it is written. */
  private void noteType(CrdtType type) {
    if (types != null && types.add(type)) {
      changes.add(new Change.PutTypes(EnumSet.copyOf(types)));
    }
  }

  // ---------------------------------------------------------------- objects

  @Override
  public boolean showsTogether() {
    return true;
  }

  @Override
  public boolean isDamaged() {
    return versions.isDamaged();
  }

  @Override
  public void attach(Runnable wakes) {
    wake = wakes;
    ahead.attach(wakes);
  }

  @Override
  public boolean isCached(Key key) {
    return objects.isCached(key);
  }

  @Override
  public void prefetch(Key key) {
    objects.prefetch(key);
  }

  @Override
  public Optional<StoredKey> durablyStored(Key key) {
    return objects.durablyStored(key);
  }

  @Override
  public @Nullable CrdtState get(ObjectId object) {
    return objects.get(object.key()).of(object);
  }

  @Override
  public @Nullable CrdtState getDurable(ObjectId object) {
    return objects.peek(object, true);
  }

  @Override
  public StoredKey stored(Key key) {
    return objects.stored(key);
  }

  @Override
  public void put(ObjectId object, CrdtState state) {
    Key key = object.key();
    KeyObjects before = objects.get(key);
    CrdtState old = before.of(object);
    boolean wasRemoved = old != null && old.isSpent();
    if (state.isSpent() != wasRemoved) {
      changes.add(wasRemoved ? new Change.DropRemoved(object) : new Change.PutRemoved(object));
    }
    deadlines.changed(object, old, state, changes);
    large.changing(object, old);
    if (before.states().isEmpty()) {
      keys.incrementAndGet();
    }
    objects.put(key, before.with(state, group));
    changed.add(key);
    ahead.changed(key);
    if (old == null) {
      made.add(object);
    }
  }

  @Override
  public boolean drop(ObjectId object) {
    Key key = object.key();
    if (objects.pending().containsKey(key)) {
      return false; // the adapter drops what it can see
    }
    KeyObjects before = objects.get(key);
    CrdtState state = before.of(object);
    if (state == null) {
      return true;
    }
    if (Decomposition.isDecomposed(state)) {
      changes.add(new Change.DropEntries(object));
    }
    forgotten++;
    KeyObjects after = before.without(object.type(), group);
    if (after.states().isEmpty()) {
      keys.decrementAndGet();
    }
    objects.putWithout(key, after);
    changed.add(key);
    ahead.changed(key);
    changes.add(new Change.DropObject(object));
    changes.add(new Change.DropRemoved(object));
    return true;
  }

  @Override
  public List<Deadline> expiring(long untilMillis, int limit) {
    return deadlines.take(untilMillis, limit);
  }

  @Override
  public long nextExpiryMillis() {
    return deadlines.nextMillis();
  }

  @Override
  public @Nullable Deadline deadlineAfter(Deadline before) {
    return deadlines.after(before);
  }

  @Override
  public long forgotten() {
    return forgotten;
  }

  @Override
  public List<Entry> scan(Optional<ObjectId> after, int limit) {
    return pageNow(after, limit, Long.MAX_VALUE).entries();
  }

  @Override
  public Page pageDurable(Optional<ObjectId> after, Optional<Key> to, int limit, long bytesMax) {
    return scan.durablePage(after, to, limit, bytesMax);
  }

  @Override
  public Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
    return scan.page(after, limit, bytesMax);
  }

  @Override
  public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    return ahead.page(after, limit, bytesMax);
  }

  @Override
  public boolean areAtHand(List<ObjectId> wanted) {
    return ahead.areAtHand(wanted);
  }

  @Override
  public List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    return versions.removed(after, limit);
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return versions.logged(after, limit);
  }

  @Override
  public long loggedAfter() {
    return log.droppedThrough();
  }

  @Override
  public long size() {
    return keys.get();
  }

  // ---------------------------------------------------------------- journal

  @Override
  public void append(Shipment update, CrdtState state) {
    ObjectId object = update.object();
    noteType(object.type());
    Gathered updates = gathered.computeIfAbsent(object, o -> new Gathered(state));
    updates.contents.add(update.content());
    updates.state = state;
    // Not a state that came back: the clearing of a large set is one, too.
    if (update.origin().equals(self) && update.updates() > 0) {
      logged.add(new Change.PutLogged(update.last(), update.object()));
    }
  }

  @Override
  public Map<TransactionId, Long> transactions() {
    return recoveredTransactions;
  }

  @Override
  public void committed(TransactionId transaction, long number) {
    transactions.add(transaction, number, changes);
  }

  @Override
  public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
    writeGathered();
    made.clear();
    large.groupEnded();
    large.settle(durableGroup, objects::replace);
    writeLogged(progress);
    progress.ifPresent(this::note);
    if (changes.isEmpty() && underWay.get() == 0) {
      whenDurable.run();
      return;
    }
    List<Change> written = changes;
    Set<Key> touched = changed;
    long number = group;
    changes = new ArrayList<>();
    changed = new HashSet<>();
    group++;
    underWay.incrementAndGet();
    writer.write(
        new GroupWriter.Group(
            written,
            heldBytes(touched),
            () -> {
              objects.becameDurable(touched, number);
              durableGroup = number;
              whenDurable.run();
              underWay.decrementAndGet();
            }));
  }

  /** After all else of the group: what it drops of an object was there before. */
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
            group,
            changes);
    CrdtState kept = large.written(object, state, group, durableGroup);
    objects.put(key, kept == updates.state ? written : written.with(kept, group));
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

  /** What stays pending until a group is written. */
  private long heldBytes(Set<Key> touched) {
    long bytes = 0;
    for (Key key : touched) {
      bytes += objects.get(key).heapBytes(key);
    }
    return bytes;
  }

  private void note(PartitionProgress p) {
    log.drop(Math.min(p.shipped(), p.committed()), isDamaged()).ifPresent(changes::add);
    changes.add(
        new Change.PutState(
            new StoredState(
                self,
                p.committed(),
                p.timestamp(),
                keys.get(),
                forgotten,
                p.others().through(),
                p.others().cursors(),
                p.others().settled(),
                p.caughtUp(),
                p.unremembered())));
  }

  /** From now on so much is kept in memory, beside what is not durable yet. For any thread. */
  public void setCacheBytes(long bytesMax) {
    objects.setBytesMax(bytesMax);
  }

  // ---------------------------------------------------------------- figures

  @Override
  public Figures figures() {
    return new Figures(
        objects.size(),
        objects.heapBytes(),
        objects.bytesMax(),
        objects.misses(),
        objects.slowMisses(),
        log.size());
  }
}
