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
 * Tracks the caches of a datacenter's clients. A key is noted before a client reads it, and a
 * change is told after everybody can read it: so no client keeps a value older than the visible one
 * once it has read all its invalidations. A {@link TrackingTable} under a lock; clients are woken
 * outside of the lock. The homes of a keyspace count as one keyspace here, since each key is in one
 * of them. Thread-safe.
 */
public final class Tracking {
  private static final int KEYS_AT_ONCE = 500;

  private final TrackingTable table;
  private final Map<String, ChangeListener> listeners = new ConcurrentHashMap<>();

  /**
   * The clients whose CLIENT TRACKING ON waits until the changes of a keyspace are reported here.
   */
  private final Set<TrackedClient> starting = ConcurrentHashMap.newKeySet();

  /** How many clients track; for any thread. */
  private volatile int clients;

  /**
   * @param bytesMax the most bytes of heap for all noted keys and all waiting invalidations
   * @param seed a number that nobody can guess
   */
  public Tracking(long bytesMax, long seed) {
    this.table = new TrackingTable(bytesMax, seed);
  }

  /** Runs something under the lock, and wakes the clients that have something to poll then. */
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
   * Returns the state of a connection that does not track yet.
   *
   * @param wake is run by any thread when there is something to {@link #poll}; returns at once
   */
  public TrackedClient client(Runnable wake) {
    return new TrackedClient(wake);
  }

  /**
   * Begins to track, or changes the options: CLIENT TRACKING ON.
   *
   * @param target the client that hears in its place; null for itself
   * @throws RedisException if the options contradict the former ones, or there is no room
   */
  public void on(
      TrackedClient client,
      TrackingOptions options,
      String keyspace,
      @Nullable TrackedClient target) {
    starting.remove(client);
    locked(() -> table.on(client, options, Homes.base(keyspace), target));
  }

  /**
   * Checks that the options do not contradict the former ones.
   *
   * @throws RedisException if they do
   */
  public void checkOn(TrackedClient client, TrackingOptions options) {
    locked(() -> table.check(client, options));
  }

  /** Ends tracking: CLIENT TRACKING OFF. Drops the invalidations of its own cache. */
  public void off(TrackedClient client) {
    starting.remove(client);
    locked(() -> table.off(client));
  }

  /** Stops hearing in other clients' place, and tells them so. */
  public void leave(TrackedClient client) {
    locked(() -> table.leave(client));
  }

  /**
   * Notes that a client will track once changes are reported here; it is woken when that may be so.
   */
  public void start(TrackedClient client) {
    starting.add(client);
  }

  /** Notes that a client will not track, since changes cannot be reported here. */
  public void startsNot(TrackedClient client) {
    starting.remove(client);
  }

  /** Lets a client that tracks hear of another keyspace as well, which it has selected. */
  public void select(TrackedClient client, String keyspace) {
    locked(() -> table.select(client, Homes.base(keyspace)));
  }

  /** Returns the keyspaces whose keys may be in the client's cache. */
  public Set<String> keyspaces(TrackedClient client) {
    return locked(() -> Set.copyOf(client.keyspaces));
  }

  public List<Prefix> prefixes(TrackedClient client) {
    return locked(() -> List.copyOf(client.prefixes));
  }

  /** Notes that a client will read keys and may keep them; called before it reads them. */
  public void read(TrackedClient client, String keyspace, Collection<Key> keys) {
    String base = Homes.base(keyspace);
    locked(() -> keys.forEach(key -> table.read(client, base, key)));
  }

  /**
   * Returns the next push for a client; null if there is none.
   *
   * @param resp3 whether it understands pushes
   * @param subscribed whether it subscribes to {@link TrackedClient#CHANNEL}
   */
  public RespValue.@Nullable Push poll(TrackedClient client, boolean resp3, boolean subscribed) {
    synchronized (table) {
      return table.outbox().poll(client, resp3, subscribed);
    }
  }

  // ---------------------------------------------------------------- changes

  /** Returns the listener for a keyspace's changes. */
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

  /**
   * Tells clients to drop everything of a keyspace, whose keys are about to be deleted; each key
   * will be told as well.
   */
  public void flush(String keyspace) {
    locked(() -> table.flush(Homes.base(keyspace)));
  }

  /**
   * Tells all keys of a keyspace that were read as if they had changed: some at a time, since other
   * threads wait for the lock meanwhile.
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

  /**
   * Counts of clients, keys and prefixes. An item is a key of one of the clients that have read it.
   */
  public record Figures(int clients, long keys, long items, long prefixes) {}

  long bytes() {
    return locked(() -> table.outbox().bytes());
  }

  public Figures figures() {
    return locked(table::figures);
  }
}
