package io.osier.proxy.values;

import io.osier.core.Value;

/**
 * Turns objects of one class into values, and values into objects again. Thread-safe, and without
 * effects: it may be called more often than objects are written.
 *
 * <p>Equal objects must have equal values, always: an element of a set is found by its value. A
 * codec may throw any {@link RuntimeException}; the call then fails with INVALID_ARGUMENT (an
 * object that cannot be encoded; nothing is sent) or MALFORMED (a value that cannot be decoded).
 */
public interface ValueCodec<T> {
  /** The value of an object, which is not null. */
  Value encode(T object);

  /**
   * The object of a value.
   *
   * @throws io.osier.core.OsierException MALFORMED if it is none of this codec's, or one that this
   *     program does not know
   */
  T decode(Value value);
}
