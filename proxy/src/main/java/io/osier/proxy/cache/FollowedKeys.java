package io.osier.proxy.cache;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a keyspace with one prefix, of which a client follows the changes for what its
 * sessions keep, and what it was told of them. Pure: a {@link ChangeFollower} asks and brings the
 * answers, one after another; what sessions ask is for any thread.
 *
 * <p>A <em>run</em> is a time in which one process of one datacenter has told all, without a gap:
 * from the answer to a first question on, through lost connections, until it is too slow or another
 * process is asked. What a session reads there during a run and later is what is there, as long as
 * no change of the key is told.
 *
 * <p>What was told is counted by key; keys share {@value #COUNTERS} counters, 256 KiB. So a change
 * is also taken for one of the others that share its counter, which costs a read now and then.
 */
public final class FollowedKeys {
  private static final int COUNTERS = 1 << 16;

  /** A datacenter looks at 20,000 changes for one answer: if at fewer, it told of all it had. */
  private static final long LOOKED_AT_MAX = 10_000;

  /** Longer times are taken for this, so that they can be added. */
  private static final Duration LONGEST = Duration.ofDays(365);

  /** No run. */
  private static final long NONE = 0;

  /**
   * What is known now.
   *
   * @param at the process that tells
   * @param isHeard whether it answered the last question
   * @param knownNanos all that was visible there at this time has been told
   */
  private record State(long run, @Nullable ReplicaId at, boolean isHeard, long knownNanos) {
    static final State INITIAL = new State(NONE, null, false, 0);
  }

  /** What an answer brought. */
  enum Progress {
    /** A run has begun. */
    BEGUN,
    GOES_ON,
    /** It has ended; the next question begins anew. */
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
  private List<Request.Place> places = List.of();
  private @Nullable ReplicaId asked;
  private long askedNanos;

  /**
   * @param waitMillis how long a datacenter waits for a change before it answers that there is none
   * @param silenceNanos how long the last complete answer counts: beyond that, answers that were
   *     kept on it serve no longer than others
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

  /** True for the first who calls it: from then on changes are to be followed. */
  public boolean isFirstWanted() {
    return !wanted.get() && wanted.compareAndSet(false, true);
  }

  // ---------------------------------------------------------------- for sessions

  /**
   * Which changes of a key had been told before it is read: the answer is kept until another is.
   */
  Word word(Key key) {
    State now = state; // before the counter: see Word.holds
    int counter = key.hashCode() & (COUNTERS - 1);
    return new Word(this, now.run, counter, told.get(counter));
  }

  /**
   * What an answer is kept on: the run and the number of changes of its key when it was asked for.
   * Immutable.
   *
   * @param run in which the question was asked; {@link #NONE} if in none, or somebody else answered
   * @param changes how many had been told of by then
   */
  record Word(FollowedKeys by, long run, int counter, int changes) {
    /** As it counts for an answer of this process: not at all if another one tells the changes. */
    Word of(ReplicaId answerer) {
      State now = by.state;
      return now.run == run && answerer.equals(now.at)
          ? this
          : new Word(by, NONE, counter, changes);
    }

    /** Whether the key has, or may have, changed since the question was asked. */
    boolean isBroken() {
      return by.told.get(counter) != changes;
    }

    /** Whether the answer may come to be kept beyond the plain staleness. */
    boolean isGiven() {
      return run != NONE;
    }

    /** Whether all that was visible a short time ago has been told, and the key was not in it. */
    boolean holds(long nowNanos) {
      // First what is known, then the counter: what is known has been counted before.
      State now = by.state;
      return run != NONE
          && now.run == run
          && now.isHeard
          && nowNanos - now.knownNanos <= by.silenceNanos
          && !isBroken();
    }
  }

  // ---------------------------------------------------------------- for who asks

  /** The question for a process; where another process was asked before, a new run begins. */
  Request.Watch ask(ReplicaId of, long nowNanos) {
    if (!places.isEmpty() && !of.equals(asked)) {
      end();
    }
    asked = of;
    askedNanos = nowNanos;
    return new Request.Watch(
        prefix.keyspace(), prefix.key(), true, places, false, places.isEmpty() ? 0 : waitMillis);
  }

  /**
   * An answer came. A change that is told twice, after a lost connection, is counted twice, which
   * costs one read.
   */
  Progress answered(Reply.Changes answer) {
    answer.changes().forEach(c -> told.incrementAndGet(c.key().hashCode() & (COUNTERS - 1)));
    boolean begins = places.isEmpty();
    if (!begins && !goesOn(answer)) {
      end(); // it was started again: what it tells of the time before takes longer than to begin
      return Progress.ENDED;
    }
    State before = state;
    if (begins) {
      state = new State(++runs, asked, true, askedNanos);
    } else {
      // Known is what was visible when it was asked: an answer may have been long on its way.
      long known = isAll(answer) ? askedNanos : before.knownNanos;
      state = new State(before.run, before.at, true, known);
    }
    places = answer.places();
    return begins ? Progress.BEGUN : Progress.GOES_ON;
  }

  private boolean goesOn(Reply.Changes answer) {
    List<Request.Place> now = answer.places();
    boolean same = now.size() == places.size();
    for (int i = 0; same && i < now.size(); i++) {
      same = now.get(i).life() == places.get(i).life() && now.get(i).next().isEmpty();
    }
    return same;
  }

  /** Whether the answer tells of all that there was, and not only of the first part. */
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

  /** No answer came: no kept answer holds until the next one comes, which tells what changed. */
  void unanswered() {
    State now = state;
    state = new State(now.run, now.at, false, now.knownNanos);
  }

  /** Changes may have been missed: no answer that was kept in this run holds any more. */
  void end() {
    places = List.of();
    state = State.INITIAL;
  }
}
