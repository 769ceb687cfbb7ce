package io.osier.datacenter.redis.tracking;

import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener.Changed;
import io.osier.datacenter.redis.command.RedisException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who has read which key and has not been told of a change since, who tracks which prefixes, and
 * which invalidations wait for whom. All of it is within one budget: when that is spent, the keys
 * that were noted first are told as if they had changed; and a client for which too many bytes wait
 * is told to drop everything. Pure; for one thread at a time.
 */
final class TrackingTable {
  /** Most prefixes of a client. */
  static final int PREFIXES_MAX = 10_000;

  static final long PREFIX_BYTES_MAX = 1 << 20;

  /** Bytes of heap that a client's prefix takes in a keyspace besides its own bytes, about. */
  private static final int PREFIX_BYTES = 400;

  /** The read keys and the prefixes of a keyspace. */
  private static final class Space {
    final ReadKeys keys = new ReadKeys();
    final Prefixes prefixes;

    Space(long seed) {
      this.prefixes = new Prefixes(seed);
    }

    boolean isEmpty() {
      return keys.size() == 0 && prefixes.size() == 0;
    }
  }

  private final Outbox outbox;
  private final long seed;
  private final Map<String, Space> spaces = new HashMap<>();
  private final Map<Long, TrackedClient> clients = new HashMap<>();
  private long numbers;

  TrackingTable(long bytesMax, long seed) {
    this.outbox = new Outbox(bytesMax);
    this.seed = seed;
  }

  // ---------------------------------------------------------------- clients

  void check(TrackedClient client, TrackingOptions wanted) {
    TrackingOptions former = client.options;
    if (former != null) {
      wanted.checkFollows(former, client.prefixes);
    }
  }

  void on(
      TrackedClient client,
      TrackingOptions wanted,
      String keyspace,
      @Nullable TrackedClient target) {
    check(client, wanted);
    if (wanted.broadcast()) {
      addPrefixes(client, wanted.prefixes(), keyspace);
    }
    if (client.options == null) {
      client.number = ++numbers;
      clients.put(client.number, client);
    }
    client.options = wanted;
    client.setCaching(null);
    client.keyspaces.add(keyspace);
    redirect(client, target);
  }

  /** Has another client hear in a client's place, or none. */
  private static void redirect(TrackedClient client, @Nullable TrackedClient target) {
    TrackedClient before = client.target;
    if (before != null) {
      before.followers.remove(client);
    }
    if (target != null) {
      target.followers.add(client);
    }
    client.target = target;
    client.broken = false;
    client.brokenIsToTell = false;
  }

  /** Adds prefixes of a client: all or none of them. */
  private void addPrefixes(TrackedClient client, List<Prefix> wanted, String keyspace) {
    Set<String> in = new HashSet<>(client.keyspaces);
    in.add(keyspace);
    Set<Prefix> added = new LinkedHashSet<>(wanted);
    if (wanted.isEmpty() && client.prefixes.isEmpty()) {
      added.add(Prefix.EMPTY);
    }
    long length = 0;
    for (Prefix each : added) {
      length += each.length();
    }
    long before = client.prefixes.stream().mapToLong(Prefix::length).sum();
    if (client.prefixes.size() + added.size() > PREFIXES_MAX
        || before + length > PREFIX_BYTES_MAX) {
      throw new RedisException(
          "ERR a connection tracks at most "
              + PREFIXES_MAX
              + " prefixes, and "
              + PREFIX_BYTES_MAX
              + " bytes of them");
    }
    takeRoom((length + (long) PREFIX_BYTES * added.size()) * in.size());
    for (String each : in) {
      Space space = space(each);
      added.forEach(prefix -> space.prefixes.add(prefix, client));
    }
    client.prefixes.addAll(added);
  }

  private void takeRoom(long wanted) {
    if (!makeRoom(wanted)) {
      throw new RedisException(
          "BUSY nothing was done: the memory for what this datacenter's clients track is used up");
    }
    outbox.use(wanted);
  }

  private Space space(String keyspace) {
    return spaces.computeIfAbsent(keyspace, k -> new Space(seed + 31L * k.hashCode()));
  }

  void select(TrackedClient client, String keyspace) {
    if (client.options == null || client.keyspaces.contains(keyspace)) {
      return;
    }
    if (!client.prefixes.isEmpty()) {
      takeRoom(prefixBytes(client));
      Space space = space(keyspace);
      client.prefixes.forEach(prefix -> space.prefixes.add(prefix, client));
    }
    client.keyspaces.add(keyspace);
  }

  private static long prefixBytes(TrackedClient client) {
    long sum = 0;
    for (Prefix each : client.prefixes) {
      sum += PREFIX_BYTES + each.length();
    }
    return sum;
  }

  void off(TrackedClient client) {
    if (client.options == null) {
      return;
    }
    clients.remove(client.number);
    if (!client.prefixes.isEmpty()) {
      outbox.use(-prefixBytes(client) * client.keyspaces.size());
      for (String each : client.keyspaces) {
        Space space = space(each);
        client.prefixes.forEach(prefix -> space.prefixes.remove(prefix, client));
        prune(each, space);
      }
    }
    client.number = 0;
    client.options = null;
    client.keyspaces.clear();
    client.prefixes.clear();
    redirect(client, null);
    outbox.drop(client, false);
  }

  /**
   * Ends hearing in other clients' place, and tells each of them: invalidations of its cache may be
   * lost.
   */
  void leave(TrackedClient client) {
    for (TrackedClient each : List.copyOf(client.followers)) {
      redirect(each, null);
      each.broken = true;
      each.brokenIsToTell = true;
      outbox.wake(each);
    }
    outbox.drop(client, true);
  }

  private void prune(String keyspace, Space space) {
    if (space.isEmpty()) {
      spaces.remove(keyspace);
    }
  }

  // ---------------------------------------------------------------- what is read

  void read(TrackedClient client, String keyspace, Key key) {
    if (client.options == null) {
      return;
    }
    client.keyspaces.add(keyspace);
    long needed = space(keyspace).keys.needed(key, client.number);
    if (needed > 0 && !makeRoom(needed)) {
      outbox.tell(client, Invalidation.OF_ALL);
      return;
    }
    ReadKeys keys = space(keyspace).keys; // again: making room may have removed it
    long before = keys.bytes();
    keys.note(key, client.number);
    outbox.use(keys.bytes() - before);
  }

  /**
   * Makes room in the budget, if possible: the keys that were read first are told as if they had
   * changed.
   */
  private boolean makeRoom(long needed) {
    while (!outbox.hasRoom(needed)) {
      ReadKeys largest = null;
      for (Space each : spaces.values()) {
        if (largest == null || each.keys.bytes() > largest.bytes()) {
          largest = each.keys;
        }
      }
      Key eldest = largest == null ? null : largest.eldest();
      if (largest == null || eldest == null) {
        return false;
      }
      invalidate(largest, eldest, 0);
    }
    return true;
  }

  // ---------------------------------------------------------------- what has changed

  void changed(String keyspace, List<Changed> keys) {
    Space space = spaces.get(keyspace);
    if (space == null) {
      return;
    }
    if (space.keys.size() > 0) {
      keys.forEach(each -> invalidate(space.keys, each.key(), each.author()));
    }
    if (space.prefixes.size() > 0) {
      broadcast(space, keys);
    }
    prune(keyspace, space);
  }

  /** Tells all readers of a key but its author, and forgets that they have read it. */
  private void invalidate(ReadKeys keys, Key key, long author) {
    long before = keys.bytes();
    List<Long> readers = keys.changed(key, author);
    outbox.use(keys.bytes() - before);
    if (readers.isEmpty()) {
      return;
    }
    Invalidation all = Invalidation.of(List.of(key));
    for (long number : readers) {
      TrackedClient client = clients.get(number);
      if (client != null) {
        outbox.tell(client, all);
      }
    }
  }

  private void broadcast(Space space, List<Changed> changes) {
    // The changed keys of each prefix with their author; 0 if there are several.
    Map<Prefixes.Entry, Map<Key, Long>> told = new LinkedHashMap<>();
    for (Changed each : changes) {
      space.prefixes.of(
          each.key().toBytes(),
          entry ->
              told.computeIfAbsent(entry, e -> new LinkedHashMap<>())
                  .merge(each.key(), each.author(), (a, b) -> a.equals(b) ? a : 0L));
    }
    told.forEach(
        (entry, keys) -> {
          Invalidation all = Invalidation.of(List.copyOf(keys.keySet()));
          Set<Long> authors = new HashSet<>(keys.values());
          for (TrackedClient client : entry.clients) {
            long author = client.author();
            if (author != 0 && authors.contains(author)) {
              List<Key> others = new ArrayList<>(keys.keySet());
              others.removeIf(key -> Objects.equals(keys.get(key), author));
              if (!others.isEmpty()) {
                outbox.tell(client, Invalidation.of(others));
              }
            } else {
              outbox.tell(client, all);
            }
          }
        });
  }

  /** Tells clients to drop everything of a keyspace, whose keys are being deleted. */
  void flush(String keyspace) {
    for (TrackedClient client : clients.values()) {
      if (client.keyspaces.contains(keyspace)) {
        outbox.tell(client, Invalidation.FLUSHED);
      }
    }
  }

  /** Tells the clients that track prefixes that any key of a keyspace may have changed. */
  void missed(String keyspace) {
    for (TrackedClient client : clients.values()) {
      if (!client.prefixes.isEmpty() && client.keyspaces.contains(keyspace)) {
        outbox.tell(client, Invalidation.OF_ALL);
      }
    }
  }

  /** Returns how many keys of a keyspace were read and have not changed since. */
  int keys(String keyspace) {
    Space space = spaces.get(keyspace);
    return space == null ? 0 : space.keys.size();
  }

  /** Tells the first {@code count} of these keys as if they had changed. */
  void forget(String keyspace, int count) {
    Space space = space(keyspace);
    Key key;
    for (int i = 0; i < count && (key = space.keys.eldest()) != null; i++) {
      invalidate(space.keys, key, 0);
    }
    prune(keyspace, space);
  }

  // ---------------------------------------------------------------- figures

  /** Returns the waiting invalidations; they hold the budget. */
  Outbox outbox() {
    return outbox;
  }

  int clients() {
    return clients.size();
  }

  Tracking.Figures figures() {
    long keys = 0;
    long items = 0;
    long prefixes = 0;
    for (Space space : spaces.values()) {
      keys += space.keys.size();
      items += space.keys.items();
      prefixes += space.prefixes.size();
    }
    return new Tracking.Figures(clients.size(), keys, items, prefixes);
  }
}
