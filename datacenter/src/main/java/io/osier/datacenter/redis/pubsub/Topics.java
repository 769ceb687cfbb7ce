package io.osier.datacenter.redis.pubsub;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Channels, or patterns, with who subscribes to them; there is none without. Thread-safe. */
final class Topics {
  private final Map<Topic, Set<Subscriber>> subscribers = new ConcurrentHashMap<>();

  /**
   * Somebody subscribes.
   *
   * @param hasRoom asked for one that nobody has subscribed to
   * @return whether it has room
   */
  boolean add(Topic topic, Subscriber who, Predicate<Topic> hasRoom) {
    return subscribers.compute(
            topic,
            (t, of) -> {
              if (of != null) {
                of.add(who);
                return of;
              }
              if (!hasRoom.test(t)) {
                return null;
              }
              Set<Subscriber> first = ConcurrentHashMap.newKeySet(1);
              first.add(who);
              return first;
            })
        != null;
  }

  /**
   * Somebody subscribes no more.
   *
   * @param gone hears of one to which nobody subscribes now
   */
  void remove(Topic topic, Subscriber who, Consumer<Topic> gone) {
    subscribers.computeIfPresent(
        topic,
        (t, of) -> {
          if (!of.remove(who) || !of.isEmpty()) {
            return of;
          }
          gone.accept(t);
          return null;
        });
  }

  /** Who subscribes to one at present; may be walked through while others come and go. */
  Set<Subscriber> of(Topic topic) {
    return subscribers.getOrDefault(topic, Set.of());
  }

  /** All that there are, with who subscribes to them; may be walked through as well. */
  Map<Topic, Set<Subscriber>> all() {
    return subscribers;
  }
}
