package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.DotCollector;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy.Limits;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.state.CrdtState;

/**
 * What an update is prepared with: numbers for its dots, a timestamp, and a collector of the dots
 * that it saw and supersedes, which become part of its delta's causal context (invariant I3).
 *
 * <p>Each element, field or value that the update writes gets a dot of its own, from consecutive
 * numbers; the last of them is the update's commit number. If two elements shared a dot, the
 * removal of one would tell a replica that has neither that the other is gone, too. One for each
 * update; not thread-safe.
 */
public final class UpdateContext {
  /** What one update makes anew of present values, in bytes; one value may be larger. */
  private static final long REWRITTEN_MAX = 64L << 20;

  private final ReplicaId origin;
  private final long first;
  private final long predecessor;
  private final long timestamp;
  private final int valueBytesMax;
  private long forgotten;
  private final DotCollector superseded = new DotCollector();
  private long next;
  private long rewritten;

  /** For one update whose values may be as large as any. */
  public UpdateContext(
      ReplicaId origin, long first, long predecessor, long timestamp, long forgotten) {
    this(origin, first, predecessor, timestamp, forgotten, Limits.VALUE_BYTES_CAP);
  }

  /**
   * @param origin who makes it
   * @param first the first number for its dots, larger than the origin's last
   * @param predecessor the commit number of the origin's last update of this object, 0 if none
   * @param timestamp a hybrid-clock timestamp, later than all that was seen but by the same
   *     transaction, whose updates all have it
   * @param forgotten of the origin's updates up to this number some may have been forgotten after
   *     their removal ({@link CrdtState#isSpent}); 0 if none was
   * @param valueBytesMax no value that the update makes of a present one may be larger
   */
  public UpdateContext(
      ReplicaId origin,
      long first,
      long predecessor,
      long timestamp,
      long forgotten,
      int valueBytesMax) {
    this.origin = origin;
    this.first = first;
    this.next = first;
    this.predecessor = predecessor;
    this.timestamp = timestamp;
    this.forgotten = forgotten;
    this.valueBytesMax = valueBytesMax;
  }

  /** For what follows, within the same update, on a delta that was prepared with this. */
  public UpdateContext after(CausalContext update) {
    long last = update.last(origin);
    return new UpdateContext(origin, last + 1, last, timestamp, forgotten, valueBytesMax);
  }

  /**
   * It is prepared against a state that knows this: others may have forgotten of the origin's
   * updates what is in there, and their states have dropped here what was.
   */
  public void against(CausalContext known) {
    forgotten = Math.max(forgotten, known.last(origin));
  }

  /** Whether a state that knows this has none of the numbers. */
  public boolean isNewTo(CausalContext known) {
    return known.last(origin) < first;
  }

  public Dot nextDot() {
    return new Dot(origin, next++);
  }

  public ReplicaId origin() {
    return origin;
  }

  /** What of the origin's own updates may have been forgotten; 0 if nothing was. */
  public long forgotten() {
    return forgotten;
  }

  /** The hybrid-clock timestamp. */
  public long timestamp() {
    return timestamp;
  }

  /**
   * Notes that a value is made anew of a present one, before it is made: what asks for that may be
   * much smaller, and may ask for it many times.
   *
   * @param bytesBefore what is there
   * @param bytes what comes of it
   * @throws OsierException VALUE_TOO_LARGE if the value grows too large, or all that the update
   *     makes so is too much
   */
  public void rewrites(long bytesBefore, long bytes) {
    if (bytes > valueBytesMax && bytes > bytesBefore) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "a string of " + bytes + " bytes is over the limit of " + valueBytesMax + " for a value");
    }
    rewritten += bytes;
    if (rewritten > REWRITTEN_MAX && rewritten > bytes) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "an update that makes strings anew makes at most "
              + REWRITTEN_MAX
              + " bytes: do it with several");
    }
  }

  /** Notes that the update replaces or removes what this dot stands for. */
  public void supersede(Dot seen) {
    superseded.add(seen.replica(), seen.number());
  }

  /** Notes the same for a dot that is no object. */
  void supersede(ReplicaId replica, long number) {
    superseded.add(replica, number);
  }

  /** The commit number: the last number used, the first one if no dot was needed. */
  long last() {
    return Math.max(first, next - 1);
  }

  /** A place in the update: what was superseded and written before it. */
  public record Mark(int superseded, long next) {}

  /** The present place. */
  public Mark mark() {
    return new Mark(superseded.size(), next);
  }

  /** What the update has superseded and written between two places. */
  public CausalContext between(Mark from, Mark to) {
    CausalContext context = superseded.context(from.superseded, to.superseded);
    return to.next == from.next ? context : context.withRange(origin, from.next - 1, to.next - 1);
  }

  /** The causal context of the delta: {@code (predecessor, last]} and all that was superseded. */
  public CausalContext context() {
    return superseded.size() == 0
        ? CausalContext.range(origin, predecessor, last())
        : superseded.context().withRange(origin, predecessor, last());
  }
}
