package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The followed keys of a keyspace, with the subscriptions to tell of their changes. Thread-safe.
 */
final class FollowedKeys implements ChangeListener {
  /** Takes the changes of the keys for which it was added. */
  interface Hearer {
    /** Takes a key that has, or may have, changed. Neither waits nor runs others' code. */
    void changed(Key key);
  }

  private final Map<Key, List<Hearer>> byKey = new ConcurrentHashMap<>();

  @Override
  public boolean isWanted() {
    return !byKey.isEmpty();
  }

  @Override
  public void missed() {
    byKey.forEach((key, all) -> all.forEach(h -> h.changed(key)));
  }

  @Override
  public void changed(List<Changed> keys) {
    for (Changed each : keys) {
      byKey.getOrDefault(each.key(), List.of()).forEach(h -> h.changed(each.key()));
    }
  }

  /** Tells a hearer of the changes of a key from now on. */
  void add(Key key, Hearer hearer) {
    byKey.merge(key, List.of(hearer), FollowedKeys::both);
  }

  private static List<Hearer> both(List<Hearer> some, List<Hearer> more) {
    List<Hearer> all = new ArrayList<>(some);
    all.addAll(more);
    return List.copyOf(all);
  }

  /** Undoes one {@link #add}. */
  void remove(Key key, Hearer hearer) {
    byKey.computeIfPresent(
        key,
        (k, all) -> {
          List<Hearer> left = new ArrayList<>(all);
          left.remove(hearer);
          return left.isEmpty() ? null : List.copyOf(left);
        });
  }
}
