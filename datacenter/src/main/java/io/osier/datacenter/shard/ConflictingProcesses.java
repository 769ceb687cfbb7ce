package io.osier.datacenter.shard;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Which datacenters take another process for this one, or do not know which of the two is. Who must
 * know of it is told last what is so last. Thread-safe.
 */
final class ConflictingProcesses {
  /** Who was not heard for so long is gone: it would have repeated its word several times. */
  static final long SILENT_NANOS = 10_000_000_000L;

  private final Consumer<Map<String, String>> listener;

  /** By datacenter, why it takes another process for this one. */
  private final SortedMap<String, String> why = new TreeMap<>();

  private final Map<String, Long> saidNanos = new HashMap<>();

  /** Whose word counts; empty as long as that is everybody's. */
  private Optional<Set<String>> counted = Optional.empty();

  private volatile Map<String, String> now = Map.of();

  /**
   * @param listener is told all of them, by datacenter, whenever something may have changed; it
   *     must not wait for anything, since a lock is held
   */
  ConflictingProcesses(Consumer<Map<String, String>> listener) {
    this.listener = listener;
  }

  /**
   * A datacenter takes another process for this one, or it takes this one.
   *
   * @param words why; empty if it takes this one
   */
  synchronized void heard(String dc, Optional<String> words, long nowNanos) {
    if (counted.isPresent() && !counted.get().contains(dc)) {
      return; // it was removed while it said so, and would never take it back
    }
    saidNanos.put(dc, nowNanos);
    words.ifPresentOrElse(w -> why.put(dc, w), () -> why.remove(dc));
    tell();
  }

  /** From now on the word of others than these does not count. */
  synchronized void retain(Collection<String> dcs) {
    counted = Optional.of(Set.copyOf(dcs));
    why.keySet().retainAll(dcs);
    saidNanos.keySet().retainAll(dcs);
    tell();
  }

  /**
   * An operator says that a datacenter will not come back: its word does not count any more, unless
   * it was repeated of late.
   */
  synchronized void giveUp(String dc, long nowNanos) {
    Long said = saidNanos.get(dc);
    if (said != null && nowNanos - said >= SILENT_NANOS && why.remove(dc) != null) {
      tell();
    }
  }

  /** The listener has somebody more to tell. */
  synchronized void tell() {
    now = Map.copyOf(why);
    listener.accept(now);
  }

  /** By datacenter, why it takes another process for this one. */
  Map<String, String> all() {
    return now;
  }
}
