package io.osier.datacenter.server;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the order of one sender's requests although some have to wait until their objects were read
 * from the disk: those behind wait with them, while all reads go on side by side. Thread-safe.
 */
final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  private static final class Waiting {
    final Runnable then;
    boolean ready;

    Waiting(Runnable then, boolean ready) {
      this.then = then;
      this.ready = ready;
    }
  }

  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /**
   * Does something in its turn.
   *
   * @param read what must be done before it, by another thread; null if nothing must
   * @param reader whose threads may wait
   * @param then must not block
   */
  synchronized void submit(Runnable read, Executor reader, Runnable then) {
    if (read == null && waiting.isEmpty()) {
      then.run();
      return;
    }
    Waiting entry = new Waiting(then, read == null);
    waiting.add(entry);
    if (read != null) {
      reader.execute(
          () -> {
            try {
              read.run();
            } catch (RuntimeException e) {
              LOG.debug("reading ahead failed", e); // and fails again, with a reply, in its turn
            } finally {
              ready(entry);
            }
          });
    }
  }

  private synchronized void ready(Waiting entry) {
    entry.ready = true;
    while (!waiting.isEmpty() && waiting.peek().ready) {
      waiting.poll().then.run();
    }
  }
}
