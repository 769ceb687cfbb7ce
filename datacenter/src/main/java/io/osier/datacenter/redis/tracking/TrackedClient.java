package io.osier.datacenter.redis.tracking;

import io.osier.datacenter.redis.RespValue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A connection that has a cache, or hears of another connection's cache. {@link Tracking} alone
 * uses the fields, under its lock, unless a field's comment says otherwise.
 */
public final class TrackedClient {
  /**
   * The channel of invalidations for clients that speak RESP2 and hear of other clients' caches.
   */
  public static final String CHANNEL = "__redis__:invalidate";

  /** Most bytes that wait for a client; beyond that it is told to drop everything. */
  static final long WAITING_BYTES_MAX = 1 << 20;

  private static final RespValue INVALIDATE = RespValue.Bulk.of("invalidate");
  private static final RespValue MESSAGE = RespValue.Bulk.of("message");
  private static final RespValue NAME = RespValue.Bulk.of(CHANNEL);
  private static final RespValue BROKEN = RespValue.Bulk.of("tracking-redir-broken");

  /** A waiting invalidation, of another client's cache if {@code redirected}, else of its own. */
  record Waiting(Invalidation of, boolean redirected) {}

  final Runnable wake;

  /**
   * The client's number, a new one each time that it begins to track; 0 while it does not. For any
   * thread.
   */
  volatile long number;

  /** The options of CLIENT TRACKING ON; null while the client does not track. For any thread. */
  volatile @Nullable TrackingOptions options;

  /** The keyspaces whose keys may be in the cache. */
  final Set<String> keyspaces = new HashSet<>();

  final NavigableSet<Prefix> prefixes = new TreeSet<>();

  /** The client that hears in its place; null for none. */
  @Nullable TrackedClient target;

  /** The clients in whose place it hears. */
  final Set<TrackedClient> followers = new HashSet<>();

  /** Whether the client that heard in its place is gone. For any thread. */
  volatile boolean broken;

  boolean brokenIsToTell;

  final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  long waitingBytes;

  /** Whether there is something to poll. For any thread. */
  volatile boolean hasWaiting;

  /**
   * What CLIENT CACHING has said of the next command: true for yes, false for no, null for nothing.
   * Used by the connection's loop.
   */
  private @Nullable Boolean caching;

  TrackedClient(Runnable wake) {
    this.wake = wake;
  }

  // ---------------------------------------------------------------- what it has asked for

  public boolean isOn() {
    return options != null;
  }

  public @Nullable TrackingOptions options() {
    return options;
  }

  /** Returns whether it tracks prefixes (BCAST). */
  public boolean isBroadcast() {
    TrackingOptions now = options;
    return now != null && now.broadcast();
  }

  /**
   * Returns the number that marks its own changes, of which it does not hear (NOLOOP); 0 if it
   * hears of them.
   */
  public long author() {
    TrackingOptions now = options;
    return now != null && now.noLoop() ? number : 0;
  }

  /** Returns the connection that hears in its place: 0 for itself, -1 while it does not track. */
  public long redirect() {
    TrackingOptions now = options;
    return now == null ? -1 : now.redirect();
  }

  /** Returns whether the client that heard in its place is gone. */
  public boolean isBroken() {
    return broken;
  }

  /** Sets what CLIENT CACHING says of the next command; null once that is done. */
  public void setCaching(@Nullable Boolean to) {
    caching = to;
  }

  /** Returns whether its cache may keep what the next command reads. */
  public boolean keepsNext() {
    TrackingOptions now = options;
    if (now == null || now.broadcast()) {
      return false;
    }
    return now.optIn()
        ? Boolean.TRUE.equals(caching)
        : !now.optOut() || !Boolean.FALSE.equals(caching);
  }

  /** Returns the flags that CLIENT TRACKINGINFO shows. */
  public List<String> flags() {
    TrackingOptions now = options;
    if (now == null) {
      return List.of("off");
    }
    List<String> flags = new ArrayList<>(now.flags());
    if (caching != null) {
      flags.add(caching ? "caching-yes" : "caching-no");
    }
    if (broken) {
      flags.add("broken_redirect");
    }
    return flags;
  }

  // ---------------------------------------------------------------- what waits for it

  public boolean hasWaiting() {
    return hasWaiting;
  }

  /**
   * Replaces all waiting invalidations and one more by invalidations of everything: one for its own
   * cache and one for others', as far as there were any.
   */
  void collapse(Waiting more) {
    Map<Boolean, Boolean> kinds = new HashMap<>();
    kinds.put(more.redirected(), true);
    waiting.forEach(w -> kinds.put(w.redirected(), true));
    waiting.clear();
    kinds.keySet().forEach(k -> waiting.add(new Waiting(Invalidation.OF_ALL, k)));
    waitingBytes = 0;
  }

  /**
   * Returns whether an invalidation of everything waits already, of its own cache or of others'.
   */
  boolean isToldOfAll(boolean redirected) {
    for (Waiting each : waiting) {
      if (each.of() != Invalidation.OF_ALL) {
        return false; // invalidations of everything are two at most, and the first ones
      }
      if (each.redirected() == redirected) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the push of an invalidation; null if the client cannot be told: it speaks RESP2 and the
   * cache is its own, or it does not subscribe to {@link #CHANNEL}.
   */
  static RespValue.@Nullable Push push(Waiting next, boolean resp3, boolean subscribed) {
    RespValue what = next.of().value();
    if (resp3) {
      return new RespValue.Push(List.of(INVALIDATE, what));
    }
    return next.redirected() && subscribed
        ? new RespValue.Push(List.of(MESSAGE, NAME, what))
        : null;
  }

  /** Returns the push that says that the client that heard in its place is gone. */
  static RespValue.Push broken(long redirect) {
    return new RespValue.Push(List.of(BROKEN, new RespValue.Int(redirect)));
  }
}
