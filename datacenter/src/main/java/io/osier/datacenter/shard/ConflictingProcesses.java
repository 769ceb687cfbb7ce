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
 * Knows which datacenters take another process for this one, or cannot tell which of the two it is.
 * Its listener gets the latest state last. Thread-safe.
 */
final class ConflictingProcesses {
  /**
   * A datacenter that was silent for this long is gone: it would have repeated its word several
   * times.
   */
  static final long SILENT_NANOS = 10_000_000_000L;

  private final Consumer<Map<String, String>> listener;

  /** Why a datacenter takes another process for this one, by datacenter. */
  private final SortedMap<String, String> why = new TreeMap<>();

  private final Map<String, Long> saidNanos = new HashMap<>();

  /** The datacenters whose word counts; empty as long as everybody's does. */
  private Optional<Set<String>> counted = Optional.empty();

  private volatile Map<String, String> now = Map.of();

  /**
   * @param listener gets the reasons by datacenter whenever they may have changed; it must not wait
   *     for anything, since a lock is held
   */
  ConflictingProcesses(Consumer<Map<String, String>> listener) {
    this.listener = listener;
  }

  /**
   * Notes that a datacenter takes another process for this one, or talks to this one.
   *
   * @param words the reason; empty if it talks to this one
   */
  synchronized void heard(String dc, Optional<String> words, long nowNanos) {
    if (counted.isPresent() && !counted.get().contains(dc)) {
      return; // a removed datacenter would never take its word back
    }
    saidNanos.put(dc, nowNanos);
    words.ifPresentOrElse(w -> why.put(dc, w), () -> why.remove(dc));
    tell();
  }

  /** Ignores the word of all datacenters but these from now on. */
  synchronized void retain(Collection<String> dcs) {
    counted = Optional.of(Set.copyOf(dcs));
    why.keySet().retainAll(dcs);
    saidNanos.keySet().retainAll(dcs);
    tell();
  }

  /**
   * An operator declares a datacenter dead: its word does not count any more, unless it was
   * repeated recently.
   */
  synchronized void giveUp(String dc, long nowNanos) {
    Long said = saidNanos.get(dc);
    if (said != null && nowNanos - said >= SILENT_NANOS && why.remove(dc) != null) {
      tell();
    }
  }

  /** Gives the listener the present reasons, as it may have a new receiver. */
  synchronized void tell() {
    now = Map.copyOf(why);
    listener.accept(now);
  }

  /** Returns why a datacenter takes another process for this one, by datacenter. */
  Map<String, String> all() {
    return now;
  }
}
