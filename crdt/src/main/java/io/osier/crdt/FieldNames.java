package io.osier.crdt;

import io.osier.core.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Maps any bytes to names of fields; a text is its own name. Each byte string has one name, and
 * each name belongs to one byte string. If the bytes are empty or no text, the name is {@code
 * bytes:0x} and hexadecimal digits; so it is for a text that would otherwise be the name of other
 * bytes. Static, for any thread.
 */
public final class FieldNames {
  private static final String BYTES = "bytes:0x";
  private static final Pattern ESCAPED = Pattern.compile(BYTES + "([0-9a-f]{2})*");

  private FieldNames() {}

  /** Returns the name of some bytes; it is too long for a {@link FieldId} if they are too many. */
  public static String of(byte[] bytes) {
    String text = Utf8.decodeIfValid(bytes, 0, bytes.length);
    return text != null && isOwnName(text) ? text : BYTES + HexFormat.of().formatHex(bytes);
  }

  public static byte[] bytes(String name) {
    if (isEscaped(name)) {
      byte[] bytes = escaped(name);
      if (!isOwnName(bytes)) {
        return bytes;
      }
    }
    return name.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Whether bytes are their own name. Each recursion has half as many bytes, so it costs O(their
   * number).
   */
  private static boolean isOwnName(byte[] bytes) {
    String text = Utf8.decodeIfValid(bytes, 0, bytes.length);
    return text != null && isOwnName(text);
  }

  private static boolean isOwnName(String text) {
    return !text.isEmpty() && (!isEscaped(text) || isOwnName(escaped(text)));
  }

  /** Whether a name is escaped. Nearly none is, so the pattern is not tried on every name. */
  private static boolean isEscaped(String name) {
    return name.startsWith(BYTES) && ESCAPED.matcher(name).matches();
  }

  private static byte[] escaped(String name) {
    return HexFormat.of().parseHex(name, BYTES.length(), name.length());
  }
}
