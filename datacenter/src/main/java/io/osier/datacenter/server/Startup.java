package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A start in steps, which may be told to stop at any moment: between two steps it ends ({@link
 * #check}), and what was opened until then is closed, the last first. Once all is open ({@link
 * #started}), whoever tells it to stop closes it. Thread-safe; nothing is closed twice.
 */
public class Startup implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Startup.class);

  private enum Phase {
    STARTING,
    RUNNING,
    CLOSING,
    CLOSED
  }

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private Phase phase = Phase.STARTING;
  private boolean stopping;

  public Startup() {}

  /**
   * To be called between two steps.
   *
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void check() {
    if (stopping) {
      throw new OsierException(
          ErrorCode.SHUTTING_DOWN, "it was told to stop before it had started");
    }
  }

  /**
   * This was opened, and is closed before all that was opened earlier. At once, if it comes when
   * all else is closed.
   */
  public <T extends AutoCloseable> T opened(T what) {
    synchronized (this) {
      if (phase == Phase.STARTING || phase == Phase.RUNNING) {
        opened.push(what);
        return what;
      }
    }
    close(what);
    return what;
  }

  /**
   * All is open: from now on who tells it to stop closes it.
   *
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void started() {
    check();
    phase = Phase.RUNNING;
  }

  /**
   * Something that was opened is closed by now, and is opened anew: until {@link #started} it is a
   * start again.
   *
   * @param closed is known no more
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void startsAnew(AutoCloseable closed) {
    check();
    opened.remove(closed);
    phase = Phase.STARTING;
  }

  /**
   * Tells it to stop, and waits until all is closed: by this thread if all was open, and otherwise
   * by the one that starts.
   *
   * @param atMost how long to wait for that one, whose step under way may take long; at its end
   *     nothing was served, so that nothing is lost if the process ends meanwhile
   * @return whether all is closed
   */
  public boolean stop(Duration atMost) {
    synchronized (this) {
      stopping = true;
      if (phase == Phase.STARTING) {
        awaitClosed(atMost.toNanos());
        return phase == Phase.CLOSED;
      }
    }
    close();
    return true;
  }

  private void awaitClosed(long nanosMax) {
    long deadline = System.nanoTime() + nanosMax;
    boolean interrupted = false;
    while (phase == Phase.STARTING || phase == Phase.CLOSING) {
      // What is being closed has a limit of its own, and must come to its end.
      long left = phase == Phase.CLOSING ? nanosMax : deadline - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        wait(Math.max(1, left / 1_000_000));
      } catch (InterruptedException e) {
        interrupted = true;
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes all that was opened, the last first; returns when that is done, by whomever. */
  @Override
  public void close() {
    synchronized (this) {
      if (phase == Phase.CLOSING || phase == Phase.CLOSED) {
        awaitClosed(1_000_000_000);
        return;
      }
      phase = Phase.CLOSING;
    }
    opened.forEach(Startup::close); // nobody adds to it any more
    synchronized (this) {
      phase = Phase.CLOSED;
      notifyAll();
    }
  }

  private static void close(AutoCloseable what) {
    try {
      what.close();
    } catch (Exception e) {
      LOG.warn("a resource could not be closed", e);
    }
  }
}
