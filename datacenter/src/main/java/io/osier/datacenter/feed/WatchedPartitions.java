package io.osier.datacenter.feed;

import io.osier.core.Partitioning;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The partitions of a feed with their rings. Partitions tell what becomes visible from the first
 * watcher on, and for a lease after the last watcher's poll. {@link #asked} is for any thread, all
 * else for the thread that has the feed's turn.
 */
final class WatchedPartitions {
  /**
   * How long partitions go on to tell changes after the last watcher's poll, since it may come
   * back.
   */
  static final long LEASE_NANOS = 600_000_000_000L;

  /** How long a key stays singly watched after its last poll. */
  private static final long KEY_LEASE_NANOS = 30_000_000_000L;

  private static final long KEY_SWEEP_NANOS = 5_000_000_000L;

  record Part(ChangeRing ring, FeedSource source) {}

  private final Partitioning partitioning;
  private final List<ChangeRing> rings;
  private final LongSupplier lives;
  private List<Part> parts = List.of();
  private volatile long askedNanos;

  /** When the last poll for more than one key came. */
  private volatile long prefixAskedNanos;

  private long keysSweptNanos;

  /**
   * Makes it; {@link #begin} passes the partitions.
   *
   * @param lives draws unique numbers other than 0
   */
  WatchedPartitions(
      Partitioning partitioning, List<ChangeRing> rings, LongSupplier lives, long now) {
    this.partitioning = partitioning;
    this.rings = rings;
    this.lives = lives;
    this.prefixAskedNanos = now;
    this.keysSweptNanos = now;
  }

  void begin(List<? extends FeedSource> sources) {
    parts =
        IntStream.range(0, sources.size())
            .mapToObj(i -> new Part(rings.get(i), sources.get(i)))
            .toList();
  }

  List<ChangeRing> rings() {
    return rings;
  }

  List<Part> askedBy(WatchRequest request) {
    return request.prefix()
        ? parts
        : List.of(parts.get(partitioning.of(request.key().orElseThrow())));
  }

  /**
   * Notes a poll, which begins the lease anew.
   *
   * @param prefix whether the poll is for more than one key
   */
  void asked(long now, boolean prefix) {
    askedNanos = now;
    if (prefix) {
      prefixAskedNanos = now;
    }
  }

  /** Tells partitions that they are watched, unless they know. */
  void watch() {
    for (Part part : parts) {
      if (!part.ring.isOn()) {
        long life = lives.getAsLong();
        part.ring.begin(life);
        part.source.watched(life);
      }
    }
  }

  /** Begins new lives of the rings that are watched. */
  void renew() {
    for (Part part : parts) {
      if (part.ring.isOn()) {
        long life = lives.getAsLong();
        part.ring.begin(life);
        part.source.watched(life);
      }
    }
  }

  /** Forgets singly watched keys without a poll for long. */
  void sweepKeys(long now) {
    if (now - keysSweptNanos >= KEY_SWEEP_NANOS) {
      keysSweptNanos = now;
      rings.forEach(r -> r.sweep(now - KEY_LEASE_NANOS));
    }
  }

  /**
   * Stops keeping changes once the lease of polls for more than one key has ended; called while
   * none waits.
   */
  void endPrefixes(long now) {
    if (now - prefixAskedNanos > LEASE_NANOS) {
      rings.forEach(ChangeRing::keepNone);
    }
  }

  /**
   * Tells partitions that they are no longer watched once the lease has ended; called while no poll
   * waits.
   */
  void end(long now) {
    if (now - askedNanos > LEASE_NANOS) {
      for (Part part : parts) {
        if (part.ring.isOn()) {
          part.ring.stop();
          part.source.watched(0);
        }
      }
    }
  }

  /** Returns whether any partition tells what becomes visible. */
  boolean isAnyOn() {
    return rings.stream().anyMatch(ChangeRing::isOn);
  }

  /** Returns the bytes of the heap that kept changes take. */
  long keptBytes() {
    return rings.stream().mapToLong(ring -> ring.memory().used()).sum();
  }
}
