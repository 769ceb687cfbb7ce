package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
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
import io.osier.datacenter.store.VersionStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StoredObjects.Logged;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.TransactionId;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A partition's objects and its journal, over the versions of a {@link VersionStore}. {@link
 * UpdateGroups} decides what is written with which group, {@link ObjectCache} what is in memory,
 * {@link Recovery} what a start begins with.
 *
 * <p>One thread writes, the partition's; any thread may read.
 */
public final class PartitionStore implements ObjectStore, Journal {
  /** How many bytes of memory the nearest deadlines take; the others are only on the disk. */
  private static final long DEADLINE_BYTES = 4 << 20;

  private final VersionStore versions;
  private final GroupWriter writer;
  private final ReplicaId self;
  private final ObjectCache objects;
  private final StoreScan scan;
  private final ReadAhead ahead;

  private final OwnUpdateLog log;

  // Only the partition's thread uses these, except for counts.
  private final UpdateGroups groups;

  /** Takes changes of the present group. */
  private final Consumer<Change> changes;

  private final CommittedTransactions transactions = new CommittedTransactions();
  private Map<TransactionId, Long> recoveredTransactions = Map.of();
  private long forgotten;
  private final AtomicLong keys = new AtomicLong();

  private final LargeObjects large;
  private final Deadlines deadlines;

  private volatile Runnable wake = () -> {};

  /**
   * Makes the store of a partition that is about to start.
   *
   * @param self the datacenter's incarnation
   * @param cacheBytes how much to keep in memory
   * @param logMax the most entries of the log that are kept for datacenters that are away
   * @param readers read ahead; their threads may wait
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
   * As the other constructor, with other limits.
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
    this.groups = new UpdateGroups(versions, writer, self, objects, large, log);
    this.changes = groups::add;
  }

  private final class Notes implements Deadlines.Notes {
    @Override
    public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
      return versions.deadlines(after, limit);
    }

    @Override
    public long group() {
      return groups.lastChanged();
    }

    @Override
    public long durableGroup() {
      return groups.durable();
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

  /** Returns the state with which the partition starts. Called once, before anything else. */
  public RecoveredState recover(long life, boolean resumed, Collection<ReplicaId> replicas) {
    Optional<Logged> firstLogged = versions.logged(0, 1).stream().findFirst();
    Recovery recovery = Recovery.of(versions.state(), firstLogged, self, life, resumed, replicas);
    keys.set(recovery.keys());
    forgotten = recovery.forgotten();
    recovery.changes().forEach(changes);
    groups.recoverTypes();
    deadlines.recover();
    RecoveredState recovered = recovery.recovered();
    if (recovery.goesOn()) {
      log.recovered(recovered.loggedAfter(), recovered.committed());
      recoveredTransactions = transactions.recovered(versions.transactions());
    }
    return recovered;
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
  public StoredKey readDurably(Key key) {
    return objects.readDurably(key);
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
      changes.accept(wasRemoved ? new Change.DropRemoved(object) : new Change.PutRemoved(object));
    }
    deadlines.changed(object, old, state, changes);
    large.changing(object, old);
    if (before.states().isEmpty()) {
      keys.incrementAndGet();
    }
    objects.put(key, before.with(state, groups.number()));
    groups.changed(key);
    ahead.changed(key);
    if (old == null) {
      groups.made(object);
    }
  }

  @Override
  public boolean drop(ObjectId object) {
    Key key = object.key();
    if (objects.pending().containsKey(key)) {
      return false; // the adapter drops the versions that it finds
    }
    KeyObjects before = objects.get(key);
    CrdtState state = before.of(object);
    if (state == null) {
      return true;
    }
    if (Decomposition.isDecomposed(state)) {
      changes.accept(new Change.DropEntries(object));
    }
    forgotten++;
    KeyObjects after = before.without(object.type(), groups.number());
    if (after.states().isEmpty()) {
      keys.decrementAndGet();
    }
    objects.putWithout(key, after);
    groups.changed(key);
    ahead.changed(key);
    changes.accept(new Change.DropObject(object));
    changes.accept(new Change.DropRemoved(object));
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
    groups.append(update, state);
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
    groups.end(progress, keys.get(), forgotten, whenDurable);
  }

  /**
   * Sets how many bytes are kept in memory, besides objects that are not durable yet. For any
   * thread.
   */
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
