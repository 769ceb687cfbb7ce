package io.osier.proxy.values;

/**
 * Knows a codec for each class that a program keeps in registers and sets: {@link #plain}, {@link
 * KryoValues}, {@link JsonValues}, or a program's own. Thread-safe.
 */
public interface Values {
  /**
   * The codec of a class.
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if it knows none; the message says what
   *     it knows
   */
  <T> ValueCodec<T> codec(Class<T> type);

  /**
   * Knows what every client and the command line can read: {@code String}, {@code Long}, {@code
   * Integer}, {@code Double}, {@code Boolean} (0 and 1), {@code byte[]}, {@link
   * io.osier.core.Value}, and enums, by the names of their constants.
   */
  static Values plain() {
    return PlainValues.INSTANCE;
  }
}
