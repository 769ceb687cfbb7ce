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
 * The keys of one subscription at the holder, within the holder's budget, and which of them have
 * changed and must be told. Guarded by its owner's lock.
 */
final class FollowerKeys {
  /**
   * What a followed key takes of the heap besides the key, in bytes; a subscription takes as much.
   */
  static final long KEY_BYTES = 300;

  /** The most refused keys that are remembered until the follower is told. */
  private static final int REFUSED_MAX = 10_000;

  private final ByteBudget bytes;
  private final FollowedKeys listener;
  private final FollowedKeys.Hearer owner;
  private final FollowerCounts counts;
  private final Map<Long, Key> keys = new HashMap<>();
  private final Map<Key, Long> numbers = new HashMap<>();

  /** The keys that have changed since they were told, by number; the longest waiting first. */
  private Map<Long, Key> changed = new LinkedHashMap<>();

  /** The numbers of keys for which there was no room, until that is told. */
  private List<Long> refused = new ArrayList<>();

  /** When the first change came that is not taken for an answer; undefined if there is none. */
  private long changedSince;

  /**
   * When the first change came that is taken for an answer and not told; undefined if there is
   * none.
   */
  private long takenSince;

  /** Whether changes are taken for an answer that is not sent yet. */
  private boolean isTaken;

  /**
   * @param listener is told of the changes of the keyspace's keys
   * @param owner takes the changes of the keys of this subscription
   */
  FollowerKeys(
      ByteBudget bytes, FollowerCounts counts, FollowedKeys listener, FollowedKeys.Hearer owner) {
    this.bytes = bytes;
    this.counts = counts;
    this.listener = listener;
    this.owner = owner;
  }

  /** Adds a key; the next answer tells its state, or that there is no room for it. */
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

  /**
   * Notes that a key has, or may have, changed; returns false if it is not of this subscription.
   */
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

  /** Returns how long the oldest change that is not told has waited; 0 if there is none. */
  long untoldNanos(long nowNanos) {
    return isTaken ? nowNanos - takenSince : changed.isEmpty() ? 0 : nowNanos - changedSince;
  }

  /** Returns whether keys have changed that are not taken for an answer. */
  boolean haveChanged() {
    return !changed.isEmpty();
  }

  /** Returns whether keys were refused and that must be told. */
  boolean areRefused() {
    return !refused.isEmpty();
  }

  /** Returns whether more keys were refused than are remembered. */
  boolean areTooMany() {
    return refused.size() > REFUSED_MAX;
  }

  /**
   * Takes all changed and refused keys for an answer.
   *
   * @param through all these updates are in the states that are read from now on
   */
  Telling take(VersionVector through) {
    takenSince = changedSince;
    isTaken = !changed.isEmpty();
    Telling telling = new Telling(through, changed, refused);
    changed = new LinkedHashMap<>();
    refused = new ArrayList<>();
    return telling;
  }

  /**
   * Ends an answer: the keys that it left out are told next, before those that have changed since.
   */
  void takeBack(Map<Long, Key> left) {
    isTaken = false;
    left.keySet().retainAll(keys.keySet());
    changedSince = left.isEmpty() ? changedSince : takenSince;
    left.putAll(changed);
    changed = left;
  }
}
