package io.osier.datacenter.redis.tracking;

import io.osier.datacenter.redis.RespValue;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The invalidations that wait for clients, within a budget that the table of read keys shares. A
 * client for which too many bytes wait is told to drop everything. Pure; for one thread at a time.
 */
final class Outbox {
  private final long bytesMax;
  private Set<TrackedClient> woken = new LinkedHashSet<>();

  /** The bytes that are taken from the budget, by this outbox and by the table. */
  private long bytes;

  Outbox(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  boolean hasRoom(long more) {
    return bytes + more <= bytesMax;
  }

  void use(long more) {
    bytes += more;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Queues an invalidation of a client's cache, for the client itself or for the one that it
   * redirects to.
   */
  void tell(TrackedClient of, Invalidation what) {
    TrackingOptions options = of.options;
    if (options == null) {
      return;
    }
    if (options.redirect() == 0) {
      add(of, new TrackedClient.Waiting(what, false));
      return;
    }
    TrackedClient target = of.target;
    if (target != null) {
      add(target, new TrackedClient.Waiting(what, true));
    }
  }

  private void add(TrackedClient client, TrackedClient.Waiting what) {
    if (client.isToldOfAll(what.redirected())) {
      return;
    }
    long more = what.of().bytes();
    if (what.of() == Invalidation.OF_ALL
        || client.waitingBytes + more > TrackedClient.WAITING_BYTES_MAX
        || !hasRoom(more)) {
      bytes -= client.waitingBytes;
      client.collapse(what);
    } else {
      bytes += more;
      client.waitingBytes += more;
      client.waiting.add(what);
    }
    wake(client);
  }

  /** Marks a client as having something to poll. */
  void wake(TrackedClient client) {
    client.hasWaiting = true;
    woken.add(client);
  }

  /** Returns the clients that got something to poll since the last call. */
  Collection<TrackedClient> takeWoken() {
    if (woken.isEmpty()) {
      return List.of();
    }
    Set<TrackedClient> taken = woken;
    woken = new LinkedHashSet<>();
    return taken;
  }

  /** See {@link Tracking#poll}. */
  RespValue.@Nullable Push poll(TrackedClient client, boolean resp3, boolean subscribed) {
    RespValue.Push push = null;
    TrackingOptions options = client.options;
    if (client.brokenIsToTell && options != null) {
      client.brokenIsToTell = false;
      push = resp3 ? TrackedClient.broken(options.redirect()) : null;
    }
    TrackedClient.Waiting next;
    while (push == null && (next = client.waiting.poll()) != null) {
      bytes -= next.of().bytes();
      client.waitingBytes -= next.of().bytes();
      push = TrackedClient.push(next, resp3, subscribed);
    }
    client.hasWaiting = !client.waiting.isEmpty();
    return push;
  }

  /**
   * Drops the invalidations that wait for a client.
   *
   * @param redirected whether to drop those of other clients' caches, or those of its own
   */
  void drop(TrackedClient client, boolean redirected) {
    client.waiting.removeIf(
        each -> {
          if (each.redirected() != redirected) {
            return false;
          }
          bytes -= each.of().bytes();
          client.waitingBytes -= each.of().bytes();
          return true;
        });
    client.hasWaiting = client.brokenIsToTell || !client.waiting.isEmpty();
  }
}
