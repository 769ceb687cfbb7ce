package io.osier.proxy.cache;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts the changes of a keyspace's keys with one prefix, so that sessions know whether their kept
 * answers still hold. Pure: a {@link ChangeFollower} sends the polls and delivers the answers, one
 * after another. The methods for sessions are thread-safe.
 *
 * <p>A <em>run</em> is a time in which one process of one datacenter tells all changes without a
 * gap: from the answer to the first poll, through lost connections, until the watcher is too slow
 * or another process is polled. A value that a session reads there during a run stays current as
 * long as no change of the key is told.
 *
 * <p>Changes are counted by the hash of their key in {@value #COUNTERS} counters, 256 KiB. So a
 * change also counts for other keys with the same counter, which costs a read now and then.
 */
public final class FollowedKeys {
  private static final int COUNTERS = 1 << 16;

  /**
   * A datacenter examines at most 20,000 changes for one answer. If it examined fewer than this,
   * its answer has all changes that it had.
   */
  private static final long LOOKED_AT_MAX = 10_000;

  /** Longer times are cut to this, so that times can be added. */
  private static final Duration LONGEST = Duration.ofDays(365);

  /** The number that stands for no run. */
  private static final long NONE = 0;

  /**
   * The present knowledge.
   *
   * @param run the number of the run; {@link #NONE} if there is none
   * @param at the process that tells the changes
   * @param isHeard whether it answered the last poll
   * @param knownNanos the time up to which all changes visible at the process have been told
   */
  private record State(long run, @Nullable ReplicaId at, boolean isHeard, long knownNanos) {
    static final State INITIAL = new State(NONE, null, false, 0);
  }

  /** The effect of an answer. */
  enum Progress {
    /** A run has begun. */
    BEGUN,
    GOES_ON,
    /** The run has ended; the next poll begins anew. */
    ENDED
  }

  private final FollowedPrefix prefix;
  private final int waitMillis;
  private final long silenceNanos;
  private final AtomicIntegerArray told = new AtomicIntegerArray(COUNTERS);
  private final AtomicBoolean wanted = new AtomicBoolean();
  private volatile State state = State.INITIAL;

  // Used by the follower alone.
  private long runs;
  private List<WatchRequest.Place> places = List.of();
  private @Nullable ReplicaId asked;
  private long askedNanos;

  /**
   * Makes the counters.
   *
   * @param waitMillis how long a datacenter waits for a change before it answers that there is none
   * @param silenceNanos how long after the last complete answer kept answers still rely on it;
   *     later they only serve for the plain staleness
   */
  public FollowedKeys(FollowedPrefix prefix, int waitMillis, long silenceNanos) {
    this.prefix = prefix;
    this.waitMillis = waitMillis;
    this.silenceNanos = silenceNanos;
  }

  FollowedPrefix prefix() {
    return prefix;
  }

  static long nanos(Duration time) {
    return (time.compareTo(LONGEST) < 0 ? time : LONGEST).toNanos();
  }

  long atMostNanos() {
    return nanos(prefix.atMost());
  }

  /** Returns true for the first caller, which must then begin to follow the changes. */
  public boolean isFirstWanted() {
    return !wanted.get() && wanted.compareAndSet(false, true);
  }

  // ---------------------------------------------------------------- for sessions

  /**
   * Returns how many changes of a key were told so far, before the key is read: the answer is kept
   * until that number changes.
   */
  Word word(Key key) {
    State now = state; // before the counter: see Word.holds
    int counter = key.hashCode() & (COUNTERS - 1);
    return new Word(this, now.run, counter, told.get(counter));
  }

  /**
   * The run and the number of changes of a key when the key was read, on which a kept answer
   * relies. Immutable.
   *
   * @param run the run in which the read was sent; {@link #NONE} if in none, or another process
   *     answered
   * @param changes the number of changes that had been told by then
   */
  record Word(FollowedKeys by, long run, int counter, int changes) {
    /**
     * Returns this word for an answer of a process: without a run if another process tells the
     * changes.
     */
    Word of(ReplicaId answerer) {
      State now = by.state;
      return now.run == run && answerer.equals(now.at)
          ? this
          : new Word(by, NONE, counter, changes);
    }

    /** Returns whether the key has, or may have, changed since the read was sent. */
    boolean isBroken() {
      return by.told.get(counter) != changes;
    }

    /** Returns whether the answer may be kept for longer than the plain staleness. */
    boolean isGiven() {
      return run != NONE;
    }

    /**
     * Returns whether all changes up to a short time ago have been told, and none of the key was
     * among them.
     */
    boolean holds(long nowNanos) {
      // The state is read before the counter, since changes are counted before the state says that
      // they are known.
      State now = by.state;
      return run != NONE
          && now.run == run
          && now.isHeard
          && nowNanos - now.knownNanos <= by.silenceNanos
          && !isBroken();
    }
  }

  // ---------------------------------------------------------------- for who asks

  /** Makes the next poll of a process; if another process was polled before, a new run begins. */
  WatchRequest ask(ReplicaId of, long nowNanos) {
    if (!places.isEmpty() && !of.equals(asked)) {
      end();
    }
    asked = of;
    askedNanos = nowNanos;
    return new WatchRequest(
        prefix.keyspace(), prefix.key(), true, places, false, places.isEmpty() ? 0 : waitMillis);
  }

  /**
   * Handles an answer. A change that is told twice, after a lost connection, is counted twice,
   * which costs one read.
   */
  Progress answered(Reply.Changes answer) {
    answer.changes().forEach(c -> told.incrementAndGet(c.key().hashCode() & (COUNTERS - 1)));
    boolean begins = places.isEmpty();
    if (!begins && !goesOn(answer)) {
      end(); // restarted: beginning anew is faster than its account of the time before
      return Progress.ENDED;
    }
    State before = state;
    if (begins) {
      state = new State(++runs, asked, true, askedNanos);
    } else {
      // Known is what was visible when the poll was sent, as its answer may have travelled long.
      long known = isAll(answer) ? askedNanos : before.knownNanos;
      state = new State(before.run, before.at, true, known);
    }
    places = answer.places();
    return begins ? Progress.BEGUN : Progress.GOES_ON;
  }

  private boolean goesOn(Reply.Changes answer) {
    List<WatchRequest.Place> now = answer.places();
    boolean same = now.size() == places.size();
    for (int i = 0; same && i < now.size(); i++) {
      same = now.get(i).life() == places.get(i).life() && now.get(i).next().isEmpty();
    }
    return same;
  }

  /** Returns whether the answer has all changes that there were, and not only the first part. */
  private boolean isAll(Reply.Changes answer) {
    long bytes = 0;
    for (Reply.Change change : answer.changes()) {
      bytes += Reply.Change.PLACE_BYTES + change.key().length();
    }
    boolean all = bytes < Reply.Changes.BYTES_MAX;
    for (int i = 0; all && i < places.size(); i++) {
      all = answer.places().get(i).tick() - places.get(i).tick() < LOOKED_AT_MAX;
    }
    return all;
  }

  /**
   * Handles a poll without an answer: no kept answer holds until the next answer, which tells what
   * changed.
   */
  void unanswered() {
    State now = state;
    state = new State(now.run, now.at, false, now.knownNanos);
  }

  /**
   * Ends the run, since changes may have been missed: answers that were kept in it no longer hold.
   */
  void end() {
    places = List.of();
    state = State.INITIAL;
  }
}
