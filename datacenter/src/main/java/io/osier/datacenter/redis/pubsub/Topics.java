package io.osier.datacenter.redis.pubsub;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Channels, or patterns, with who subscribes to them; there is none without. To walk through them
 * costs what there is, and not what there once was. Thread-safe; looking does not wait.
 */
final class Topics<S> {
  private final NavigableMap<Topic, Set<S>> subscribers = new ConcurrentSkipListMap<>();

  /** Somebody subscribes; false if nobody has yet, and there is no room for it. */
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

  /** Somebody subscribes no more; hears whether nobody does now. */
  synchronized void remove(Topic topic, S who, Consumer<Topic> gone) {
    Set<S> of = subscribers.get(topic);
    if (of != null && of.remove(who) && of.isEmpty()) {
      subscribers.remove(topic);
      gone.accept(topic);
    }
  }

  /** Who subscribes to one at present; may be walked through while others come and go. */
  Set<S> of(Topic topic) {
    return subscribers.getOrDefault(topic, Set.of());
  }

  /** All that there are, with who subscribes to them; may be walked through as well. */
  Map<Topic, Set<S>> all() {
    return subscribers;
  }
}
