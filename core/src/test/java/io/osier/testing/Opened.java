package io.osier.testing;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The resources that a test has opened: closed with this, the last opened first. A field of a test
 * of this type is {@code @AutoClose}. For one thread.
 */
public final class Opened implements AutoCloseable {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Adds a resource to be closed at the end; returns it. */
  public <T extends AutoCloseable> T add(T one) {
    open.push(one);
    return one;
  }

  /** Closes all resources, even if one cannot be closed, which is thrown afterwards. */
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
