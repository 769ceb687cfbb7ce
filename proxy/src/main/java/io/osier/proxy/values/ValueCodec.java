package io.osier.proxy.values;

import io.osier.core.Value;

/**
 * Turns objects of one class into values, and values into objects again. Must be thread-safe and
 * without side effects: it may be called more often than objects are written.
 *
 * <p>Equal objects must always have equal values, since an element of a set is found by its value.
 * A codec may throw any {@link RuntimeException}; the call then fails with INVALID_ARGUMENT (an
 * object that cannot be encoded; nothing is sent) or MALFORMED (a value that cannot be decoded).
 */
public interface ValueCodec<T> {
  /** Encodes an object, which is not null. */
  Value encode(T object);

  /**
   * Decodes a value.
   *
   * @throws io.osier.core.OsierException MALFORMED if the value is not of this codec's form, or of
   *     a form that this program does not know
   */
  T decode(Value value);
}
