package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A start in steps, which may be stopped at any time. During the start, the starting thread ends at
 * its next check ({@link #check}) and closes all that was opened, the last first; after the start
 * ({@link #started}), the thread that calls {@link #stop} closes it. Thread-safe; nothing is closed
 * twice.
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
   * Ends the start if it was told to stop; called between two steps.
   *
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void check() {
    if (stopping) {
      throw new OsierException(
          ErrorCode.SHUTTING_DOWN, "the datacenter was stopped before its start had ended");
    }
  }

  /**
   * Adds a part that was opened, which is to be closed before all earlier ones. If everything else
   * is closed already, it is closed at once.
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
   * Ends the start: from now on {@link #stop} closes everything itself.
   *
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void started() {
    check();
    phase = Phase.RUNNING;
  }

  /**
   * Begins a new start after a part was closed, until {@link #started}.
   *
   * @param closed the closed part, which is forgotten
   * @throws OsierException SHUTTING_DOWN if it was told to stop
   */
  public synchronized void startsAnew(AutoCloseable closed) {
    check();
    opened.remove(closed);
    phase = Phase.STARTING;
  }

  /**
   * Stops the start, and waits until everything is closed: by this thread after the start, and
   * otherwise by the starting thread.
   *
   * @param atMost how long to wait for the starting thread, whose present step may take long.
   *     Before the end of the start nothing is served, so nothing is lost if the process ends
   *     meanwhile
   * @return whether everything is closed
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
      // Closing has time limits of its own, and must be waited for.
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

  /**
   * Closes all that was opened, the last first; returns when that is done, by this or another
   * thread.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (phase == Phase.CLOSING || phase == Phase.CLOSED) {
        awaitClosed(1_000_000_000);
        return;
      }
      phase = Phase.CLOSING;
    }
    opened.forEach(Startup::close); // nothing is added any more
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
