package io.osier.crdt;

import io.osier.core.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Names of fields for any bytes, of which a text is its own name. Each byte string has one name,
 * and each name is that of one. What is no text, or empty, is {@code bytes:0x} and hexadecimal
 * digits; so is a text that would otherwise be the name of something else. Static, for any thread.
 */
public final class FieldNames {
  private static final String BYTES = "bytes:0x";
  private static final Pattern ESCAPED = Pattern.compile(BYTES + "([0-9a-f]{2})*");

  private FieldNames() {}

  /** The name of some bytes; longer than a {@link FieldId} takes if they are too many. */
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

  /** Half as many bytes are looked at each time, so it costs their number. */
  private static boolean isOwnName(byte[] bytes) {
    String text = Utf8.decodeIfValid(bytes, 0, bytes.length);
    return text != null && isOwnName(text);
  }

  private static boolean isOwnName(String text) {
    return !text.isEmpty() && (!isEscaped(text) || isOwnName(escaped(text)));
  }

  /** Nearly no name is: they are not all matched. */
  private static boolean isEscaped(String name) {
    return name.startsWith(BYTES) && ESCAPED.matcher(name).matches();
  }

  private static byte[] escaped(String name) {
    return HexFormat.of().parseHex(name, BYTES.length(), name.length());
  }
}
