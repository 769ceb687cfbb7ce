package io.osier.datacenter.redis.pubsub;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A table of channels, or of patterns, with their subscribers; none is without subscribers. A walk
 * costs as much as there is at present, and not as there once was. Thread-safe; reads do not block.
 */
final class Topics<S> {
  private final NavigableMap<Topic, Set<S>> subscribers = new ConcurrentSkipListMap<>();

  /** Adds a subscriber; false if it is the first one and {@code hasRoom} refuses. */
  synchronized boolean add(Topic topic, S who, Predicate<Topic> hasRoom) {
    Set<S> of = subscribers.get(topic);
    if (of != null) {
      of.add(who);
      return true;
    }
    if (!hasRoom.test(topic)) {
      return false;
    }
    Set<S> first = ConcurrentHashMap.newKeySet(1);
    first.add(who);
    subscribers.put(topic, first);
    return true;
  }

  /** Removes a subscriber; {@code gone} is called if it was the last one. */
  synchronized void remove(Topic topic, S who, Consumer<Topic> gone) {
    Set<S> of = subscribers.get(topic);
    if (of != null && of.remove(who) && of.isEmpty()) {
      subscribers.remove(topic);
      gone.accept(topic);
    }
  }

  /** Returns the present subscribers; the set may be walked while it changes. */
  Set<S> of(Topic topic) {
    return subscribers.getOrDefault(topic, Set.of());
  }

  /**
   * Returns all channels or patterns with their subscribers; the map may be walked while it
   * changes.
   */
  Map<Topic, Set<S>> all() {
    return subscribers;
  }
}
