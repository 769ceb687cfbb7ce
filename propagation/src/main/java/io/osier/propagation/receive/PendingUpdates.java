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
 * A stream's updates that wait for something that must come before them, by their objects, and when
 * the states of those are to be fetched instead. Not thread-safe.
 */
public final class PendingUpdates {
  /**
   * An update that cannot be applied yet.
   *
   * @param missing what it waits for, as far as that is other datacenters'
   * @param claimedBefore what the stream had claimed to be complete before this update came: until
   *     it is applied no more is complete
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

    /** What it takes in the heap, about, in bytes. */
    long heapBytes() {
      return HEAP_BYTES + shipment.heapBytes();
    }
  }

  /** How much longer an update is held for one of an origin whose stream stands still. */
  public static final long COMING_NANOS = 1_000_000_000;

  private final Map<ObjectId, ArrayDeque<Pending>> byObject = new LinkedHashMap<>();
  private final Map<ObjectId, Long> fetchedNanos = new LinkedHashMap<>();
  private long bytes;

  /**
   * Keeps an update back; it waits for what those before it wait for, too.
   *
   * @param claimed what the stream claims to be complete before it
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

  /** What is held of the object, oldest first. */
  List<Shipment> of(ObjectId object) {
    ArrayDeque<Pending> queue = byObject.get(object);
    return queue == null ? List.of() : queue.stream().map(Pending::shipment).toList();
  }

  /** The object's oldest held update, or null. */
  @Nullable Pending first(ObjectId object) {
    ArrayDeque<Pending> queue = byObject.get(object);
    return queue == null ? null : queue.peek();
  }

  /** Drops the object's oldest: there is one. */
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
   * Drops what is held of an object, though it was not applied.
   *
   * @return what the stream had claimed to be complete before the first of it
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

  /** The objects of which something is held. */
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

  /** What is held takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return bytes;
  }

  /** Of what the stream claims to be complete, what is: it ends before the oldest held update. */
  long complete(long claimed) {
    long complete = claimed;
    for (ArrayDeque<Pending> queue : byObject.values()) {
      complete = Math.min(complete, queue.peek().claimedBefore);
    }
    return complete;
  }

  /**
   * Objects that have been held for the grace time and were not fetched lately.
   *
   * @param comes whether what an update waits for is about to come: then it is waited for a little
   *     longer, once
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

  /** When there may be something to fetch, or to ask for again; Long.MAX_VALUE if never. */
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
