package io.osier.datacenter.feed;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that answers a datacenter's watchers, of all keyspaces. The first watcher starts it.
 * Thread-safe.
 */
public final class FeedThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FeedThread.class);

  /**
   * Changes within this time are told together: waking this thread costs a partition more than
   * adding a change, and each single answer costs its connection a turn.
   */
  private static final long TOGETHER_NANOS = 2_000_000;

  private static final long IDLE_NANOS = 100_000_000;

  private final List<KeyspaceFeed> feeds = new CopyOnWriteArrayList<>();
  private final AtomicBoolean signalled = new AtomicBoolean();
  private volatile @Nullable Thread thread;
  private volatile boolean closed;

  /** Adds a keyspace's feed. */
  public void add(KeyspaceFeed feed) {
    feeds.add(feed);
  }

  /** Wakes the thread, as there is something to do. Neither waits nor runs others' code. */
  public void signal() {
    if (signalled.get() || !signalled.compareAndSet(false, true)) {
      return;
    }
    Thread runs = thread;
    // A thread that another caller has just started may be parked already.
    LockSupport.unpark(runs == null ? start() : runs);
  }

  private synchronized @Nullable Thread start() {
    if (thread == null && !closed) {
      thread = Thread.ofPlatform().name("osier-feed").daemon(true).start(this::run);
    }
    return thread;
  }

  private void run() {
    while (!closed) {
      signalled.set(false);
      if (turns()) {
        signalled.set(true); // signals meanwhile need not wake the thread
        LockSupport.parkNanos(TOGETHER_NANOS);
      } else if (!signalled.get()) {
        if (feeds.stream().anyMatch(KeyspaceFeed::isInUse)) {
          LockSupport.parkNanos(IDLE_NANOS);
        } else {
          LockSupport.park();
        }
      }
    }
    turns(); // waiting watchers are told the reason
  }

  private boolean turns() {
    boolean did = false;
    for (KeyspaceFeed feed : List.copyOf(feeds)) {
      boolean last = feed.isClosed();
      try {
        did |= feed.turn();
      } catch (RuntimeException e) {
        LOG.error("a change feed failed while it sent changes", e);
      }
      if (last) {
        feeds.remove(feed);
      }
    }
    return did;
  }

  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
