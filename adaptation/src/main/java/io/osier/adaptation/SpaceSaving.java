package io.osier.adaptation;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
 * <p>Who wants to know more of each kept item has it noted with the item's counter, where it is
 * found without a further search, and goes with it.
 *
 * <p>Not thread-safe.
 *
 * @param <T> items; need equals and hashCode
 * @param <A> what is noted of each that is kept
 */
public final class SpaceSaving<T, A> {
  private static final class Counter<T, A> {
    T item;
    final A note;
    long error;
    Bucket<T, A> bucket;
    @Nullable Counter<T, A> previous;
    @Nullable Counter<T, A> next;

    Counter(T item, A note, Bucket<T, A> bucket) {
      this.item = item;
      this.note = note;
      this.bucket = bucket;
    }
  }

  /** All counters of one value. */
  private static final class Bucket<T, A> {
    long count;
    @Nullable Counter<T, A> first;
    @Nullable Bucket<T, A> lower;
    @Nullable Bucket<T, A> higher;
  }

  /**
   * A kept item.
   *
   * @param note what is noted of it
   * @param count its true count is at most this
   * @param error and at least count − error
   */
  public record Entry<T, A>(T item, A note, long count, long error) {}

  private final int capacity;
  private final Supplier<A> blank;
  private final BiConsumer<T, A> dropped;
  private final Map<T, Counter<T, A>> counters;
  private @Nullable Bucket<T, A> lowest;
  private @Nullable Bucket<T, A> highest;

  /**
   * @param capacity how many counters, at least 1
   * @param blank gives what is noted of an item at first
   * @param dropped hears of items whose counter another one takes over, and makes blank what is
   *     noted there: that is the other one's from now on
   */
  public SpaceSaving(int capacity, Supplier<A> blank, BiConsumer<T, A> dropped) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity must be at least 1, not " + capacity);
    }
    this.capacity = capacity;
    this.blank = blank;
    this.dropped = dropped;
    this.counters = HashMap.newHashMap(capacity + 1);
  }

  /**
   * Counts an item: O(1).
   *
   * @return what is noted of it
   */
  public A offer(T item) {
    Counter<T, A> counter = counters.get(item);
    if (counter != null) {
      increment(counter);
    } else if (counters.size() < capacity) {
      Bucket<T, A> bucket = bucketAbove(null, 1);
      counter = new Counter<>(item, blank.get(), bucket);
      counters.put(item, counter);
      attach(counter, bucket);
    } else {
      Bucket<T, A> smallest = requireNonNull(lowest);
      counter = requireNonNull(smallest.first);
      T before = counter.item;
      counters.remove(before);
      counter.item = item;
      counter.error = smallest.count;
      counters.put(item, counter);
      increment(counter);
      dropped.accept(before, counter.note);
    }
    return counter.note;
  }

  private void increment(Counter<T, A> counter) {
    Bucket<T, A> from = counter.bucket;
    Bucket<T, A> to = bucketAbove(from, from.count + 1);
    detach(counter);
    attach(counter, to);
  }

  /** The bucket of a value right above a bucket (null: at the bottom), made if it is not there. */
  private Bucket<T, A> bucketAbove(@Nullable Bucket<T, A> below, long count) {
    Bucket<T, A> above = below == null ? lowest : below.higher;
    if (above != null && above.count == count) {
      return above;
    }
    Bucket<T, A> made = new Bucket<>();
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

  private void attach(Counter<T, A> counter, Bucket<T, A> bucket) {
    counter.bucket = bucket;
    counter.previous = null;
    counter.next = bucket.first;
    if (bucket.first != null) {
      bucket.first.previous = counter;
    }
    bucket.first = counter;
  }

  private void detach(Counter<T, A> counter) {
    Bucket<T, A> bucket = counter.bucket;
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

  private void unlink(Bucket<T, A> bucket) {
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
    List<Counter<T, A>> kept = new ArrayList<>(counters.size());
    forEachFromTheTop(counters.size(), kept::add);
    lowest = null;
    highest = null;
    for (Counter<T, A> counter : kept.reversed()) {
      long count = (counter.bucket.count + 1) / 2;
      counter.error = (counter.error + 1) / 2;
      attach(
          counter,
          highest != null && highest.count == count ? highest : bucketAbove(highest, count));
    }
  }

  /**
   * The k items with the largest counts, largest first; ties in no meaningful but a fixed order.
   */
  public List<Entry<T, A>> top(int k) {
    List<Entry<T, A>> top = new ArrayList<>(Math.min(k, counters.size()));
    forEachFromTheTop(k, c -> top.add(new Entry<>(c.item, c.note, c.bucket.count, c.error)));
    return top;
  }

  private void forEachFromTheTop(int k, Consumer<Counter<T, A>> each) {
    int left = k;
    for (Bucket<T, A> bucket = highest; bucket != null; bucket = bucket.lower) {
      for (Counter<T, A> c = bucket.first; c != null; c = c.next) {
        if (left-- <= 0) {
          return;
        }
        each.accept(c);
      }
    }
  }

  /** What is noted of each item that is kept, in no meaningful order. */
  public void forEachNote(Consumer<A> each) {
    counters.values().forEach(counter -> each.accept(counter.note));
  }

  /** What is noted of an item; null if it is not kept. */
  public @Nullable A note(T item) {
    Counter<T, A> counter = counters.get(item);
    return counter == null ? null : counter.note;
  }

  /** How many items are kept, at most the capacity. */
  public int size() {
    return counters.size();
  }
}
