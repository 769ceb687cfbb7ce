package io.osier.datacenter.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Finds commands among the bytes of a connection, one after the other: arrays of bulk strings, or
 * words on a line. It goes on where it stopped when more bytes have come, so each byte is looked at
 * once; and its memory grows with the bytes that have come, not with the lengths that they
 * announce. Pure; for one connection, and one thread at a time.
 */
public final class RespDecoder {
  /**
   * The limits of a command.
   *
   * @param words the most words of a command
   * @param wordBytes the most bytes of a word that has its length in front of it
   * @param bytes the most bytes of a whole command
   */
  public record Limits(int words, int wordBytes, int bytes) {
    /** The limits before the login: the words, and the lines with their lengths. */
    public static final Limits UNKNOWN_USER = new Limits(10, 16 << 10, 11 * (16 << 10));
  }

  /** Most words of a command. */
  public static final int WORDS_MAX = 1 << 20;

  /** Longest line of a command without lengths, in bytes. */
  public static final int LINE_BYTES_MAX = 1 << 20;

  /** The most characters of a word that an error repeats. */
  public static final int SHOWN_MAX = 128;

  /** Longest line with a number, in bytes. */
  private static final int NUMBER_BYTES_MAX = 64;

  private static final int FIRST_WORDS = 16;

  /** Arrays for more words than these are given up after their command. */
  private static final int KEPT_WORDS = 256;

  /** The value of {@link #left} while nothing of the next command has come. */
  private static final int AT_START = -1;

  /** The value of {@link #length} while the next line is a word's length. */
  private static final int AT_LENGTH = -1;

  private Limits limits;

  /** How many words are still to come; {@link #AT_START} before their number is known. */
  private int left = AT_START;

  /** The length of the word that is coming, in bytes; {@link #AT_LENGTH} before it is known. */
  private int length = AT_LENGTH;

  /** How many bytes of the command were decoded. */
  private int at;

  /** Up to where the end of the line that begins at {@link #at} was looked for. */
  private int searched;

  private int count;

  /** Where the words begin, counted from the command's first byte. */
  private int[] starts = new int[FIRST_WORDS];

  private int[] lengths = new int[FIRST_WORDS];

  /** The words of a command on a line, with quotes and escapes taken away. */
  private List<byte[]> line = List.of();

  private boolean isLine;

  /** Creates a decoder that expects the first byte of a command. */
  public RespDecoder(Limits limits) {
    this.limits = limits;
  }

  /** Sets the limits that hold from the next word on. */
  public void setLimits(Limits other) {
    limits = other;
  }

  /**
   * Goes on with a command.
   *
   * @param bytes an array that has all bytes of the command that have come, from {@code from} to
   *     {@code to}; at the next call they may be in another array or at another place
   * @return the length of the whole command in bytes, or -1 if more bytes must come. A command
   *     without words is to be skipped without an answer
   * @throws ProtocolError if the bytes are no command
   */
  public int decode(byte[] bytes, int from, int to) {
    if (left == AT_START) {
      if (from == to) {
        return -1;
      }
      isLine = bytes[from] != '*';
      int end = lineEnd(bytes, from, to, isLine ? lineBytesMax() : NUMBER_BYTES_MAX);
      if (end < 0) {
        return -1;
      }
      if (isLine) {
        return line(bytes, from, end);
      }
      long words = number(bytes, from + 1, end, "invalid multibulk length");
      if (words > Math.min(limits.words, WORDS_MAX)) {
        throw new ProtocolError(
            limits.words < WORDS_MAX
                ? "unauthenticated multibulk length"
                : "invalid multibulk length");
      }
      next(from, end);
      left = (int) Math.max(0, words);
    }
    while (left > 0) {
      if (length == AT_LENGTH && !beginWord(bytes, from, to)) {
        return -1;
      }
      // The two bytes behind a word are an end of line, whatever they are: Redis does not look.
      if (to - from - at < length + 2) {
        return -1;
      }
      add(at, length);
      at += length + 2;
      searched = at;
      length = AT_LENGTH;
      left--;
    }
    return done();
  }

  private boolean beginWord(byte[] bytes, int from, int to) {
    int start = from + at;
    if (start < to && bytes[start] != '$') {
      throw new ProtocolError("expected '$', got '" + printable(bytes[start]) + "'");
    }
    int end = lineEnd(bytes, from, to, NUMBER_BYTES_MAX);
    if (end < 0) {
      return false;
    }
    long of = number(bytes, start + 1, end, "invalid bulk length");
    if (of < 0 || of > limits.wordBytes) {
      throw new ProtocolError(
          of >= 0 && limits.words < WORDS_MAX
              ? "unauthenticated bulk length"
              : "invalid bulk length");
    }
    next(from, end);
    if ((long) at + of + 2 > limits.bytes) {
      throw new ProtocolError("too big request");
    }
    length = (int) of;
    return true;
  }

  /**
   * Returns the place of the line feed of the line that begins at {@link #at}; -1 if it has not
   * come.
   */
  private int lineEnd(byte[] bytes, int from, int to, int max) {
    int start = from + at;
    int end = from + Math.max(at, searched);
    while (end < to && bytes[end] != '\n') {
      end++;
    }
    if (end - start > max) {
      throw new ProtocolError(
          max > NUMBER_BYTES_MAX
              ? "too big inline request"
              : bytes[start] == '*' ? "too big mbulk count string" : "too big bulk count string");
    }
    searched = end - from;
    return end < to ? end : -1;
  }

  /** Goes on behind a line. */
  private void next(int from, int lineFeed) {
    at = lineFeed + 1 - from;
    searched = at;
  }

  /** Reads the number that a line has from a place on. */
  private static long number(byte[] bytes, int from, int lineFeed, String wrong) {
    int end = lineFeed > from && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
    boolean negative = from < end && bytes[from] == '-';
    int digits = negative ? from + 1 : from;
    // More than ten digits are above all limits.
    if (end == lineFeed || digits == end || end - digits > 10) {
      throw new ProtocolError(wrong);
    }
    long value = 0;
    for (int i = digits; i < end; i++) {
      if (bytes[i] < '0' || bytes[i] > '9') {
        throw new ProtocolError(wrong);
      }
      value = 10 * value + (bytes[i] - '0');
    }
    return negative ? -value : value;
  }

  private int lineBytesMax() {
    return Math.min(LINE_BYTES_MAX, limits.bytes);
  }

  private static String printable(byte b) {
    return b > ' ' && b < 127
        ? String.valueOf((char) b)
        : String.format(Locale.ROOT, "\\x%02x", b & 0xff);
  }

  private void add(int start, int bytes) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
    }
    starts[count] = start;
    lengths[count] = bytes;
    count++;
  }

  private int done() {
    int all = at;
    at = 0;
    searched = 0;
    left = AT_START;
    return all;
  }

  // ---------------------------------------------------------------- lines

  private int line(byte[] bytes, int from, int lineFeed) {
    int end = lineFeed > from && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
    line = words(bytes, from, end);
    if (line.size() > limits.words) {
      throw new ProtocolError("unauthenticated multibulk length");
    }
    if (line.stream().anyMatch(word -> word.length > limits.wordBytes)) {
      throw new ProtocolError("unauthenticated bulk length");
    }
    count = line.size();
    next(from, lineFeed);
    return done();
  }

  /** Splits a line into the words between its blanks; quotes hold blanks in a word. */
  private static List<byte[]> words(byte[] bytes, int from, int to) {
    List<byte[]> words = new ArrayList<>();
    byte[] word = new byte[to - from];
    int i = from;
    while (true) {
      while (i < to && isBlank(bytes[i])) {
        i++;
      }
      if (i == to) {
        return words;
      }
      int size = 0;
      byte quote = 0; // the quote that is open; 0 if none is
      while (i < to && (quote != 0 || !isBlank(bytes[i]))) {
        byte b = bytes[i++];
        if (quote == 0 && (b == '"' || b == '\'')) {
          quote = b;
        } else if (b == quote && quote != 0) {
          quote = 0;
          if (i < to && !isBlank(bytes[i])) {
            throw unbalanced();
          }
        } else if (quote == '"' && b == '\\' && isHex(bytes, i, to)) {
          word[size++] = (byte) (16 * hex(bytes[i + 1]) + hex(bytes[i + 2]));
          i += 3;
        } else if (quote == '"' && b == '\\' && i < to) {
          word[size++] = escaped(bytes[i++]);
        } else if (quote == '\'' && b == '\\' && i < to && bytes[i] == '\'') {
          word[size++] = bytes[i++];
        } else {
          word[size++] = b;
        }
      }
      if (quote != 0) {
        throw unbalanced();
      }
      words.add(Arrays.copyOf(word, size));
    }
  }

  private static boolean isHex(byte[] bytes, int from, int to) {
    return from + 2 < to
        && bytes[from] == 'x'
        && hex(bytes[from + 1]) >= 0
        && hex(bytes[from + 2]) >= 0;
  }

  private static byte escaped(byte b) {
    return switch (b) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'b' -> '\b';
      case 'a' -> 7;
      default -> b;
    };
  }

  private static int hex(byte b) {
    return Character.digit(b, 16);
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || (b >= '\t' && b <= '\r') || b == 0;
  }

  private static ProtocolError unbalanced() {
    return new ProtocolError("unbalanced quotes in request");
  }

  // ---------------------------------------------------------------- what was found

  /** Returns for how many words there is room now. */
  int room() {
    return starts.length;
  }

  /**
   * Copies the words of the command that was decoded last, which begins at {@code from}, and
   * forgets that command.
   */
  public byte[][] take(byte[] bytes, int from) {
    byte[][] words = new byte[count][];
    for (int i = 0; i < count; i++) {
      words[i] =
          isLine
              ? line.get(i)
              : Arrays.copyOfRange(bytes, from + starts[i], from + starts[i] + lengths[i]);
    }
    forget();
    return words;
  }

  private void forget() {
    count = 0;
    line = List.of();
    if (starts.length > KEPT_WORDS) {
      starts = new int[FIRST_WORDS];
      lengths = new int[FIRST_WORDS];
    }
  }

  /** Returns a word as text, for an error's message or a log. */
  public static String text(byte[] word) {
    return new String(word, StandardCharsets.UTF_8);
  }

  /** Returns the beginning of a word, as much as an error repeats. */
  public static String shown(byte[] word) {
    String text = text(word);
    return text.length() > SHOWN_MAX ? text.substring(0, SHOWN_MAX) : text;
  }
}
