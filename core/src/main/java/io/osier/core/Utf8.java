package io.osier.core;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Texts as UTF-8: their encoded length, and reading them. A text with half a surrogate pair has no
 * UTF-8 form: encoders replace the half by a question mark, and two texts that differ here would be
 * one elsewhere. Such a text is refused where it comes in.
 */
public final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';

  private Utf8() {}

  /**
   * Bytes that the text takes in UTF-8.
   *
   * @throws OsierException {@link ErrorCode#INVALID_ARGUMENT} if it has half a surrogate pair
   */
  public static int length(String text) {
    int length = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        length += c < 0x800 ? 1 : 2;
        if (Character.isSurrogate(c)) {
          if (Character.isLowSurrogate(c)
              || i + 1 == text.length()
              || !Character.isLowSurrogate(text.charAt(i + 1))) {
            throw OsierException.of(
                ErrorCode.INVALID_ARGUMENT,
                "a text has half a surrogate pair at index " + i + ", which UTF-8 cannot carry");
          }
          i++; // the pair: 2 chars, 4 bytes, and 2 of them were counted above
        }
      }
    }
    return length;
  }

  /**
   * Reads a text. Costs little more than a copy where all is ASCII.
   *
   * @throws CharacterCodingException if the bytes are not UTF-8
   */
  public static String decode(byte[] bytes, int from, int length) throws CharacterCodingException {
    // As many characters as bytes: then each is ASCII, or stands for a byte that is no UTF-8.
    String text = new String(bytes, from, length, StandardCharsets.UTF_8);
    return text.length() == length && text.indexOf(REPLACEMENT) < 0
        ? text
        : StandardCharsets.UTF_8
            .newDecoder()
            .decode(ByteBuffer.wrap(bytes, from, length))
            .toString();
  }

  /** Whether bytes are this text, of ASCII characters. */
  public static boolean isAscii(byte[] bytes, int from, int length, String text) {
    if (text.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      byte b = bytes[from + i];
      if (b < 0 || b != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Compares a text in UTF-8 with one of ASCII characters, by characters. */
  public static int compareWithAscii(byte[] bytes, int from, int length, String ascii) {
    int common = Math.min(length, ascii.length());
    for (int i = 0; i < common; i++) {
      // A byte of another character is greater than any that stands for one of ASCII.
      int order = (bytes[from + i] & 0xff) - ascii.charAt(i);
      if (order != 0) {
        return order;
      }
    }
    return length - ascii.length(); // all of one are ASCII, and the other one's first ones
  }
}
