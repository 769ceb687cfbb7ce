package io.osier.datacenter.redis.command;

/**
 * Redis' patterns: {@code *}, {@code ?}, {@code [a-c]}, {@code [^x]}, and {@code \} before what
 * stands for itself. Costs {@value #STEPS} steps for each byte at most: a pattern that would take
 * more, since it fits nearly at each byte of a long text, is refused.
 */
public final class Glob {
  private static final int BYTES_MAX = 1_024;
  private static final int STEPS = 8;

  /** Of short texts any pattern may take so many. */
  private static final int STEPS_FREE = 4_096;

  private Glob() {}

  /**
   * A pattern that is short enough to be compared with many texts.
   *
   * @throws RedisException if it is not
   */
  public static byte[] checked(byte[] pattern) {
    if (pattern.length > BYTES_MAX) {
      throw new RedisException(
          "ERR a pattern has at most " + BYTES_MAX + " bytes, not " + pattern.length);
    }
    return pattern;
  }

  /**
   * Whether a text is as a pattern wants it.
   *
   * @throws RedisException if that takes too long to find out
   */
  public static boolean matches(byte[] pattern, byte[] text) {
    int p = 0;
    int t = 0;
    int star = -1; // behind the last star, where it is gone on if the rest does not fit
    int starText = 0;
    long left = STEPS_FREE + (long) STEPS * (pattern.length + text.length);
    while (t < text.length) {
      left -= cost(pattern, p);
      if (left < 0) {
        throw new RedisException(
            "ERR the pattern takes too long to compare with a text of "
                + text.length
                + " bytes: begin it with what is known, or use fewer stars");
      }
      if (p < pattern.length && pattern[p] == '*') {
        star = ++p;
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
