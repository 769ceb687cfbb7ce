package io.osier.proxy.connection;

import io.osier.proxy.Timers;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Timers of an event loop, with the machine's clock. Thread-safe. */
public final class EventLoopTimers implements Timers {
  private final ScheduledExecutorService loop;

  /** The actions that wait for their pause to end, or for this to be closed. */
  private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  public EventLoopTimers(ScheduledExecutorService loop) {
    this.loop = loop;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long pauseMillis(long longest) {
    return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
  }

  @Override
  public UUID newId() {
    return UUID.randomUUID();
  }

  @Override
  public void later(Runnable action, long millis) {
    Runnable once =
        new Runnable() {
          @Override
          public void run() {
            if (waiting.remove(this)) {
              action.run();
            }
          }
        };
    waiting.add(once);
    try {
      loop.schedule(once, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      once.run();
      return;
    }
    if (closed) {
      once.run();
    }
  }

  @Override
  public void close() {
    closed = true;
    waiting.forEach(Runnable::run);
  }
}
