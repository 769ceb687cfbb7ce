package io.osier.bench.wan;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a connection has in flight in one direction: items in their order, each with its
 * time of arrival, and at last the connection's end, which travels like a byte. Nothing arrives
 * while the direction is cut; after a heal {@link #restart} sends everything again, as TCP does.
 * Not thread-safe.
 *
 * @param <T> the type that carries the bytes
 */
final class WanQueue<T> {
  private record Item<T>(T content, long bytes, long dueNanos) {}

  private final WanDirection direction;
  private final long bytesMax;
  private ArrayDeque<Item<T>> items = new ArrayDeque<>();
  private long bytes;
  private long lastDueNanos;
  private boolean any;
  private boolean ending;
  private long endDueNanos;

  /**
   * Creates an empty queue.
   *
   * @param bytesMax the queue is full from this many bytes on, or from fewer if the direction holds
   *     fewer
   */
  WanQueue(WanDirection direction, long bytesMax) {
    this.direction = direction;
    this.bytesMax = bytesMax;
  }

  /** Adds bytes, also to a full queue: the reader must check {@link #isFull}. */
  void offer(T content, long size, long nowNanos) {
    items.add(new Item<>(content, size, due(size, nowNanos)));
    bytes += size;
  }

  /** Adds the end of the connection, behind all bytes. */
  void end(long nowNanos) {
    if (!ending) {
      ending = true;
      endDueNanos = due(0, nowNanos);
    }
  }

  /** Arrival times never decrease within a connection, so jitter cannot change the order. */
  private long due(long size, long nowNanos) {
    long due = direction.arrivalNanos(nowNanos, size);
    if (any && lastDueNanos - due > 0) {
      due = lastDueNanos;
    }
    any = true;
    lastDueNanos = due;
    return due;
  }

  /** Removes and returns the next bytes that have arrived, or null. */
  @Nullable T poll(long nowNanos) {
    Item<T> head = items.peek();
    if (head == null || direction.isCut() || head.dueNanos - nowNanos > 0) {
      return null;
    }
    items.remove();
    bytes -= head.bytes;
    return head.content;
  }

  /** Returns whether everything has arrived, including the end. */
  boolean isEnded(long nowNanos) {
    return ending && items.isEmpty() && !direction.isCut() && endDueNanos - nowNanos <= 0;
  }

  /** Returns whether bytes or the end will arrive as time passes. */
  boolean isWaiting() {
    return !direction.isCut() && (!items.isEmpty() || ending);
  }

  /** Returns when the next bytes or the end arrive; only if {@link #isWaiting}. */
  long nextDueNanos() {
    return items.isEmpty() ? endDueNanos : items.peek().dueNanos;
  }

  boolean isFull() {
    return bytes >= max();
  }

  /** Returns whether a full queue has delivered enough for reading to continue. */
  boolean hasRoomAgain() {
    return bytes <= max() / 2;
  }

  private long max() {
    return Math.min(bytesMax, direction.holdsBytes());
  }

  /** Sends everything again from now on, after a cut. */
  void restart(long nowNanos) {
    ArrayDeque<Item<T>> held = items;
    items = new ArrayDeque<>(held.size() + 1);
    any = false;
    for (Item<T> item : held) {
      items.add(new Item<>(item.content, item.bytes, due(item.bytes, nowNanos)));
    }
    if (ending) {
      endDueNanos = due(0, nowNanos);
    }
  }

  void clear(Consumer<T> dropped) {
    items.forEach(item -> dropped.accept(item.content));
    items.clear();
    bytes = 0;
  }
}
