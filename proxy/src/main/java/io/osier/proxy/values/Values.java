package io.osier.proxy.values;

/**
 * Provides a codec for each class whose objects a program keeps in registers and sets: {@link
 * #plain}, {@link KryoValues}, {@link JsonValues}, or a program's own. Thread-safe.
 */
public interface Values {
  /**
   * Returns the codec of a class.
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if there is none; the message says which
   *     classes have one
   */
  <T> ValueCodec<T> codec(Class<T> type);

  /**
   * Returns codecs of the classes whose values every client and the command line can read: {@code
   * String}, {@code Long}, {@code Integer}, {@code Double}, {@code Boolean} (0 and 1), {@code
   * byte[]}, {@link io.osier.core.Value}, and enums, by the names of their constants.
   */
  static Values plain() {
    return PlainValues.INSTANCE;
  }
}
