package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The keys of a keyspace that others follow: who hears of the change of which. Thread-safe. */
final class FollowedKeys implements ChangeListener {
  interface Hearer {
    /** A key has, or may have, changed. Neither waits nor runs others' code. */
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
