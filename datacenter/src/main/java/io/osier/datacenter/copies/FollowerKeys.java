package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The keys of one subscription, within the holder's budget, and what is to be told of them. Used
 * under its owner's lock.
 */
final class FollowerKeys {
  /** What a followed key takes of the heap besides the key, and a subscription of its own. */
  static final long KEY_BYTES = 300;

  /** So many keys without room are remembered until that is told. */
  private static final int REFUSED_MAX = 10_000;

  private final ByteBudget bytes;
  private final FollowedKeys listener;
  private final FollowedKeys.Hearer owner;
  private final FollowerCounts counts;
  private final Map<Long, Key> keys = new HashMap<>();
  private final Map<Key, Long> numbers = new HashMap<>();

  /** What has changed and is not told yet; what waits longest comes first. */
  private Map<Long, Key> changed = new LinkedHashMap<>();

  private List<Long> refused = new ArrayList<>();

  /** Since when something has changed and is not taken; of no meaning if all is. */
  private long changedSince;

  /** Since when what is taken and not told had changed; of no meaning if nothing is. */
  private long takenSince;

  private boolean isTaken;

  /**
   * @param listener hears of the changes of the keyspace's keys
   * @param owner is told of those of these
   */
  FollowerKeys(
      ByteBudget bytes, FollowerCounts counts, FollowedKeys listener, FollowedKeys.Hearer owner) {
    this.bytes = bytes;
    this.counts = counts;
    this.listener = listener;
    this.owner = owner;
  }

  /** Adds one, whose state is told next, or that there is no room for it. */
  void add(FollowCodec.Added added, long nowNanos) {
    remove(added.number());
    Key key = added.key();
    if (bytes.tryTake(KEY_BYTES + key.heapBytes())) {
      keys.put(added.number(), key);
      numbers.put(key, added.number());
      change(added.number(), key, nowNanos);
      listener.add(key, owner);
      counts.follows(1);
    } else {
      refused.add(added.number());
    }
  }

  void remove(long number) {
    Key key = keys.remove(number);
    if (key != null) {
      changed.remove(number);
      numbers.remove(key, number);
      listener.remove(key, owner);
      counts.follows(-1);
      bytes.give(KEY_BYTES + key.heapBytes());
    }
  }

  void removeAll() {
    List.copyOf(keys.keySet()).forEach(this::remove);
  }

  boolean isEmpty() {
    return keys.isEmpty();
  }

  /** A key has, or may have, changed; false if it is none of these. */
  boolean changed(Key key, long nowNanos) {
    Long number = numbers.get(key);
    if (number != null) {
      change(number, key, nowNanos);
    }
    return number != null;
  }

  private void change(long number, Key key, long nowNanos) {
    if (changed.isEmpty()) {
      changedSince = nowNanos;
    }
    changed.put(number, key);
  }

  /** How long something has waited to be told, at most; 0 if all is told. */
  long untoldNanos(long nowNanos) {
    return isTaken ? nowNanos - takenSince : changed.isEmpty() ? 0 : nowNanos - changedSince;
  }

  /** Whether something has changed that is not told. */
  boolean haveChanged() {
    return !changed.isEmpty();
  }

  /** Whether there was no room for some, as is to be told. */
  boolean areRefused() {
    return !refused.isEmpty();
  }

  /** Whether that was so for more than are remembered. */
  boolean areTooMany() {
    return refused.size() > REFUSED_MAX;
  }

  /**
   * Takes out what is to be told.
   *
   * @param through all of this is in what the keys hold from now on
   */
  Telling take(VersionVector through) {
    takenSince = changedSince;
    isTaken = !changed.isEmpty();
    Telling telling = new Telling(through, changed, refused);
    changed = new LinkedHashMap<>();
    refused = new ArrayList<>();
    return telling;
  }

  /** The rest is told. What is left is to be told next, in front of what has changed since. */
  void takeBack(Map<Long, Key> left) {
    isTaken = false;
    left.keySet().retainAll(keys.keySet());
    changedSince = left.isEmpty() ? changedSince : takenSince;
    left.putAll(changed);
    changed = left;
  }
}
