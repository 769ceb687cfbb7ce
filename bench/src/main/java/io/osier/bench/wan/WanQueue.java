package io.osier.bench.wan;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one connection has under way in one direction: items in their order, each with the time of
 * its arrival, and at last the end of the connection, which travels like a byte. Nothing arrives
 * while the direction is cut; after the heal {@link #restart} sends all of it again, as TCP does.
 * Not thread-safe.
 *
 * @param <T> what carries the bytes
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
   * An empty queue.
   *
   * @param bytesMax full from so many bytes on, or from fewer where the direction holds no more
   */
  WanQueue(WanDirection direction, long bytesMax) {
    this.direction = direction;
    this.bytesMax = bytesMax;
  }

  /** Puts bytes on their way. Takes them also when full: the sender must ask before it reads. */
  void offer(T content, long size, long nowNanos) {
    items.add(new Item<>(content, size, due(size, nowNanos)));
    bytes += size;
  }

  /** Puts the end of the connection on its way, behind all bytes. */
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

  /** The next bytes that have arrived, or null. */
  @Nullable T poll(long nowNanos) {
    Item<T> head = items.peek();
    if (head == null || direction.isCut() || head.dueNanos - nowNanos > 0) {
      return null;
    }
    items.remove();
    bytes -= head.bytes;
    return head.content;
  }

  /** Whether everything has arrived, the end too. */
  boolean isEnded(long nowNanos) {
    return ending && items.isEmpty() && !direction.isCut() && endDueNanos - nowNanos <= 0;
  }

  /** Whether something will arrive by the mere passing of time. */
  boolean isWaiting() {
    return !direction.isCut() && (!items.isEmpty() || ending);
  }

  /** When the next arrives; only if {@link #isWaiting}. */
  long nextDueNanos() {
    return items.isEmpty() ? endDueNanos : items.peek().dueNanos;
  }

  boolean isFull() {
    return bytes >= max();
  }

  /** Whether a sender that was told to wait may go on. */
  boolean hasRoomAgain() {
    return bytes <= max() / 2;
  }

  private long max() {
    return Math.min(bytesMax, direction.holdsBytes());
  }

  /** Sends again from now on what the cut held back. */
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
