package io.osier.propagation.send;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * When about which own updates were committed, and how many bytes they were as operations: tells
 * how far behind a peer is that lacks those after a number.
 *
 * <p>A sample now and then, and of what is long ago fewer: a peer that has been away for a day is a
 * day behind, give or take two hours, and what was committed a second ago is known to a tenth of a
 * second whoever is away. Never more than {@link #SAMPLES_MAX}. Pure; not thread-safe.
 */
final class CommitTimes {
  static final int SAMPLES_MAX = 256;
  private static final long SPACING_NANOS_MIN = 50_000_000;

  /** Where there are too many, samples are kept apart by this share of their age at least. */
  private static final int AGE_SHARE = 12;

  /**
   * What had been committed at a moment.
   *
   * @param number the last commit number before it
   * @param bytes of all up to it
   */
  private record Sample(long number, long nanos, long bytes) {}

  private final ArrayDeque<Sample> samples = new ArrayDeque<>();
  private long committed;
  private long committedNanos;
  private long bytes;

  /** Nothing was committed in this life yet, which begins now, after this number. */
  CommitTimes(long recovered, long nowNanos) {
    samples.add(new Sample(recovered, nowNanos, 0));
    committed = recovered;
    committedNanos = nowNanos;
  }

  /** Takes note of an update that is committed now, with the numbers up to this one. */
  void committed(long number, int opBytes, long nowNanos) {
    Sample last = samples.getLast();
    if (nowNanos - last.nanos >= SPACING_NANOS_MIN) {
      samples.add(new Sample(committed, nowNanos, bytes));
      if (samples.size() > SAMPLES_MAX) {
        thinOut(nowNanos, AGE_SHARE);
      }
    }
    committed = number;
    committedNanos = nowNanos;
    bytes += opBytes;
  }

  /** The first stays: what is older than all others is measured by it. */
  private void thinOut(long nowNanos, int share) {
    Sample kept = samples.getFirst();
    for (Iterator<Sample> each = samples.iterator(); each.hasNext(); ) {
      Sample s = each.next();
      if (s == kept || s.nanos - kept.nanos >= (nowNanos - s.nanos) / share) {
        kept = s;
      } else {
        each.remove();
      }
    }
    if (samples.size() > SAMPLES_MAX) {
      thinOut(nowNanos, Math.max(1, share / 2)); // a life of many years
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
  }

  /** The latest sample of which all is at a peer that has what is up to this number. */
  private Sample at(long number) {
    Sample found = samples.getFirst();
    for (Sample s : samples) {
      if (s.number > number) {
        break;
      }
      found = s;
    }
    return found;
  }

  /** How long ago the first update after this number was committed, at most, in nanoseconds. */
  long lagNanos(long number, long nowNanos) {
    return Math.max(0, nowNanos - at(number).nanos);
  }

  /** What the updates of this life after this number take as operations, at most. */
  long lagBytes(long number) {
    return bytes - at(number).bytes;
  }

  /** What the updates of this life up to this number take as operations, about. */
  long bytesUpTo(long number) {
    if (number >= committed) {
      return bytes;
    }
    Sample from = at(number);
    long nextNumber = committed;
    long nextBytes = bytes;
    for (Sample s : samples) {
      if (s.number > number) {
        nextNumber = s.number;
        nextBytes = s.bytes;
        break;
      }
    }
    double share = Math.max(0, number - from.number) / (double) (nextNumber - from.number);
    return from.bytes + Math.round(share * (nextBytes - from.bytes));
  }

  /** The last number that was committed by then, at least. */
  long committedBy(long nanos) {
    if (nanos - committedNanos >= 0) {
      return committed;
    }
    long number = 0;
    for (Sample s : samples) {
      if (s.nanos - nanos > 0) {
        break;
      }
      number = s.number;
    }
    return number;
  }
}
