package io.osier.datacenter.redis.command;

import java.util.Arrays;

/**
 * Redis' patterns: {@code *}, {@code ?}, {@code [a-c]}, {@code [^x]}, and {@code \} before what
 * stands for itself. A {@link #isQuick} pattern costs its length, whatever the text.
 */
public final class Glob {
  private static final int BYTES_MAX = 1_024;

  /** What each byte of a text and a pattern may cost. */
  private static final int STEPS = 8;

  /** Of short texts any pattern may take so many. */
  private static final int STEPS_FREE = 4_096;

  private Glob() {}

  /** A pattern that is short enough to be compared with many texts; an error if it is not. */
  public static byte[] checked(byte[] pattern) {
    if (pattern.length > BYTES_MAX) {
      throw new RedisException(
          "ERR a pattern has at most " + BYTES_MAX + " bytes, not " + pattern.length);
    }
    return pattern;
  }

  /**
   * Whether a pattern has one star at most: comparing it costs its own length, whatever the text.
   */
  public static boolean isQuick(byte[] pattern) {
    int p = 0;
    while (p < pattern.length && pattern[p] != '*') {
      p = end(pattern, p);
    }
    while (p < pattern.length && pattern[p] == '*') {
      p++;
    }
    return parts(pattern, p) >= 0;
  }

  /** With what every text begins that a pattern matches. */
  public static byte[] prefix(byte[] pattern) {
    byte[] prefix = new byte[pattern.length];
    int length = 0;
    for (int i = 0; i < pattern.length; i++) {
      if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[') {
        break;
      }
      if (pattern[i] == '\\' && i + 1 < pattern.length) {
        i++;
      }
      prefix[length++] = pattern[i];
    }
    return Arrays.copyOf(prefix, length);
  }

  /**
   * Whether a name, which is short, is as a pattern wants it. Costs at most the pattern's length
   * for each byte of the name.
   */
  public static boolean matchesName(byte[] pattern, byte[] name) {
    return matches(pattern, name, Long.MAX_VALUE);
  }

  /**
   * Whether a text is as a pattern wants it. Costs {@value #STEPS} steps for each byte at most: a
   * pattern that would take more, since it fits nearly at each byte of a long text, is refused.
   *
   * @throws RedisException if that takes too long to find out
   */
  public static boolean matches(byte[] pattern, byte[] text) {
    return matches(pattern, text, STEPS_FREE + (long) STEPS * (pattern.length + text.length));
  }

  private static boolean matches(byte[] pattern, byte[] text, long steps) {
    long left = steps;
    int p = 0;
    int t = 0;
    int star = -1; // behind the last star, where it is gone on if the rest does not fit
    int starText = 0;
    while (t < text.length) {
      left -= cost(pattern, p);
      if (left < 0) {
        throw new RedisException(
            "ERR the pattern takes too long to compare with a text of "
                + text.length
                + " bytes: begin it with what is known, or use fewer stars");
      }
      if (p < pattern.length && pattern[p] == '*') {
        p++;
        int last = parts(pattern, p);
        if (last >= 0) { // what is behind the last star can only be at the text's end
          return text.length - t >= last && fitsAll(pattern, p, text, text.length - last);
        }
        star = p;
        starText = t;
        continue;
      }
      if (p < pattern.length && fits(pattern, p, text[t])) {
        p = end(pattern, p);
        t++;
      } else if (star >= 0) {
        p = star;
        t = ++starText;
      } else {
        return false;
      }
    }
    while (p < pattern.length && pattern[p] == '*') {
      p++;
    }
    return p == pattern.length;
  }

  /** Of comparing one byte with the pattern's part at a place. */
  private static int cost(byte[] pattern, int at) {
    return at < pattern.length && pattern[at] == '[' ? 1 + (end(pattern, at) - at) / 16 : 1;
  }

  /** For how many bytes of a text a pattern stands from a place on; -1 if there is a star. */
  private static int parts(byte[] pattern, int from) {
    int parts = 0;
    for (int p = from; p < pattern.length; p = end(pattern, p)) {
      if (pattern[p] == '*') {
        return -1;
      }
      parts++;
    }
    return parts;
  }

  /** Whether the rest of a text is as the rest of a pattern without stars, which is as long. */
  private static boolean fitsAll(byte[] pattern, int from, byte[] text, int textFrom) {
    int p = from;
    for (int t = textFrom; t < text.length; t++) {
      if (!fits(pattern, p, text[t])) {
        return false;
      }
      p = end(pattern, p);
    }
    return true;
  }

  /** Whether a byte is as the pattern's part at a place wants it. */
  private static boolean fits(byte[] pattern, int at, byte b) {
    return switch (pattern[at]) {
      case '?' -> true;
      case '[' -> fitsAny(pattern, at + 1, b);
      case '\\' -> at + 1 < pattern.length ? pattern[at + 1] == b : b == '\\';
      default -> pattern[at] == b;
    };
  }

  private static boolean fitsAny(byte[] pattern, int from, byte b) {
    int at = from;
    boolean not = at < pattern.length && pattern[at] == '^';
    if (not) {
      at++;
    }
    boolean found = false;
    while (at < pattern.length && pattern[at] != ']') {
      if (pattern[at] == '\\' && at + 1 < pattern.length) {
        found |= pattern[at + 1] == b;
        at += 2;
      } else if (at + 2 < pattern.length && pattern[at + 1] == '-') {
        int first = pattern[at] & 0xff;
        int last = pattern[at + 2] & 0xff;
        int wanted = b & 0xff;
        found |= wanted >= Math.min(first, last) && wanted <= Math.max(first, last);
        at += 3;
      } else {
        found |= pattern[at] == b;
        at++;
      }
    }
    return found != not;
  }

  /** Where the pattern's part at a place ends. */
  private static int end(byte[] pattern, int at) {
    if (pattern[at] == '\\') {
      return Math.min(pattern.length, at + 2);
    }
    if (pattern[at] != '[') {
      return at + 1;
    }
    int end = at + 1;
    if (end < pattern.length && pattern[end] == '^') {
      end++;
    }
    while (end < pattern.length && pattern[end] != ']') {
      boolean isRange = pattern[end] != '\\' && end + 2 < pattern.length && pattern[end + 1] == '-';
      end += isRange ? 3 : pattern[end] == '\\' ? 2 : 1;
    }
    return Math.min(pattern.length, end + 1);
  }
}
