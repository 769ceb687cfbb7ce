package io.osier.propagation.send;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * When about which own updates were committed, and how many bytes they were as operations: tells
 * how far behind a peer is that lacks those after a number.
 *
 * <p>A sample now and then, and fewer where many are kept: a peer that has been away for a day is a
 * day behind, give or take minutes. Never more than {@link #SAMPLES_MAX}. Pure; not thread-safe.
 */
final class CommitTimes {
  static final int SAMPLES_MAX = 256;
  private static final long SPACING_NANOS_MIN = 50_000_000;

  /**
   * What had been committed at a moment.
   *
   * @param number the last commit number before it
   * @param bytes of all up to it
   */
  private record Sample(long number, long nanos, long bytes) {}

  private final ArrayDeque<Sample> samples = new ArrayDeque<>();
  private long spacingNanos = SPACING_NANOS_MIN;
  private long bytes;

  /** Takes note of an update that is committed now, after this number. */
  void committed(long before, int opBytes, long nowNanos) {
    Sample last = samples.peekLast();
    if (last == null || nowNanos - last.nanos >= spacingNanos) {
      samples.add(new Sample(before, nowNanos, bytes));
      if (samples.size() > SAMPLES_MAX) {
        thinOut();
      }
    }
    bytes += opBytes;
  }

  private void thinOut() {
    spacingNanos *= 2;
    boolean keep = true;
    for (Iterator<Sample> each = samples.iterator(); each.hasNext(); ) {
      each.next();
      if (!keep) {
        each.remove();
      }
      keep = !keep;
    }
  }

  /** Everybody has what is up to this number. */
  void prune(long everywhere) {
    while (samples.size() > 1) {
      Sample first = samples.poll();
      if (samples.peek().number > everywhere) {
        samples.addFirst(first);
        break;
      }
    }
    if (samples.size() < SAMPLES_MAX / 8) {
      spacingNanos = SPACING_NANOS_MIN;
    }
  }

  /** The latest sample of which all is at a peer that has what is up to this number. */
  private @Nullable Sample at(long number) {
    Sample found = null;
    for (Sample s : samples) {
      if (found != null && s.number > number) {
        break;
      }
      found = s;
    }
    return found;
  }

  /** How long ago the first update after this number was committed, at most, in nanoseconds. */
  long lagNanos(long number, long nowNanos) {
    Sample since = at(number);
    return since == null ? 0 : Math.max(0, nowNanos - since.nanos);
  }

  /** What the updates of this life after this number take as operations, at most. */
  long lagBytes(long number) {
    Sample since = at(number);
    return since == null ? 0 : bytes - since.bytes;
  }
}
