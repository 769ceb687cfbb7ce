package io.osier.core.net;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * What a transport has of the world: connections, pauses, chance, and a place for work that would
 * hold up a loop. Transports have them from here and from nowhere else, so that a test can carry
 * bytes in virtual time. Thread-safe.
 */
public interface Network extends AutoCloseable {
  interface Port extends AutoCloseable {
    /** Where it is, with the port's number. */
    InetSocketAddress address();

    /** Takes no further connections. */
    @Override
    void close();
  }

  /**
   * Listens.
   *
   * @param at port 0 for any free one
   * @param opening puts the handlers into the pipeline of each connection that comes
   */
  Port listen(InetSocketAddress at, Consumer<Channel> opening);

  /**
   * Opens a connection. Returns at once.
   *
   * @param to its name is looked up anew each time; where it has several addresses, one that is
   *     dead does not keep the others from being tried
   * @param timeoutMillis how long all of that may take
   * @param opening puts the handlers into the pipeline of the connection that was made
   * @param failed hears why there is none
   */
  void dial(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed);

  /**
   * Does something later, in the loop that serves the connections, unless this is closed by then.
   * What has the same pause is done in the order in which it was given.
   */
  void later(Runnable task, long millis);

  /** Does something that takes long, beside the loops. */
  void apart(String name, Runnable task);

  /** Draws the length of pauses. */
  RandomGenerator random();

  /** Whether nothing is to be begun any more. */
  boolean isClosed();

  @Override
  void close();
}
