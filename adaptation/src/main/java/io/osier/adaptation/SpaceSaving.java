package io.osier.adaptation;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The most frequent items of a stream in bounded memory: Space-Saving with its Stream-Summary
 * (Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data
 * Streams", 2005).
 *
 * <p>It keeps {@code capacity} counters. An item that has none takes over the smallest counter, and
 * that counter's former value is its error. Counters of equal value hang on one bucket, and buckets
 * form a list in the order of their values, so that an update moves a counter by one bucket: O(1),
 * without a search.
 *
 * <p>With N the number of offers: the true count of a kept item is in [count − error, count], error
 * ≤ N / capacity, and every item with a true count above N / capacity is kept.
 *
 * <p>Not thread-safe.
 *
 * @param <T> items; need equals and hashCode
 */
public final class SpaceSaving<T> {
  private static final class Counter<T> {
    T item;
    long error;
    Bucket<T> bucket;
    @Nullable Counter<T> previous;
    @Nullable Counter<T> next;

    Counter(T item, Bucket<T> bucket) {
      this.item = item;
      this.bucket = bucket;
    }
  }

  /** All counters of one value. */
  private static final class Bucket<T> {
    long count;
    @Nullable Counter<T> first;
    @Nullable Bucket<T> lower;
    @Nullable Bucket<T> higher;
  }

  /**
   * A kept item.
   *
   * @param count its true count is at most this
   * @param error and at least count − error
   */
  public record Entry<T>(T item, long count, long error) {}

  private final int capacity;
  private final Map<T, Counter<T>> counters;
  private @Nullable Bucket<T> lowest;
  private @Nullable Bucket<T> highest;

  /**
   * An empty summary.
   *
   * @param capacity how many counters, at least 1
   */
  public SpaceSaving(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity must be at least 1, not " + capacity);
    }
    this.capacity = capacity;
    this.counters = HashMap.newHashMap(capacity + 1);
  }

  /**
   * Counts an item: O(1).
   *
   * @return the item whose counter it took over, or null
   */
  public @Nullable T offer(T item) {
    Counter<T> counter = counters.get(item);
    if (counter != null) {
      increment(counter);
      return null;
    }
    if (counters.size() < capacity) {
      add(item, 0, bucketAbove(null, 1));
      return null;
    }
    Bucket<T> smallest = requireNonNull(lowest);
    counter = requireNonNull(smallest.first);
    T evicted = counter.item;
    counters.remove(evicted);
    counter.item = item;
    counter.error = smallest.count;
    counters.put(item, counter);
    increment(counter);
    return evicted;
  }

  private void add(T item, long error, Bucket<T> bucket) {
    Counter<T> counter = new Counter<>(item, bucket);
    counter.error = error;
    counters.put(item, counter);
    attach(counter, bucket);
  }

  private void increment(Counter<T> counter) {
    Bucket<T> from = counter.bucket;
    Bucket<T> to = bucketAbove(from, from.count + 1);
    detach(counter);
    attach(counter, to);
  }

  /** The bucket of a value right above a bucket (null: at the bottom), made if it is not there. */
  private Bucket<T> bucketAbove(@Nullable Bucket<T> below, long count) {
    Bucket<T> above = below == null ? lowest : below.higher;
    if (above != null && above.count == count) {
      return above;
    }
    Bucket<T> made = new Bucket<>();
    made.count = count;
    made.lower = below;
    made.higher = above;
    if (below == null) {
      lowest = made;
    } else {
      below.higher = made;
    }
    if (above == null) {
      highest = made;
    } else {
      above.lower = made;
    }
    return made;
  }

  private void attach(Counter<T> counter, Bucket<T> bucket) {
    counter.bucket = bucket;
    counter.previous = null;
    counter.next = bucket.first;
    if (bucket.first != null) {
      bucket.first.previous = counter;
    }
    bucket.first = counter;
  }

  private void detach(Counter<T> counter) {
    Bucket<T> bucket = counter.bucket;
    if (counter.previous == null) {
      bucket.first = counter.next;
    } else {
      counter.previous.next = counter.next;
    }
    if (counter.next != null) {
      counter.next.previous = counter.previous;
    }
    if (bucket.first == null) {
      unlink(bucket);
    }
  }

  private void unlink(Bucket<T> bucket) {
    if (bucket.lower == null) {
      lowest = bucket.higher;
    } else {
      bucket.lower.higher = bucket.higher;
    }
    if (bucket.higher == null) {
      highest = bucket.lower;
    } else {
      bucket.higher.lower = bucket.lower;
    }
  }

  /**
   * Halves every count and error, rounded up, so that old heat fades: what was offered before
   * weighs half. The order of counts stays, and so does the bound with N halved alike. O(capacity).
   */
  public void halve() {
    List<Entry<T>> kept = top(counters.size());
    counters.clear();
    lowest = null;
    highest = null;
    for (int i = kept.size() - 1; i >= 0; i--) {
      Entry<T> entry = kept.get(i);
      long count = (entry.count + 1) / 2;
      add(
          entry.item,
          (entry.error + 1) / 2,
          highest != null && highest.count == count ? highest : bucketAbove(highest, count));
    }
  }

  /**
   * The k items with the largest counts, largest first; ties in no meaningful but a fixed order.
   */
  public List<Entry<T>> top(int k) {
    List<Entry<T>> top = new ArrayList<>(Math.min(k, counters.size()));
    for (Bucket<T> bucket = highest; bucket != null; bucket = bucket.lower) {
      for (Counter<T> c = bucket.first; c != null; c = c.next) {
        if (top.size() == k) {
          return top;
        }
        top.add(new Entry<>(c.item, bucket.count, c.error));
      }
    }
    return top;
  }

  /** Whether the item has a counter. */
  public boolean contains(T item) {
    return counters.containsKey(item);
  }

  /** How many items are kept, at most the capacity. */
  public int size() {
    return counters.size();
  }
}
