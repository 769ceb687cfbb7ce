package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.core.VersionVector;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;
import io.osier.propagation.pull.ObjectFetcher;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Holds a stream's updates that wait for something that must come before them, by object, and says
 * when the states of those objects are fetched instead. Not thread-safe.
 */
public final class PendingUpdates {
  /**
   * An update that cannot be applied yet.
   *
   * @param missing the updates of other replicas that it waits for; empty if it waits for its own
   *     origin
   * @param claimedBefore the number up to which the stream was complete before this update came: no
   *     more is complete until it is applied
   * @param sinceNanos when it came
   */
  record Pending(
      Shipment shipment,
      VersionVector missing,
      long claimedBefore,
      long sinceNanos,
      boolean outage,
      long sentMillis) {
    private static final long HEAP_BYTES =
        HeapSize.object(2 * HeapSize.REFERENCE + 3 * Long.BYTES + 1);

    /** Returns about how many bytes the update takes in the heap. */
    long heapBytes() {
      return HEAP_BYTES + shipment.heapBytes();
    }
  }

  /** How much longer an update waits for an origin whose stream stands still. */
  public static final long COMING_NANOS = 1_000_000_000;

  private final Map<ObjectId, ArrayDeque<Pending>> byObject = new LinkedHashMap<>();
  private final Map<ObjectId, Long> fetchedNanos = new LinkedHashMap<>();
  private long bytes;

  /**
   * Keeps an update back; it also waits for what the object's earlier waiting updates wait for.
   *
   * @param claimed the number up to which the stream claims to be complete before it
   */
  void add(
      Shipment shipment,
      VersionVector missing,
      long claimed,
      boolean outage,
      long sentMillis,
      long nowNanos) {
    ArrayDeque<Pending> queue =
        byObject.computeIfAbsent(shipment.object(), o -> new ArrayDeque<>(2));
    VersionVector all = queue.isEmpty() ? missing : missing.join(queue.peekLast().missing);
    Pending last = new Pending(shipment, all, claimed, nowNanos, outage, sentMillis);
    queue.add(last);
    bytes += last.heapBytes();
  }

  boolean isEmpty() {
    return byObject.isEmpty();
  }

  boolean has(ObjectId object) {
    return byObject.containsKey(object);
  }

  /** Returns the object's waiting updates, oldest first. */
  List<Shipment> of(ObjectId object) {
    ArrayDeque<Pending> queue = byObject.get(object);
    return queue == null ? List.of() : queue.stream().map(Pending::shipment).toList();
  }

  /** Returns the object's oldest waiting update; null if none waits. */
  @Nullable Pending first(ObjectId object) {
    ArrayDeque<Pending> queue = byObject.get(object);
    return queue == null ? null : queue.peek();
  }

  /** Drops the object's oldest waiting update, which must exist. */
  void dropFirst(ObjectId object) {
    ArrayDeque<Pending> queue =
        requireNonNull(byObject.get(object), "nothing of the object is held");
    bytes -= queue.remove().heapBytes();
    if (queue.isEmpty()) {
      byObject.remove(object);
      fetchedNanos.remove(object);
    }
  }

  /**
   * Drops an object's waiting updates without applying them.
   *
   * @return the number up to which the stream claimed to be complete before the first of them
   */
  long giveUp(ObjectId object) {
    long claimedBefore = Long.MAX_VALUE;
    for (Pending lost : requireNonNull(byObject.remove(object), "nothing of the object is held")) {
      bytes -= lost.heapBytes();
      claimedBefore = Math.min(claimedBefore, lost.claimedBefore);
    }
    fetchedNanos.remove(object);
    return claimedBefore;
  }

  /** Returns the objects of which updates wait. */
  List<ObjectId> objects() {
    return List.copyOf(byObject.keySet());
  }

  int count() {
    int count = 0;
    for (ArrayDeque<Pending> queue : byObject.values()) {
      count += queue.size();
    }
    return count;
  }

  /** Returns about how many bytes the waiting updates take in the heap. */
  long heapBytes() {
    return bytes;
  }

  /**
   * Returns up to which number the stream is complete: up to {@code claimed}, but not beyond the
   * oldest waiting update.
   */
  long complete(long claimed) {
    long complete = claimed;
    for (ArrayDeque<Pending> queue : byObject.values()) {
      complete = Math.min(complete, queue.peek().claimedBefore);
    }
    return complete;
  }

  /**
   * Returns the objects whose oldest update has waited for the grace time and which were not
   * fetched lately; they count as fetched now.
   *
   * @param comes whether the updates that an update waits for are about to come: then it waits
   *     {@link #COMING_NANOS} longer, once
   */
  List<ObjectId> toFetch(
      long nowNanos, long graceNanos, long retryNanos, Predicate<Shipment> comes) {
    List<ObjectId> objects = new ArrayList<>();
    for (Map.Entry<ObjectId, ArrayDeque<Pending>> entry : byObject.entrySet()) {
      boolean isFirst = !fetchedNanos.containsKey(entry.getKey());
      Pending oldest = entry.getValue().peek();
      boolean due = nowNanos - fetchNanos(entry.getKey(), oldest, graceNanos, retryNanos) >= 0;
      if (due && isFirst && comes.test(oldest.shipment)) {
        fetchedNanos.put(entry.getKey(), nowNanos - retryNanos + COMING_NANOS);
      } else if (due) {
        fetchedNanos.put(entry.getKey(), nowNanos);
        objects.add(entry.getKey());
        if (objects.size() == ObjectFetcher.OBJECTS_MAX) {
          break;
        }
      }
    }
    return objects;
  }

  /** Returns when there may be something to fetch or to repeat; Long.MAX_VALUE if never. */
  long nextFetchNanos(long graceNanos, long retryNanos) {
    long next = Long.MAX_VALUE;
    for (Map.Entry<ObjectId, ArrayDeque<Pending>> entry : byObject.entrySet()) {
      Pending oldest = entry.getValue().peek();
      next = Math.min(next, fetchNanos(entry.getKey(), oldest, graceNanos, retryNanos));
    }
    return next;
  }

  private long fetchNanos(ObjectId object, Pending oldest, long graceNanos, long retryNanos) {
    Long fetched = fetchedNanos.get(object);
    return fetched == null ? oldest.sinceNanos + graceNanos : fetched + retryNanos;
  }
}
