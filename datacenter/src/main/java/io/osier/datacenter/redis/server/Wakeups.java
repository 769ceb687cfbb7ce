package io.osier.datacenter.redis.server;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import io.osier.datacenter.frontend.Turn;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The connections of one loop that have work: other threads have brought replies, or commands were
 * left when a turn was over. A partition answers many connections at once, and the loop is woken
 * once for all of them. Thread-safe.
 */
final class Wakeups {
  /** After so many connections the loop looks at its sockets again, before the rest. */
  private static final int CONNECTIONS_MAX = 256;

  /** After so many commands it does so, too. */
  private static final int COMMANDS_MAX = 4 * Turn.REQUESTS_MAX;

  private static final FastThreadLocal<Wakeups> OF_LOOP =
      new FastThreadLocal<>() {
        @Override
        protected Wakeups initialValue() {
          return new Wakeups();
        }
      };

  private final Queue<RespConnection> connections = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  private Wakeups() {}

  /** Returns the connections of the loop whose thread calls. */
  static Wakeups ofLoop() {
    return OF_LOOP.get();
  }

  /**
   * Has the loop give a connection a turn.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
   */
  void add(RespConnection connection, EventLoop loop) {
    connections.add(connection);
    schedule(loop);
  }

  private void schedule(EventLoop loop) {
    if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
      loop.execute(() -> work(loop));
    }
  }

  private void work(EventLoop loop) {
    try {
      wakeSome();
    } finally {
      scheduled.set(false);
      if (!connections.isEmpty() && scheduled.compareAndSet(false, true)) {
        // The loop looks at its sockets before a task with a time, and not before one without.
        loop.schedule(() -> work(loop), 0, TimeUnit.NANOSECONDS);
      }
    }
  }

  private void wakeSome() {
    int commands = 0;
    for (int i = 0; i < CONNECTIONS_MAX && commands < COMMANDS_MAX; i++) {
      RespConnection next = connections.poll();
      if (next == null) {
        return;
      }
      commands += next.wake();
    }
  }
}
