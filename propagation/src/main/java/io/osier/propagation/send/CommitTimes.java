package io.osier.propagation.send;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Records roughly when this datacenter's updates were committed and how many bytes they were as
 * operations. From that follows how far behind a peer is that lacks the updates after a number.
 *
 * <p>It keeps a sample now and then, and fewer of older times: the lag of a peer that has been away
 * for a day is known to within two hours, and the time of a commit a second ago to a tenth of a
 * second. There are never more than {@link #SAMPLES_MAX} samples. Pure; not thread-safe.
 */
final class CommitTimes {
  static final int SAMPLES_MAX = 256;
  private static final long SPACING_NANOS_MIN = 50_000_000;

  /**
   * When samples are thinned out, those that stay are apart by at least this share of their age.
   */
  private static final int AGE_SHARE = 12;

  /**
   * The commits before a moment.
   *
   * @param number the last commit number before that moment
   * @param nanos the moment
   * @param bytes the size as operations of all updates up to {@code number}
   */
  private record Sample(long number, long nanos, long bytes) {}

  private final ArrayDeque<Sample> samples = new ArrayDeque<>();
  private long committed;
  private long committedNanos;
  private long bytes;

  /**
   * Begins with nothing committed in this life, which starts at {@code nowNanos}, after the commit
   * number {@code recovered}.
   */
  CommitTimes(long recovered, long nowNanos) {
    samples.add(new Sample(recovered, nowNanos, 0));
    committed = recovered;
    committedNanos = nowNanos;
  }

  /** Notes an update that is committed now and has this commit number. */
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

  /**
   * Removes samples that are too close together. The first one stays: whatever is older than all
   * others is measured by it.
   */
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
      thinOut(nowNanos, Math.max(1, share / 2)); // a process that has run for many years
    }
  }

  /**
   * Drops the samples that are no longer needed once every peer has the updates up to this number.
   */
  void prune(long everywhere) {
    while (samples.size() > 1) {
      Sample first = samples.poll();
      if (samples.peek().number > everywhere) {
        samples.addFirst(first);
        break;
      }
    }
  }

  /** Returns the latest sample all of whose updates a peer has that has those up to this number. */
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

  /**
   * Returns an upper bound for how long ago the first update after this number was committed, in
   * nanoseconds.
   */
  long lagNanos(long number, long nowNanos) {
    return Math.max(0, nowNanos - at(number).nanos);
  }

  /**
   * Returns an upper bound for the size of this life's updates after this number, as operations, in
   * bytes.
   */
  long lagBytes(long number) {
    return bytes - at(number).bytes;
  }

  /** Returns about how many bytes this life's updates up to this number take as operations. */
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

  /** Returns a commit number that had been reached by a moment: a lower bound. */
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
