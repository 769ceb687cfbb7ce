package io.osier.datacenter.shard.agent;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.store.ObjectStore;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Acknowledges increments of counters and additions to add-wins sets in front of a partition, and
 * joins them, so that the partition commits many as one. Acknowledged updates are in the memory of
 * this process and nowhere else, like all data of a keyspace without a store; the partition gets
 * them after a window of at most a quarter of the SLA, which counts as part of the SLA.
 *
 * <p>It takes an update only if the update cannot fail later: the object exists with that type, and
 * there is room. Everything else goes to the partition. Any other read or update of an object first
 * lets the partition absorb the object's updates from here ({@link #isHolding}), so that clients
 * cannot tell the difference.
 *
 * <p>Any thread adds; updates are taken out, and noted as absorbed, under the partition's run lock.
 */
public final class Combiner {
  /**
   * The window is the SLA divided by a number between these: short while there is little to join,
   * long under load.
   */
  private static final int WINDOW_SHARE_MIN = 50;

  private static final int WINDOW_SHARE_MAX = 4;

  /**
   * The window grows when each object has this many updates on average. A low number, because a
   * partition that is busy with short windows leaves its callers no time to make more updates to
   * join.
   */
  private static final double JOINED_GROWS = 1.5;

  /** The window shrinks below this number: there is next to nothing to join. */
  private static final double JOINED_SHRINKS = 1.1;

  /** How far a counter may move in one window, up or down. */
  private static final long SUM_MAX = 1L << 60;

  /** How many bytes one set may gain in one window. */
  private static final long BYTES_MAX = 256 << 10;

  /** What an element takes besides its value, in bytes. */
  private static final int ELEMENT_BYTES = 16;

  private static final long SWEEP_NANOS = 1_000_000_000;

  /** Stands for any replica: whether a counter can move so far depends on its value alone. */
  private static final ReplicaId ANYONE = new ReplicaId("any", 1);

  /** The outcome of adding an update. */
  public enum Outcome {
    /** Nothing was done: the partition must execute the update. */
    REFUSED,
    /** The update is acknowledged. */
    TAKEN,
    /** The update is acknowledged, and {@link #takeDue} has something. */
    TAKEN_AND_DUE
  }

  /**
   * The updates held of one object. All fields but {@code holding} are guarded by the entry's
   * monitor.
   */
  private static final class Entry {
    final ObjectId object;

    /** Whether updates are acknowledged that the store gets only with the next absorption. */
    volatile boolean holding;

    private int count;
    private long sinceNanos;
    private long sum;

    /** A sorted set: clients could choose elements that all have one hash. */
    private final Set<Value> elements = new TreeSet<>();

    private long bytes;
    private long bytesMax;

    /** The bytes of updates that were taken out and are not in the store yet. */
    private long takenBytes;

    private boolean queued;
    private boolean idle;
    private boolean retired;

    Entry(ObjectId object) {
      this.object = object;
    }
  }

  private record Queued(Entry entry, long nanos) {}

  private final ObjectStore store;
  private volatile long objectBytesMax;

  /** Those that are being added take keys, which are left to the partition: it refuses them. */
  private volatile Homes homes = Homes.NONE;

  private final LongSupplier nanos;
  private final LongConsumer onDue;
  private volatile long windowMin;
  private volatile long windowMax;
  private final ConcurrentHashMap<Key, Entry> entries = new ConcurrentHashMap<>();
  private final Queue<Queued> queue = new ConcurrentLinkedQueue<>();
  private volatile long window;
  private volatile boolean closed;

  // Guarded by the run lock.
  private final List<Entry> taken = new ArrayList<>();
  private long sweptNanos;

  /**
   * @param nanos a monotonic clock
   * @param onDue is told when updates must be taken out, each time that an object is added
   */
  public Combiner(
      ObjectStore store, KeyspacePolicy policy, LongSupplier nanos, LongConsumer onDue) {
    this.nanos = nanos;
    this.store = store;
    this.onDue = onDue;
    configure(policy);
  }

  void configure(KeyspacePolicy policy) {
    objectBytesMax = policy.limits().objectBytesMax();
    windowMin = policy.sla().toNanos() / WINDOW_SHARE_MIN;
    windowMax = policy.sla().toNanos() / WINDOW_SHARE_MAX;
    window = windowMin;
    homes = policy.partitioning().homes();
    if (!homes.adding().isEmpty()) {
      entries.values().forEach(Combiner::await);
    }
  }

  /** Waits until nobody adds to an object who has not seen what was configured before. */
  private static void await(Entry entry) {
    synchronized (entry) {
      entry.idle = false;
    }
  }

  /** Returns whether updates of this kind may be taken at all. */
  static boolean isCombinable(CrdtType type, Operation operation) {
    return type == CrdtType.PN_COUNTER
        ? operation instanceof Operation.Increment
        : type == CrdtType.AW_SET && operation instanceof Operation.Add;
  }

  /**
   * Takes an update, and so acknowledges it.
   *
   * @param operation combinable, and within the keyspace's limits
   */
  Outcome add(Key key, CrdtType type, Operation operation) {
    while (true) {
      Entry entry = entries.get(key);
      if (entry == null) {
        ObjectId object = new ObjectId(key, type);
        if (store.get(object) == null) {
          return Outcome.REFUSED;
        }
        entry = entries.computeIfAbsent(key, k -> new Entry(object));
      }
      if (entry.object.type() != type) {
        return Outcome.REFUSED;
      }
      synchronized (entry) {
        if (closed || !homes.taker(key).isEmpty()) {
          return Outcome.REFUSED;
        }
        if (!entry.retired) {
          return add(entry, operation);
        }
      }
    }
  }

  private Outcome add(Entry entry, Operation operation) {
    if (entry.count == 0 && !open(entry)) {
      return Outcome.REFUSED;
    }
    boolean fits =
        operation instanceof Operation.Increment i
            ? addTo(entry, i.amount())
            : addTo(entry, ((Operation.Add) operation).elements());
    if (!fits) {
      return Outcome.REFUSED;
    }
    entry.idle = false;
    if (entry.count++ == 0) {
      entry.sinceNanos = nanos.getAsLong();
      entry.holding = true;
      if (!entry.queued) {
        entry.queued = true;
        queue.add(new Queued(entry, entry.sinceNanos));
        onDue.accept(entry.sinceNanos + window);
      }
      return dueNanos() <= entry.sinceNanos ? Outcome.TAKEN_AND_DUE : Outcome.TAKEN;
    }
    return Outcome.TAKEN;
  }

  /** Finds out how much the object can take in a window; false if nothing. */
  private boolean open(Entry entry) {
    CrdtState state = store.get(entry.object);
    if (state == null || state.isBottom() || state.expires()) {
      return false; // the partition checks the type and expiry
    }
    if (entry.object.type() == CrdtType.AW_SET) {
      long left = objectBytesMax - state.sizeBytes() - entry.takenBytes;
      entry.bytesMax = Math.min(BYTES_MAX, left);
      return entry.bytesMax > 0;
    }
    try {
      state.prepare(new Operation.Increment(SUM_MAX), ANYONE, 1, 0, 1, 0);
      state.prepare(new Operation.Increment(-SUM_MAX), ANYONE, 1, 0, 1, 0);
      return true;
    } catch (OsierException e) {
      return false; // near an end of its range
    }
  }

  private static boolean addTo(Entry entry, long amount) {
    if (amount > SUM_MAX / 2 || amount < -SUM_MAX / 2) {
      return false;
    }
    long sum = entry.sum + amount;
    if (sum > SUM_MAX / 2 || sum < -SUM_MAX / 2) {
      return false;
    }
    entry.sum = sum;
    return true;
  }

  private static boolean addTo(Entry entry, List<Value> elements) {
    long bytes = entry.bytes;
    for (Value element : elements) {
      bytes += entry.elements.contains(element) ? 0 : element.sizeBytes() + ELEMENT_BYTES;
    }
    if (bytes > entry.bytesMax) {
      return false;
    }
    entry.bytes = bytes;
    entry.elements.addAll(elements);
    return true;
  }

  /** Returns whether updates of a key are acknowledged that the store does not show yet. */
  boolean isHolding(Key key) {
    Entry entry = entries.get(key);
    return entry != null && entry.holding;
  }

  /** Returns whether any update is held. */
  boolean isHolding() {
    return entries.values().stream().anyMatch(e -> e.holding);
  }

  /** Returns when {@link #takeDue} has something; Long.MAX_VALUE if nothing is held. */
  long dueNanos() {
    Queued first = queue.peek();
    return first == null ? Long.MAX_VALUE : first.nanos + window;
  }

  /** Returns whether {@link #takeDue} should have been called a while ago. */
  boolean isLate(long nowNanos) {
    return nowNanos - windowMin > dueNanos();
  }

  /**
   * Takes out all updates once the first is due: objects taken together have the same windows from
   * then on.
   */
  List<Input.Absorbed.Update> takeDue(long nowNanos) {
    if (dueNanos() > nowNanos) {
      return List.of();
    }
    List<Input.Absorbed.Update> updates = takeAll();
    long count = 0;
    for (Input.Absorbed.Update update : updates) {
      count += update.count();
    }
    double joined = count / (double) Math.max(1, updates.size());
    if (joined >= JOINED_GROWS) {
      window = Math.min(windowMax, 2 * window);
    } else if (joined < JOINED_SHRINKS) {
      window = Math.max(windowMin, window / 2);
    }
    if (nowNanos - sweptNanos >= SWEEP_NANOS) {
      sweptNanos = nowNanos;
      sweep();
    }
    return updates;
  }

  List<Input.Absorbed.Update> takeAll() {
    List<Input.Absorbed.Update> updates = new ArrayList<>();
    for (int left = queue.size(); left > 0; left--) { // not those that are added meanwhile
      Queued next = queue.poll();
      if (next == null) {
        break;
      }
      synchronized (next.entry) {
        next.entry.queued = false;
        take(next.entry, updates);
      }
    }
    return updates;
  }

  List<Input.Absorbed.Update> take(Key key) {
    List<Input.Absorbed.Update> updates = new ArrayList<>(1);
    Entry entry = entries.get(key);
    if (entry != null) {
      synchronized (entry) {
        take(entry, updates);
      }
    }
    return updates;
  }

  private void take(Entry entry, List<Input.Absorbed.Update> updates) {
    if (entry.count == 0) {
      return;
    }
    Operation operation =
        entry.object.type() == CrdtType.AW_SET
            ? new Operation.Add(List.copyOf(entry.elements))
            : new Operation.Increment(entry.sum);
    updates.add(new Input.Absorbed.Update(entry.object, operation, entry.count, entry.sinceNanos));
    entry.count = 0;
    entry.sum = 0;
    entry.takenBytes += entry.bytes;
    entry.bytes = 0;
    entry.elements.clear();
    taken.add(entry);
  }

  /** Notes that the updates taken out are in the store now. */
  void absorbed() {
    for (Entry entry : taken) {
      synchronized (entry) {
        entry.holding = entry.count > 0;
        entry.takenBytes = 0;
      }
    }
    taken.clear();
  }

  /** Forgets objects that nobody has updated for a while. */
  private void sweep() {
    for (Iterator<Entry> i = entries.values().iterator(); i.hasNext(); ) {
      Entry entry = i.next();
      synchronized (entry) {
        if (entry.idle && !entry.holding && !entry.queued) {
          entry.retired = true;
          i.remove();
        }
        entry.idle = true;
      }
    }
  }

  /** Takes no more updates. When this returns, no more will be added to those held. */
  void close() {
    closed = true;
    for (Entry entry : entries.values()) {
      synchronized (entry) {
        entry.idle = true; // threads that were adding before have ended
      }
    }
  }
}
