package io.osier.testing;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a test has opened: closed with this, what was opened last first. A field of a test that is
 * one is {@code @AutoClose}. For one thread.
 */
public final class Opened implements AutoCloseable {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Closes it at the end. Returns it. */
  public <T extends AutoCloseable> T add(T one) {
    open.push(one);
    return one;
  }

  /** Closes all, also where one cannot be closed; says so then. */
  @Override
  public void close() {
    AssertionError failed = new AssertionError("not everything can be closed");
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        failed.addSuppressed(e);
      }
    }
    if (failed.getSuppressed().length > 0) {
      throw failed;
    }
  }
}
