package io.osier.core;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Functions for texts in UTF-8. A text with half a surrogate pair has no UTF-8 form: encoders
 * replace the half by a question mark, so that two texts that differ here would be the same
 * elsewhere. Such a text is refused where it comes in.
 */
public final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';
  private static final byte[] REPLACEMENT_BYTES = "\uFFFD".getBytes(StandardCharsets.UTF_8);

  private Utf8() {}

  /**
   * Returns how many bytes the text takes in UTF-8.
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
          i++; // a pair is 2 chars and 4 bytes, of which 2 were counted above
        }
      }
    }
    return length;
  }

  /**
   * Decodes a text. Costs little more than a copy if all is ASCII.
   *
   * @throws CharacterCodingException if the bytes are not UTF-8
   */
  public static String decode(byte[] bytes, int from, int length) throws CharacterCodingException {
    String text = decodeIfValid(bytes, from, length);
    return text != null
        ? text
        : StandardCharsets.UTF_8 // throws an error that says what is wrong
            .newDecoder()
            .decode(ByteBuffer.wrap(bytes, from, length))
            .toString();
  }

  /**
   * As {@link #decode}, for bytes that need not be a text: returns null if they are not UTF-8. It
   * throws no exception, which would cost more than everything else that is done with a small
   * value.
   */
  public static @Nullable String decodeIfValid(byte[] bytes, int from, int length) {
    String text = new String(bytes, from, length, StandardCharsets.UTF_8);
    int at = from;
    int read = 0;
    for (int i = text.indexOf(REPLACEMENT); i >= 0; i = text.indexOf(REPLACEMENT, read)) {
      at += length(text.substring(read, i));
      // If the bytes here are not that character, it was put in the place of invalid bytes.
      if (!startsWith(bytes, at, from + length, REPLACEMENT_BYTES)) {
        return null;
      }
      at += REPLACEMENT_BYTES.length;
      read = i + 1;
    }
    return text;
  }

  private static boolean startsWith(byte[] bytes, int from, int to, byte[] with) {
    int end = from + with.length;
    return end <= to && Arrays.equals(bytes, from, end, with, 0, with.length);
  }

  /** Whether bytes equal this text of ASCII characters. */
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
      // The bytes of other characters are larger than all of ASCII.
      int order = (bytes[from + i] & 0xff) - ascii.charAt(i);
      if (order != 0) {
        return order;
      }
    }
    return length - ascii.length(); // one is a prefix of the other
  }
}
