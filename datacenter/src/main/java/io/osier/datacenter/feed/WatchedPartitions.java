package io.osier.datacenter.feed;

import static java.util.Objects.requireNonNull;

import io.osier.core.Partitioning;
import io.osier.core.memory.Budget;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The partitions of a feed with their rings. They tell what becomes visible from the first watcher
 * on, and for a lease after the last one has asked. {@link #asked} is for any thread, all else for
 * whoever has the feed's turn.
 */
final class WatchedPartitions {
  /** After the last watcher partitions tell so much longer: it may come back. */
  static final long LEASE_NANOS = 600_000_000_000L;

  /** A key for which nobody has asked for so long is not watched by itself any more. */
  private static final long KEY_LEASE_NANOS = 30_000_000_000L;

  private static final long KEY_SWEEP_NANOS = 5_000_000_000L;

  record Part(ChangeRing ring, FeedSource source) {}

  private final Partitioning partitioning;
  private final List<ChangeRing> rings;
  private final LongSupplier lives;
  private List<Part> parts = List.of();
  private volatile long askedNanos;

  /** When somebody last asked for more than a key. */
  private volatile long prefixAskedNanos;

  private long keysSweptNanos;

  /**
   * Partitions that {@link #begin} names.
   *
   * @param lives draws numbers that nobody else has drawn, but 0
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

  List<Part> askedBy(Request.Watch request) {
    return request.prefix()
        ? parts
        : List.of(parts.get(partitioning.of(request.key().orElseThrow())));
  }

  /**
   * Somebody asks, which begins the lease anew.
   *
   * @param prefix whether for more than a key
   */
  void asked(long now, boolean prefix) {
    askedNanos = now;
    if (prefix) {
      prefixAskedNanos = now;
    }
  }

  /** Partitions are told that somebody watches. */
  void watch() {
    for (Part part : parts) {
      if (!part.ring.isOn()) {
        long life = lives.getAsLong();
        part.ring.begin(life);
        part.source.watched(life);
      }
    }
  }

  /** Keys of which nobody has asked for long are not watched by themselves any more. */
  void sweepKeys(long now) {
    if (now - keysSweptNanos >= KEY_SWEEP_NANOS) {
      keysSweptNanos = now;
      rings.forEach(r -> r.sweep(now - KEY_LEASE_NANOS));
    }
  }

  /** Nobody waits for more than a key: once the lease is over, changes are not kept. */
  void endPrefixes(long now) {
    if (now - prefixAskedNanos > LEASE_NANOS) {
      rings.forEach(ChangeRing::keepNone);
    }
  }

  /** Nobody watches: once the lease is over, partitions are told so. */
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

  /** Whether any partition tells what becomes visible. */
  boolean isAnyOn() {
    return rings.stream().anyMatch(ChangeRing::isOn);
  }

  /** What the changes that are kept take. */
  Budget.Usage memory() {
    Budget.Usage memory =
        rings.stream()
            .map(ChangeRing::memory)
            .reduce(Budget.Usage::plus)
            .orElseGet(() -> new Budget.Usage("changes", 0, 0, 0));
    return requireNonNull(memory);
  }
}
