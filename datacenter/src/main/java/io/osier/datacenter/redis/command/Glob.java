package io.osier.datacenter.redis.command;

import java.util.Arrays;

/**
 * Redis' patterns: {@code *}, {@code ?}, {@code [a-c]}, {@code [^x]}, and {@code \} in front of a
 * character that stands for itself. Comparing a pattern that {@link #isQuick} costs its length,
 * whatever the text. Static, for any thread.
 */
public final class Glob {
  private static final int BYTES_MAX = 1_024;

  /** The most comparisons for each byte of text and pattern. */
  private static final int STEPS = 8;

  /** The comparisons that every pattern may take, so that short texts can be compared with any. */
  private static final int STEPS_FREE = 4_096;

  private Glob() {}

  /** Returns the pattern; throws RedisException if it has more than {@value #BYTES_MAX} bytes. */
  public static byte[] checked(byte[] pattern) {
    if (pattern.length > BYTES_MAX) {
      throw new RedisException(
          "ERR a pattern has at most " + BYTES_MAX + " bytes, not " + pattern.length);
    }
    return pattern;
  }

  /**
   * Returns whether a pattern has one star at most: comparing it costs its own length, whatever the
   * text.
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

  /** Returns the bytes with which every text begins that the pattern matches. */
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
   * Returns whether a pattern matches a name, which is short. Costs at most the pattern's length
   * for each byte of the name.
   */
  public static boolean matchesName(byte[] pattern, byte[] name) {
    return matches(pattern, name, Long.MAX_VALUE);
  }

  /**
   * Returns whether a pattern matches a text. Takes at most {@value #STEPS} comparisons for each
   * byte: a pattern that would take more, since it matches nearly at each byte of a long text, is
   * refused.
   *
   * @throws RedisException if the comparison takes too long
   */
  public static boolean matches(byte[] pattern, byte[] text) {
    return matches(pattern, text, STEPS_FREE + (long) STEPS * (pattern.length + text.length));
  }

  private static boolean matches(byte[] pattern, byte[] text, long steps) {
    long left = steps;
    int p = 0;
    int t = 0;
    int star = -1; // the place behind the last star, to return to if the rest does not match
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
        if (last >= 0) { // the part behind the last star must match the text's end
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

  /** Returns what it costs to compare one byte with the pattern's part at a place. */
  private static int cost(byte[] pattern, int at) {
    return at < pattern.length && pattern[at] == '[' ? 1 + (end(pattern, at) - at) / 16 : 1;
  }

  /**
   * Returns how many bytes of a text the pattern matches from a place on; -1 if there is a star.
   */
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

  /**
   * Returns whether the rest of a pattern without stars matches the rest of a text, which has as
   * many bytes.
   */
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

  /** Returns whether the pattern's part at a place matches a byte. */
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

  /** Returns where the pattern's part that begins at a place ends. */
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
