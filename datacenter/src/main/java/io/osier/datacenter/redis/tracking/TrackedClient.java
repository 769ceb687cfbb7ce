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
 * A connection that has a cache, or hears of another one's. What is not said to be otherwise is
 * used by {@link Tracking} alone, under its lock.
 */
public final class TrackedClient {
  /** The channel in which those hear of changes who speak RESP2, of the caches of others. */
  public static final String CHANNEL = "__redis__:invalidate";

  /** More waits for none: it is told of everything at once. */
  static final long WAITING_BYTES_MAX = 1 << 20;

  private static final RespValue INVALIDATE = RespValue.Bulk.of("invalidate");
  private static final RespValue MESSAGE = RespValue.Bulk.of("message");
  private static final RespValue NAME = RespValue.Bulk.of(CHANNEL);
  private static final RespValue BROKEN = RespValue.Bulk.of("tracking-redir-broken");

  /** Something that waits for it; of whose cache, is said by redirected. */
  record Waiting(Invalidation of, boolean redirected) {}

  final Runnable wake;

  /** Of each time of tracking another one; 0 while it does not. For any thread. */
  volatile long number;

  /** Null while it does not track. For any thread. */
  volatile @Nullable TrackingOptions options;

  /** The keyspaces of which it may have something. */
  final Set<String> keyspaces = new HashSet<>();

  final NavigableSet<Prefix> prefixes = new TreeSet<>();

  /** Who hears in its place; null if nobody does. */
  @Nullable TrackedClient target;

  /** For whom it hears. */
  final Set<TrackedClient> followers = new HashSet<>();

  /** Whether nobody hears in its place any more. For any thread. */
  volatile boolean broken;

  boolean brokenIsToTell;

  final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  long waitingBytes;

  /** Whether something waits for it. For any thread. */
  volatile boolean hasWaiting;

  /** Whether CLIENT CACHING says yes to the next command, or no. Of the connection's loop. */
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

  /** Whether it hears of all keys of some prefixes. */
  public boolean isBroadcast() {
    TrackingOptions now = options;
    return now != null && now.broadcast();
  }

  /** What tells its own changes from others'; 0 if it hears of those as well. */
  public long author() {
    TrackingOptions now = options;
    return now != null && now.noLoop() ? number : 0;
  }

  /** Who hears in its place: 0 for itself, -1 while it does not track. */
  public long redirect() {
    TrackingOptions now = options;
    return now == null ? -1 : now.redirect();
  }

  /** Whether nobody hears in its place any more. */
  public boolean isBroken() {
    return broken;
  }

  /** CLIENT CACHING; it tracks. Null once the next command is done. */
  public void setCaching(@Nullable Boolean to) {
    caching = to;
  }

  /** Whether it may keep what the next command reads. */
  public boolean keepsNext() {
    TrackingOptions now = options;
    if (now == null || now.broadcast()) {
      return false;
    }
    return now.optIn()
        ? Boolean.TRUE.equals(caching)
        : !now.optOut() || !Boolean.FALSE.equals(caching);
  }

  /** The words by which CLIENT TRACKINGINFO tells of it. */
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

  /** What stands for several that are too many, and one more: one for each kind. */
  void collapse(Waiting more) {
    Map<Boolean, Boolean> kinds = new HashMap<>();
    kinds.put(more.redirected(), true);
    waiting.forEach(w -> kinds.put(w.redirected(), true));
    waiting.clear();
    kinds.keySet().forEach(k -> waiting.add(new Waiting(Invalidation.OF_ALL, k)));
    waitingBytes = 0;
  }

  /** Whether it is to be told already that all may have changed. */
  boolean isToldOfAll(boolean redirected) {
    for (Waiting each : waiting) {
      if (each.of() != Invalidation.OF_ALL) {
        return false; // those are two at most, and stand in front
      }
      if (each.redirected() == redirected) {
        return true;
      }
    }
    return false;
  }

  /** The push that says so; null if it cannot be told. */
  static RespValue.@Nullable Push push(Waiting next, boolean resp3, boolean subscribed) {
    RespValue what = next.of().value();
    if (resp3) {
      return new RespValue.Push(List.of(INVALIDATE, what));
    }
    return next.redirected() && subscribed
        ? new RespValue.Push(List.of(MESSAGE, NAME, what))
        : null;
  }

  /** The push that says that nobody hears in its place. */
  static RespValue.Push broken(long redirect) {
    return new RespValue.Push(List.of(BROKEN, new RespValue.Int(redirect)));
  }
}
