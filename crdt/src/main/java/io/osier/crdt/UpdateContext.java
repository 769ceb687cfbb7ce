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
 * The context in which an update is prepared: numbers for its dots, a timestamp, and a collector of
 * the dots that it saw and supersedes, which become part of its delta's causal context (invariant
 * I3).
 *
 * <p>Each element, field or value that the update writes gets a dot of its own, from consecutive
 * numbers; the last of them is the update's commit number. If two elements shared a dot, the
 * removal of one would tell a replica that has neither that the other is gone, too. One for each
 * update; not thread-safe.
 */
public final class UpdateContext {
  /** The most bytes of existing values that one update rewrites; a single value may exceed it. */
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

  /** Creates the context of an update whose values may have the largest allowed size. */
  public UpdateContext(
      ReplicaId origin, long first, long predecessor, long timestamp, long forgotten) {
    this(origin, first, predecessor, timestamp, forgotten, Limits.VALUE_BYTES_CAP);
  }

  /**
   * @param origin the replica that makes the update
   * @param first the first number for its dots, larger than the origin's last
   * @param predecessor the commit number of the origin's last update of this object, 0 if none
   * @param timestamp a hybrid-clock timestamp, later than all that were seen, except those of the
   *     same transaction, whose updates all have it
   * @param forgotten some of the origin's updates up to this number may have been forgotten after
   *     their removal ({@link CrdtState#isSpent}); 0 if none was
   * @param valueBytesMax the largest size of a value that the update makes of an existing one
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

  /**
   * Returns a context for another step of the same update, after a delta that was prepared with
   * this one.
   */
  public UpdateContext after(CausalContext update) {
    long last = update.last(origin);
    return new UpdateContext(origin, last + 1, last, timestamp, forgotten, valueBytesMax);
  }

  /**
   * Notes that the update is prepared against a state with this context: others may have forgotten
   * the origin's updates in it, and their states have then dropped those that were here.
   */
  public void against(CausalContext known) {
    forgotten = Math.max(forgotten, known.last(origin));
  }

  /** Whether a state with this context has none of the update's numbers. */
  public boolean isNewTo(CausalContext known) {
    return known.last(origin) < first;
  }

  public Dot nextDot() {
    return new Dot(origin, next++);
  }

  public ReplicaId origin() {
    return origin;
  }

  /**
   * Returns the number up to which the origin's own updates may have been forgotten; 0 if none was.
   */
  public long forgotten() {
    return forgotten;
  }

  /** Returns the hybrid-clock timestamp. */
  public long timestamp() {
    return timestamp;
  }

  /**
   * Notes that an existing value is rewritten, before it is: the operation may be much smaller than
   * the value, and may rewrite it many times.
   *
   * @param bytesBefore the size of the existing value
   * @param bytes the size of the new one
   * @throws OsierException VALUE_TOO_LARGE if the value grows too large, or the update rewrites too
   *     many bytes in all
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

  /** Notes that the update replaces or removes what this dot wrote. */
  public void supersede(Dot seen) {
    superseded.add(seen.replica(), seen.number());
  }

  /** Notes the same for a dot given by its parts. */
  void supersede(ReplicaId replica, long number) {
    superseded.add(replica, number);
  }

  /** Returns the commit number: the last number used, or the first one if no dot was needed. */
  long last() {
    return Math.max(first, next - 1);
  }

  /** A point in the preparation of the update: how much was superseded and written before it. */
  public record Mark(int superseded, long next) {}

  /** Returns the present point. */
  public Mark mark() {
    return new Mark(superseded.size(), next);
  }

  /**
   * Returns the context of everything that the update has superseded and written between two
   * points.
   */
  public CausalContext between(Mark from, Mark to) {
    CausalContext context = superseded.context(from.superseded, to.superseded);
    return to.next == from.next ? context : context.withRange(origin, from.next - 1, to.next - 1);
  }

  /**
   * Returns the causal context of the delta: {@code (predecessor, last]} and everything superseded.
   */
  public CausalContext context() {
    return superseded.size() == 0
        ? CausalContext.range(origin, predecessor, last())
        : superseded.context().withRange(origin, predecessor, last());
  }
}
