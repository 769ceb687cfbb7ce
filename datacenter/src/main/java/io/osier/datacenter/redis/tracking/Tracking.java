package io.osier.datacenter.redis.tracking;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The caches of a datacenter's clients. What one reads is noted before it is read, and what has
 * changed is told after everybody can read it: so no client keeps what is older than what is
 * visible here, once it has heard what waits for it. A {@link TrackingTable} under a lock; those
 * who are to hear of something are woken outside of it. The homes of a keyspace are one here, since
 * each of their keys is in one of them. Thread-safe.
 */
public final class Tracking {
  private static final int KEYS_AT_ONCE = 500;

  private final TrackingTable table;
  private final Map<String, ChangeListener> listeners = new ConcurrentHashMap<>();

  /** Those who wait until changes are heard of. */
  private final Set<TrackedClient> starting = ConcurrentHashMap.newKeySet();

  /** How many track; for any thread. */
  private volatile int clients;

  /**
   * @param bytesMax what all that is noted, and all that waits for clients, may take
   * @param seed that nobody can guess
   */
  public Tracking(long bytesMax, long seed) {
    this.table = new TrackingTable(bytesMax, seed);
  }

  /** Does something with the table, and wakes those for whom something waits then. */
  private <T> T locked(Supplier<T> does) {
    T result;
    Collection<TrackedClient> woken;
    synchronized (table) {
      result = does.get();
      woken = table.outbox().takeWoken();
      clients = table.clients();
    }
    woken.forEach(each -> each.wake.run());
    return result;
  }

  private void locked(Runnable does) {
    locked(
        () -> {
          does.run();
          return true;
        });
  }

  // ---------------------------------------------------------------- clients

  /**
   * A connection, which does not track yet.
   *
   * @param wake is run by any thread when there is something to {@link #poll}; returns at once
   */
  public TrackedClient client(Runnable wake) {
    return new TrackedClient(wake);
  }

  /**
   * CLIENT TRACKING ON.
   *
   * @param target who hears in its place; null for itself
   * @throws RedisException if that does not fit to what it has asked for so far, or there is no
   *     room
   */
  public void on(
      TrackedClient client,
      TrackingOptions options,
      String keyspace,
      @Nullable TrackedClient target) {
    starting.remove(client);
    locked(() -> table.on(client, options, Homes.base(keyspace), target));
  }

  /** Checks that {@link #on} would be right; an error if it would not. */
  public void checkOn(TrackedClient client, TrackingOptions options) {
    locked(() -> table.check(client, options));
  }

  /** CLIENT TRACKING OFF; nothing of its own waits for it any more. */
  public void off(TrackedClient client) {
    starting.remove(client);
    locked(() -> table.off(client));
  }

  /** It does not hear for others any more. */
  public void leave(TrackedClient client) {
    locked(() -> table.leave(client));
  }

  /** It will track once changes are heard of: it is woken when that may be so. */
  public void start(TrackedClient client) {
    starting.add(client);
  }

  /** It will not, since changes cannot be heard of. */
  public void startsNot(TrackedClient client) {
    starting.remove(client);
  }

  /** It has chosen another keyspace, of which it hears as well from now on. */
  public void select(TrackedClient client, String keyspace) {
    locked(() -> table.select(client, Homes.base(keyspace)));
  }

  /** The keyspaces of which it may have something. */
  public Set<String> keyspaces(TrackedClient client) {
    return locked(() -> Set.copyOf(client.keyspaces));
  }

  public List<Prefix> prefixes(TrackedClient client) {
    return locked(() -> List.copyOf(client.prefixes));
  }

  /** It will read these keys, and may keep what it reads. Before it does. */
  public void read(TrackedClient client, String keyspace, Collection<Key> keys) {
    String base = Homes.base(keyspace);
    locked(() -> keys.forEach(key -> table.read(client, base, key)));
  }

  /**
   * The next thing that it is to be told; null if there is none.
   *
   * @param resp3 whether it is told things by pushes
   * @param subscribed whether it subscribes to {@link TrackedClient#CHANNEL}
   */
  public RespValue.@Nullable Push poll(TrackedClient client, boolean resp3, boolean subscribed) {
    synchronized (table) {
      return table.outbox().poll(client, resp3, subscribed);
    }
  }

  // ---------------------------------------------------------------- changes

  /** What hears of a keyspace's changes. */
  public ChangeListener of(String keyspace) {
    return listeners.computeIfAbsent(keyspace, Listener::new);
  }

  private final class Listener implements ChangeListener {
    private final String keyspace;

    Listener(String keyspace) {
      this.keyspace = Homes.base(keyspace);
    }

    @Override
    public boolean isWanted() {
      return clients > 0 || !starting.isEmpty();
    }

    @Override
    public void missed() {
      locked(() -> table.missed(keyspace));
      forget(keyspace);
      starting.forEach(each -> each.wake.run());
    }

    @Override
    public void changed(List<Changed> keys) {
      locked(() -> table.changed(keyspace, keys));
    }
  }

  /** All keys of a keyspace are about to be deleted, of which each will be told as well. */
  public void flush(String keyspace) {
    locked(() -> table.flush(Homes.base(keyspace)));
  }

  /**
   * Keys of a keyspace that were read so far are told as if they had changed: some at a time, since
   * others wait for the table meanwhile.
   */
  public void forget(String keyspace) {
    String base = Homes.base(keyspace);
    int left = locked(() -> table.keys(base));
    while (left > 0) {
      int some = Math.min(left, KEYS_AT_ONCE);
      locked(() -> table.forget(base, some));
      left -= some;
    }
  }

  // ---------------------------------------------------------------- figures

  /** What there is; an item is a key for a client that has read it. */
  public record Figures(int clients, long keys, long items, long prefixes) {}

  long bytes() {
    return locked(() -> table.outbox().bytes());
  }

  public Figures figures() {
    return locked(table::figures);
  }
}
