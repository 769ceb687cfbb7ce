package io.osier.datacenter.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Frame.Cursor;
import io.osier.propagation.Recovered;
import io.osier.propagation.Replica.Logged;
import io.osier.propagation.Shipment;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Supplier;

/**
 * A partition's objects and its journal, over the versions of a {@link VersionStore}: log, cache
 * and recovery in one.
 *
 * <p>Objects are cached by weight. What was changed and is not yet durable is kept beside the cache
 * until it is, so nothing is read from the store that is older than what was executed; and only the
 * partition sees it, so that no reader knows what a crash can take back (invariants I4 and I5).
 *
 * <p>An update is written once: as an operation, or within a snapshot when enough operations have
 * gathered since the last one. One thread writes, the partition's; any thread may read.
 */
public final class PartitionStore implements ObjectStore, Journal {
  /** So many operations since the last snapshot make another one worth its bytes. */
  private static final int OPERATIONS_MAX = 256;

  /** So do operations that take as many bytes as the snapshot, and these. */
  private static final long OPERATION_BYTES_MIN = 512;

  /** An object with fewer operations than this is not worth a snapshot when it is evicted. */
  private static final int EVICTED_OPERATIONS_MIN = 8;

  /** What an entry of the cache takes beside key and value: see docs/BENCHMARKS.md. */
  private static final int ENTRY_BYTES = 330;

  /** How much larger small values are as objects than as bytes, roughly. */
  private static final int HEAP_FACTOR = 2;

  private static final long DROP_LOG_MIN = 1_000;

  /** Beyond {@link #TRANSACTIONS_KEPT} so many are dropped together. */
  private static final int DROP_TRANSACTIONS_MIN = 1_000;

  /**
   * The objects of a key.
   *
   * @param states in the order of their types
   * @param operations since the last snapshots
   * @param group the last that changed it; 0 when read from the store
   */
  private record Held(List<Causal> states, int operations, long operationBytes, long group) {
    static final Held NOTHING = new Held(List.of(), 0, 0, 0);

    Causal of(ObjectId object) {
      for (Causal state : states) {
        if (state.type() == object.type()) {
          return state;
        }
      }
      return null;
    }
  }

  private final VersionStore versions;
  private final GroupWriter writer;
  private final ReplicaId self;
  private final long logMax;
  private final Cache<Key, Held> cache;
  private final Map<Key, Held> pending = new ConcurrentHashMap<>();
  private final StampedLock settling = new StampedLock();
  private final LongAdder misses = new LongAdder();
  private final LongAdder slowMisses = new LongAdder();
  private volatile Thread owner;

  // Only the partition's thread touches what follows.
  private List<Change> changes = new ArrayList<>();
  private Set<Key> changed = new HashSet<>();
  private long group = 1;
  private long progressVersion = -1;
  private long droppedLog;
  private long forgotten;
  private Map<TransactionId, Long> recoveredTransactions = Map.of();
  private final ArrayDeque<Long> transactionNumbers = new ArrayDeque<>();
  private long droppedTransactions;

  private final AtomicLong keys = new AtomicLong();
  private volatile long logBegin;
  private volatile long logEnd;

  /** Groups handed to the writer and not yet durable. */
  private final AtomicInteger underWay = new AtomicInteger();

  /**
   * The store of a partition that is about to start.
   *
   * @param self the incarnation of this life
   * @param cacheBytes how much to keep in memory
   * @param logMax so many entries of the log are kept at most for datacenters that are away
   * @param executor what the cache evicts with
   */
  public PartitionStore(
      VersionStore versions,
      GroupWriter writer,
      ReplicaId self,
      long cacheBytes,
      long logMax,
      Executor executor) {
    this.versions = versions;
    this.writer = writer;
    this.self = self;
    this.logMax = logMax;
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(cacheBytes)
            .weigher((Key key, Held held) -> weight(key, held))
            .executor(executor)
            .removalListener(this::evicted)
            .build();
  }

  private static int weight(Key key, Held held) {
    long weight = (long) ENTRY_BYTES + key.length();
    for (Causal state : held.states) {
      weight += HEAP_FACTOR * state.sizeBytes();
    }
    return (int) Math.min(Integer.MAX_VALUE, weight);
  }

  // ---------------------------------------------------------------- recovery

  /**
   * What the partition starts with. Called once, before anything else.
   *
   * @param life of the store
   * @param resumed whether the last incarnation goes on
   * @param replicas every replica that a record may name
   */
  public Recovered recover(long life, boolean resumed, Collection<ReplicaId> replicas) {
    Optional<StoredState> found = versions.state();
    keys.set(found.map(StoredState::keys).orElse(0L));
    if (found.isEmpty()) {
      // It has no updates to lose, so an incarnation that goes on gives no number twice.
      return new Recovered(
          life, resumed, 0, 0, 0, VersionVector.EMPTY, Set.of(), Map.of(), false, 1);
    }
    StoredState state = found.get();
    if (!state.self().equals(self)) {
      return recoverFormer(life, state, replicas);
    }
    List<Logged> first = versions.logged(0, 1);
    long loggedAfter = first.isEmpty() ? state.committed() : first.getFirst().number() - 1;
    logBegin = loggedAfter;
    droppedLog = loggedAfter;
    logEnd = state.committed();
    forgotten = state.forgotten();
    recoveredTransactions = new LinkedHashMap<>();
    for (VersionStore.Committed c : versions.transactions()) {
      recoveredTransactions.put(c.transaction(), c.number());
      transactionNumbers.add(c.number());
    }
    return new Recovered(
        life,
        resumed,
        state.committed(),
        loggedAfter,
        state.timestamp(),
        state.through(),
        Set.copyOf(replicas),
        state.cursors(),
        resumed && state.settled(),
        1);
  }

  /** What a former incarnation stored is, to the new one, as if it had come from a peer. */
  private Recovered recoverFormer(long life, StoredState state, Collection<ReplicaId> replicas) {
    Set<ReplicaId> known = new HashSet<>(replicas);
    known.add(state.self());
    known.remove(self);
    VersionVector through =
        state.committed() == 0
            ? state.through()
            : state.through().raised(state.self(), state.committed());
    // The log is of numbers that now mean something else, and the state says so with it.
    StoredState now =
        new StoredState(
            self, 0, state.timestamp(), keys.get(), 0, through, Map.<ReplicaId, Cursor>of(), false);
    changes.add(new Change.DropLogged(0, state.committed()));
    changes.add(new Change.DropTransactions(0, state.committed()));
    changes.add(new Change.PutState(now));
    return new Recovered(life, false, 0, 0, state.timestamp(), through, known, Map.of(), false, 1);
  }

  // ---------------------------------------------------------------- objects

  private Held held(Key key) {
    Held held = pending.get(key);
    return held != null ? held : cache.get(key, this::load);
  }

  private Held load(Key key) {
    misses.increment();
    if (Thread.currentThread() == owner) {
      slowMisses.increment();
    }
    return read(key);
  }

  private Held read(Key key) {
    List<VersionStore.Loaded> loaded = versions.load(key);
    if (loaded.isEmpty()) {
      return Held.NOTHING;
    }
    List<Causal> states = new ArrayList<>(loaded.size());
    int operations = 0;
    long bytes = 0;
    for (VersionStore.Loaded l : loaded) {
      states.add(l.state());
      operations += l.operations();
      bytes += l.operationBytes();
    }
    return new Held(List.copyOf(states), operations, bytes, 0);
  }

  @Override
  public boolean showsTogether() {
    return true;
  }

  @Override
  public void attach() {
    owner = Thread.currentThread();
  }

  @Override
  public boolean isCached(Key key) {
    return pending.containsKey(key) || cache.getIfPresent(key) != null;
  }

  @Override
  public void prefetch(Key key) {
    if (!pending.containsKey(key)) {
      var unused = cache.get(key, this::load);
    }
  }

  @Override
  public Optional<List<Causal>> durable(Key key) {
    long stamp = settling.tryOptimisticRead();
    Optional<List<Causal>> found = settledStates(key);
    if (!settling.validate(stamp)) {
      stamp = settling.readLock();
      try {
        found = settledStates(key);
      } finally {
        settling.unlockRead(stamp);
      }
    }
    return found;
  }

  private Optional<List<Causal>> settledStates(Key key) {
    if (pending.containsKey(key)) {
      return Optional.empty();
    }
    Held held = cache.getIfPresent(key);
    // It may have become pending in between; then the cache still has what was durable before.
    return held == null ? Optional.empty() : Optional.of(held.states);
  }

  @Override
  public Causal get(ObjectId object) {
    return held(object.key()).of(object);
  }

  @Override
  public Causal getDurable(ObjectId object) {
    return peek(object, false);
  }

  @Override
  public List<Causal> get(Key key) {
    return held(key).states;
  }

  @Override
  public void put(ObjectId object, Causal state) {
    Key key = object.key();
    Held before = held(key);
    Causal old = before.of(object);
    boolean wasRemoved = old != null && old.isSpent();
    if (state.isSpent() != wasRemoved) {
      changes.add(wasRemoved ? new Change.DropRemoved(object) : new Change.PutRemoved(object));
    }
    List<Causal> states;
    if (before.states.isEmpty()) {
      states = List.of(state);
      keys.incrementAndGet();
    } else if (before.states.size() == 1 && before.states.getFirst().type() == object.type()) {
      states = List.of(state);
    } else {
      states = replaced(before.states, state);
    }
    pending.put(key, new Held(states, before.operations, before.operationBytes, group));
    changed.add(key);
  }

  static List<Causal> replaced(List<Causal> before, Causal state) {
    List<Causal> after = new ArrayList<>(before);
    after.removeIf(s -> s.type() == state.type());
    after.add(state);
    after.sort((a, b) -> a.type().compareTo(b.type()));
    return List.copyOf(after);
  }

  @Override
  public boolean drop(ObjectId object) {
    if (pending.containsKey(object.key())) {
      return false; // the adapter drops what it can see
    }
    Held before = held(object.key());
    List<Causal> states = new ArrayList<>(before.states);
    if (!states.removeIf(s -> s.type() == object.type())) {
      return true;
    }
    forgotten++;
    if (states.isEmpty()) {
      keys.decrementAndGet();
    }
    // A snapshot by the cache must not be written after the drop, or the object would be back.
    synchronized (pending) {
      pending.put(
          object.key(),
          new Held(List.copyOf(states), before.operations, before.operationBytes, group));
    }
    changed.add(object.key());
    changes.add(new Change.DropObject(object));
    changes.add(new Change.DropRemoved(object));
    return true;
  }

  @Override
  public long forgotten() {
    return forgotten;
  }

  @Override
  public List<Entry> scan(Optional<ObjectId> after, int limit) {
    return scan(after, limit, true);
  }

  @Override
  public List<Entry> scanDurable(Optional<ObjectId> after, int limit) {
    return scan(after, limit, false);
  }

  private List<Entry> scan(Optional<ObjectId> after, int limit, boolean withPending) {
    List<ObjectId> stored = versions.objects(after, limit);
    TreeMap<ObjectId, Causal> found = new TreeMap<>();
    for (ObjectId object : stored) {
      Causal state = peek(object, withPending);
      if (state != null) {
        found.put(object, state);
      }
    }
    if (withPending) {
      // New objects that are not in the store yet: few, unless the writer is far behind.
      ObjectId last = stored.size() == limit ? stored.getLast() : null;
      pending.forEach(
          (key, held) -> {
            for (Causal state : held.states) {
              ObjectId object = new ObjectId(key, state.type());
              if ((after.isEmpty() || object.compareTo(after.get()) > 0)
                  && (last == null || object.compareTo(last) <= 0)) {
                found.put(object, state);
              }
            }
          });
    }
    List<Entry> entries = new ArrayList<>(Math.min(limit, found.size()));
    for (Map.Entry<ObjectId, Causal> e : found.entrySet()) {
      if (entries.size() == limit) {
        break;
      }
      entries.add(new Entry(e.getKey(), e.getValue()));
    }
    if (entries.size() < limit && stored.size() == limit) {
      // Some were dropped meanwhile; fewer than asked for would mean the end.
      entries.addAll(scan(Optional.of(stored.getLast()), limit - entries.size(), withPending));
    }
    return entries;
  }

  /** An object, without taking a place in the cache for it: a scan must not evict what is hot. */
  private Causal peek(ObjectId object, boolean withPending) {
    Held held = pending.get(object.key());
    if (held != null && !withPending) {
      return read(object.key()).of(object);
    }
    if (held == null) {
      held = cache.getIfPresent(object.key());
    }
    return (held == null ? read(object.key()) : held).of(object);
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
  public long size() {
    return keys.get();
  }

  // ---------------------------------------------------------------- journal

  @Override
  public void append(Shipment update, Causal state) {
    ObjectId object = update.object();
    Key key = object.key();
    Held held = pending.get(key);
    int operations = held.operations + 1;
    long bytes = held.operationBytes + update.content().sizeBytes();
    VersionVector at = state.context().toVersionVector();
    boolean snapshot =
        update.content().isFull()
            || operations >= OPERATIONS_MAX
            || bytes >= OPERATION_BYTES_MIN + state.sizeBytes();
    if (snapshot) {
      changes.add(new Change.PutSnapshot(object, at, state));
      changes.add(new Change.Prune(object));
      operations = 0;
      bytes = 0;
    } else {
      VersionVector own = update.content().context().toVersionVector();
      changes.add(new Change.PutOperation(object, own, update.content()));
    }
    pending.put(key, new Held(held.states, operations, bytes, group));
    if (update.origin().equals(self) && !update.content().isFull()) {
      changes.add(new Change.PutLogged(update.last(), object));
      logEnd = update.last();
    }
  }

  @Override
  public Map<TransactionId, Long> transactions() {
    return recoveredTransactions;
  }

  @Override
  public void committed(TransactionId transaction, long number) {
    changes.add(new Change.PutTransaction(number, transaction));
    transactionNumbers.add(number);
    if (transactionNumbers.size() >= TRANSACTIONS_KEPT + DROP_TRANSACTIONS_MIN) {
      long through = 0;
      while (transactionNumbers.size() > TRANSACTIONS_KEPT) {
        through = transactionNumbers.poll();
      }
      changes.add(new Change.DropTransactions(droppedTransactions, through));
      droppedTransactions = through;
    }
  }

  @Override
  public void commit(long version, Supplier<PartitionProgress> progress, Runnable whenDurable) {
    if (!changes.isEmpty() || version != progressVersion) {
      progressVersion = version;
      note(progress.get());
    }
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
            () -> {
              settled(touched, number);
              whenDurable.run();
              underWay.decrementAndGet();
            }));
  }

  private void note(PartitionProgress p) {
    long droppable = Math.min(p.shipped(), p.committed());
    long byCount = logEnd - logMax;
    long through = Math.max(droppable, byCount);
    if (through >= droppedLog + DROP_LOG_MIN) {
      changes.add(new Change.DropLogged(droppedLog, through));
      droppedLog = through;
      logBegin = through;
    }
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
                p.others().settled())));
  }

  /** A group is durable: what it changed last may be read by everybody, and evicted. */
  private void settled(Set<Key> touched, long number) {
    // Together: a transaction's objects must not be seen one by one.
    long stamp = settling.writeLock();
    try {
      touched.forEach(key -> settled(key, number));
    } finally {
      settling.unlockWrite(stamp);
    }
  }

  private void settled(Key key, long number) {
    Held held = pending.get(key);
    if (held != null && held.group == number) {
      cache.put(key, held);
      pending.remove(key, held);
    }
  }

  private void evicted(Key key, Held held, RemovalCause cause) {
    if (cause == RemovalCause.SIZE && held != null && held.operations >= EVICTED_OPERATIONS_MIN) {
      List<Change> snapshots = new ArrayList<>();
      for (Causal state : held.states) {
        ObjectId object = new ObjectId(key, state.type());
        snapshots.add(new Change.PutSnapshot(object, state.context().toVersionVector(), state));
        snapshots.add(new Change.Prune(object));
      }
      synchronized (pending) {
        if (!pending.containsKey(key)) {
          writer.writeSomeTime(snapshots);
        }
      }
    }
  }

  // ---------------------------------------------------------------- figures

  @Override
  public Figures figures() {
    return new Figures(
        cache.estimatedSize(), misses.sum(), slowMisses.sum(), Math.max(0, logEnd - logBegin));
  }
}
