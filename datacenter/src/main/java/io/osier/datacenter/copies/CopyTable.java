package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.forward.ForwardingHost;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The copies by what they are of, and their subscriptions: so many at most, within a budget of
 * bytes. Any thread may look into it; all else is done under its lock, which is that of {@link
 * Copies}, too.
 */
final class CopyTable {
  /** What a copy takes of the heap besides its states and its key. */
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
   * @param interest hears of copies that were not worth it
   * @param counts of those that are dropped
   */
  CopyTable(CopySettings settings, Interest interest, CopyCounts counts) {
    this.max = settings.followed();
    this.bytes = new ByteBudget(settings.bytes());
    this.interest = interest;
    this.counts = counts;
  }

  /** Whether nothing is followed. */
  boolean isEmpty() {
    return copies.isEmpty();
  }

  /** Those whose subscription has ended; what is in there counts in all figures but the size. */
  StaleCopies stale() {
    return stale;
  }

  /** Whether there is no room for one more that is as large as the others in the mean. */
  boolean isFull() {
    int size = copies.size() + stale.size();
    return size >= max || bytes.taken() + bytes.taken() / Math.max(1, size) > bytes.max();
  }

  int size() {
    return copies.size();
  }

  /** What the copies take of the heap. */
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

  List<Copy> all() {
    return List.copyOf(copies.values());
  }

  /** The subscription of a partition; null if nothing of it is copied. */
  @Nullable Subscription find(String keyspace, int partition) {
    return subscriptions.get(new PartitionName(keyspace, partition));
  }

  List<Subscription> subscriptions() {
    return List.copyOf(subscriptions.values());
  }

  /**
   * Adds a copy that holds nothing yet.
   *
   * @param held who holds its keyspace
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

  /** Takes the room for what a copy shall hold; false if there is not enough. */
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

  /** A copy holds this from now on, so one of its object that may be old is of no use. */
  void set(Copy copy, Copy.Version told) {
    copy.set(told);
    Copy old = stale.find(copy.name());
    if (old != null) {
      dropStale(old);
    }
  }

  /** Drops a copy, unless it was dropped before; a subscription ends with its last one. */
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
   * @param mayBeStale whether those that hold something may answer while no holder can be asked:
   *     they stay, with their bytes
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
        stale.add(copy); // first: it is found in either, by who notes what is shown
        copies.remove(copy.name(), copy);
        counts.dropped(CopyCounts.Dropped.CUT);
      }
    }
    end(of);
  }

  /** Drops one whose subscription has ended; false if there is none. */
  boolean dropStale() {
    Copy any = stale.any();
    if (any != null) {
      dropStale(any);
    }
    return any != null;
  }

  /** Drops one whose subscription has ended. */
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
