package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.forward.ForwardingHost;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The copies by the name of their object, and their subscriptions, within a limit of number and a
 * budget of bytes. Any thread may look up; changes are guarded by the lock of this table, which is
 * that of {@link Copies}, too.
 */
final class CopyTable {
  /** What a copy takes of the heap besides its states and its key, in bytes. */
  private static final long COPY_BYTES = 600;

  private record PartitionName(String keyspace, int partition) {}

  private final int max;
  private final ByteBudget bytes;
  private final Interest interest;
  private final CopyCounts counts;
  private final Map<ObjectName, Copy> copies = new ConcurrentHashMap<>();
  private final Map<PartitionName, Subscription> subscriptions = new ConcurrentHashMap<>();
  private final StaleCopies stale = new StaleCopies();
  private long number;

  /**
   * @param interest is told of copies that were not worth it
   * @param counts counts the copies that are dropped
   */
  CopyTable(CopySettings settings, Interest interest, CopyCounts counts) {
    this.max = settings.followed();
    this.bytes = new ByteBudget(settings.bytes());
    this.interest = interest;
    this.counts = counts;
  }

  /** Returns whether there are no copies, apart from stale ones. */
  boolean isEmpty() {
    return copies.isEmpty();
  }

  /**
   * Returns the copies whose subscription has ended; they count in the bytes, but not in the size.
   */
  StaleCopies stale() {
    return stale;
  }

  /** Returns whether there is no room for one more copy of average size. */
  boolean isFull() {
    int size = copies.size() + stale.size();
    return size >= max || bytes.taken() + bytes.taken() / Math.max(1, size) > bytes.max();
  }

  int size() {
    return copies.size();
  }

  /** Returns the bytes of the heap that all copies take, about. */
  long bytes() {
    return bytes.taken();
  }

  boolean contains(ObjectName name) {
    return copies.containsKey(name);
  }

  @Nullable Copy find(ObjectName name) {
    return copies.get(name);
  }

  @Nullable Copy find(String keyspace, Key key) {
    return copies.isEmpty() ? null : copies.get(new ObjectName(keyspace, key));
  }

  /**
   * Notes that a forwarded answer shows these updates of keys of one partition; called before the
   * client gets the answer. For any thread.
   */
  void sees(String keyspace, List<Key> keys, VersionVector seen) {
    for (Key key : keys) {
      Copy copy = find(keyspace, key);
      if (copy != null) {
        copy.sees(seen);
      }
      Copy old = stale.find(keyspace, key);
      if (old != null) {
        old.sees(seen);
      }
    }
  }

  List<Copy> all() {
    return List.copyOf(copies.values());
  }

  /** Returns the subscription of a partition; null if none of its objects is copied. */
  @Nullable Subscription find(String keyspace, int partition) {
    return subscriptions.get(new PartitionName(keyspace, partition));
  }

  List<Subscription> subscriptions() {
    return List.copyOf(subscriptions.values());
  }

  /**
   * Adds a copy without states.
   *
   * @param held the holders of its keyspace
   * @return null if there is no room for it
   */
  @Nullable Copy tryAdd(Interest.Candidate of, ForwardingHost.Held held) {
    ObjectName name = of.name();
    if (!bytes.tryTake(emptyBytes(name))) {
      return null;
    }
    PartitionName partition =
        new PartitionName(name.keyspace(), held.partitioning().of(name.key()));
    Subscription subscription =
        subscriptions.computeIfAbsent(
            partition, p -> new Subscription(p.keyspace, p.partition, of.holder(), held, ++number));
    Copy copy = new Copy(name, ++number, subscription, of.demand());
    copies.put(name, copy);
    subscription.add(copy);
    return copy;
  }

  /**
   * Takes the bytes for the new states of a copy, for which stale copies make way; returns false if
   * there are not enough.
   */
  boolean makeRoom(Copy copy, Copy.Version version) {
    long more = version.bytes() - versionBytes(copy);
    if (more > 0) {
      boolean hasRoom = bytes.tryTake(more);
      while (!hasRoom && dropStale()) {
        hasRoom = bytes.tryTake(more);
      }
      return hasRoom;
    }
    bytes.give(-more);
    return true;
  }

  /** Gives a copy its new states, and drops the stale copy of the same object. */
  void set(Copy copy, Copy.Version told) {
    copy.set(told);
    Copy old = stale.find(copy.name());
    if (old != null) {
      dropStale(old);
    }
  }

  /** Drops a copy, unless it was dropped before; its subscription ends with its last copy. */
  void drop(Copy copy, CopyCounts.Dropped why) {
    if (!copies.remove(copy.name(), copy)) {
      return;
    }
    bytes.give(emptyBytes(copy.name()) + versionBytes(copy));
    copy.of().remove(copy);
    if (why != CopyCounts.Dropped.CUT) {
      interest.wasNotWorthIt(copy.demand());
    }
    counts.dropped(why);
    if (copy.of().copies().isEmpty()) {
      end(copy.of());
    }
  }

  /**
   * Ends a subscription, with its copies.
   *
   * @param mayBeStale whether copies with states may answer while no holder can be asked: they
   *     become stale copies and keep their bytes
   */
  void cut(Subscription of, boolean mayBeStale) {
    for (Copy copy : List.copyOf(of.copies().values())) {
      if (!mayBeStale || copy.version() == null) {
        drop(copy, CopyCounts.Dropped.CUT);
      } else {
        Copy older = stale.find(copy.name());
        if (older != null) {
          dropStale(older);
        }
        stale.add(copy); // first, so that whoever notes what was shown finds it in one of both
        copies.remove(copy.name(), copy);
        counts.dropped(CopyCounts.Dropped.CUT);
      }
    }
    end(of);
  }

  /** Drops any stale copy; returns false if there is none. */
  boolean dropStale() {
    Copy any = stale.any();
    if (any != null) {
      dropStale(any);
    }
    return any != null;
  }

  /** Drops a stale copy. */
  void dropStale(Copy copy) {
    stale.remove(copy);
    bytes.give(emptyBytes(copy.name()) + versionBytes(copy));
  }

  private void end(Subscription of) {
    of.end();
    subscriptions.remove(new PartitionName(of.keyspace(), of.partition()), of);
  }

  private static long emptyBytes(ObjectName name) {
    return COPY_BYTES + name.key().heapBytes();
  }

  private static long versionBytes(Copy copy) {
    Copy.Version version = copy.version();
    return version == null ? 0 : version.bytes();
  }
}
