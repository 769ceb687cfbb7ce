package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;

/** What a backslash means between {@code $'} and {@code '}, as in bash. Pure. */
final class Escapes {
  private static final String SHORT = "\\'\"ntr";
  private static final String MEANING = "\\'\"\n\t\r";
  private static final int HEX = 16;

  private Escapes() {}

  /** Where the quote is that closes; -1 if there is none. */
  static int end(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) == '\\') {
        i++;
      } else if (text.charAt(i) == '\'') {
        return i;
      }
    }
    return -1;
  }

  /**
   * The text that is meant.
   *
   * @throws OsierException INVALID_ARGUMENT if an escape is none
   */
  static String read(String inside) {
    StringBuilder text = new StringBuilder();
    int i = 0;
    while (i < inside.length()) {
      char c = inside.charAt(i++);
      if (c != '\\') {
        text.append(c);
        continue;
      }
      char kind = i < inside.length() ? inside.charAt(i++) : 0;
      int known = kind == 0 ? -1 : SHORT.indexOf(kind);
      int digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
      if (known >= 0) {
        text.append(MEANING.charAt(known));
      } else if (digits > 0) {
        text.appendCodePoint(character(inside, i, digits));
        i += digits;
      } else {
        throw bad();
      }
    }
    return text.toString();
  }

  private static int character(String inside, int from, int digits) {
    try {
      int character = Integer.parseUnsignedInt(inside.substring(from, from + digits), HEX);
      if (Character.isValidCodePoint(character)) {
        return character;
      }
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      // Named below.
    }
    throw bad();
  }

  private static OsierException bad() {
    return new OsierException(
        ErrorCode.INVALID_ARGUMENT,
        "within $'…' a \\ is followed by \\, ', \", n, t, r, or u or U and 4 or 8 hexadecimal"
            + " digits");
  }
}
