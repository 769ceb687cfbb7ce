package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;

/**
 * The part of a {@link CrdtState} that a data type defines: its content without the causal context,
 * which nested stores share. Implementations are immutable, safe for any thread, and have {@code
 * equals} and {@code hashCode} of their content.
 *
 * <p>After the dot stores of Almeida, Shoker and Baquero, "Delta State Replicated Data Types"
 * (2016).
 */
public interface DotStore<S extends DotStore<S>> {
  CrdtType type();

  /**
   * Prepares an operation against this value: at the origin, once.
   *
   * @return the delta: only what the operation changes, mentioning every element or field it
   *     touches
   * @throws OsierException WRONG_TYPE if the operation is not one of this type, INVALID_ARGUMENT or
   *     OVERFLOW if its arguments are not allowed; nothing is changed then
   */
  S prepare(Operation operation, UpdateContext preparation);

  /**
   * Prepares the reset of everything seen, for {@link Operation.Clear} and the removal of a map's
   * field.
   */
  S reset(UpdateContext preparation);

  /** Joins another store of the same type; commutative, associative, idempotent. */
  S join(S other, JoinContext joining);

  /**
   * Answers a query.
   *
   * @throws OsierException WRONG_TYPE if the type has no such query
   */
  Reading read(Query query);

  /**
   * Whether a reader cannot tell this from a new object: an empty set, a flag that is off, a
   * register without a value, a map without present fields, a counter not updated since its last
   * reset. Metadata may remain.
   */
  boolean isBottom();

  /** Whether this holds nothing at all, not even metadata. */
  default boolean isEmpty() {
    return isBottom();
  }

  /**
   * Returns this without entries that only remember resets: the bases of counters that were reset
   * and not updated since. Once every datacenter has the reset, they have no effect any more.
   */
  @SuppressWarnings("unchecked") // it is of the implementing class
  default S trimmed() {
    return (S) this;
  }

  /**
   * Returns the latest timestamp of the entries that are resolved by time; for a decomposed object
   * only of those in memory. 0 if there are none. O(its size in memory).
   */
  default long latestTimestamp() {
    return 0;
  }

  /**
   * Whether {@link #trimmed} would hold nothing at all. Asked after every update, so it must not
   * walk entries that the update did not touch.
   */
  default boolean isTrimmedEmpty() {
    return trimmed().isEmpty();
  }

  /** Returns an estimate of the encoded size in bytes, kept up to date by every join: O(1). */
  long sizeBytes();

  /** Returns about how many bytes this takes in the heap, kept up to date by every join: O(1). */
  long heapBytes();

  /** Writes the content; equal contents give equal bytes. Read by the class's own {@code read}. */
  void write(WireOutput out);

  /** Returns the error of an operation of another type. */
  default OsierException wrongOperation(Operation operation) {
    return OsierException.of(
        ErrorCode.WRONG_TYPE,
        "a " + type() + " has no operation " + operation.getClass().getSimpleName());
  }

  /** Returns the error of a query of another type. */
  default OsierException wrongQuery(Query query) {
    return OsierException.of(
        ErrorCode.WRONG_TYPE, "a " + type() + " has no query " + query.getClass().getSimpleName());
  }
}
