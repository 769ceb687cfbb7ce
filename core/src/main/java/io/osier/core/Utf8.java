package io.osier.core;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Texts as UTF-8: their encoded length, and reading them. A text with half a surrogate pair has no
 * UTF-8 form: encoders replace the half by a question mark, and two texts that differ here would be
 * one elsewhere. Such a text is refused where it comes in.
 */
public final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';
  private static final byte[] REPLACEMENT_BYTES = "\uFFFD".getBytes(StandardCharsets.UTF_8);

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
    String text = decodeIfValid(bytes, from, length);
    return text != null
        ? text
        : StandardCharsets.UTF_8 // which says what is wrong with them
            .newDecoder()
            .decode(ByteBuffer.wrap(bytes, from, length))
            .toString();
  }

  /**
   * As {@link #decode}, for who does not know whether the bytes are a text: null if they are not
   * UTF-8, without an exception, which costs more than all else that is done with a small value.
   */
  public static @Nullable String decodeIfValid(byte[] bytes, int from, int length) {
    String text = new String(bytes, from, length, StandardCharsets.UTF_8);
    int at = from;
    int read = 0;
    for (int i = text.indexOf(REPLACEMENT); i >= 0; i = text.indexOf(REPLACEMENT, read)) {
      at += length(text.substring(read, i));
      // Where the bytes are not that character, it stands for what is no UTF-8.
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
