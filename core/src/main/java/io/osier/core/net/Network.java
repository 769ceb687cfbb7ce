package io.osier.core.net;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Everything that a transport needs from outside: connections, pauses, random numbers, and threads
 * for work that would block a loop. Transports get them only from here, so that a test can carry
 * bytes in virtual time. Thread-safe.
 */
public interface Network extends AutoCloseable {
  interface Port extends AutoCloseable {
    /** Returns the address, with the port's number. */
    InetSocketAddress address();

    /** Accepts no further connections. */
    @Override
    void close();
  }

  /**
   * Listens on a port.
   *
   * @param at port 0 for any free one
   * @param opening adds the handlers to the pipeline of each accepted connection
   */
  Port listen(InetSocketAddress at, Consumer<Channel> opening);

  /**
   * Opens a connection. Returns at once.
   *
   * @param to its name is looked up anew each time; if it has several addresses, a dead one does
   *     not keep the others from being tried
   * @param timeoutMillis how long all of that may take
   * @param opening adds the handlers to the pipeline of the connection that was made
   * @param failed is called with the reason if no connection is made
   */
  void dial(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed);

  /**
   * Runs a task later, in the loop that serves the connections, unless this is closed by then.
   * Tasks with the same pause run in the order in which they were given.
   */
  void later(Runnable task, long millis);

  /** Runs a task that takes long, in another thread than the loops. */
  void apart(String name, Runnable task);

  /** Returns random numbers, for the length of pauses. */
  RandomGenerator random();

  /** Whether it is closed, so that nothing is begun any more. */
  boolean isClosed();

  @Override
  void close();
}
