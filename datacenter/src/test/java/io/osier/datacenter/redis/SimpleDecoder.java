package io.osier.datacenter.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The protocol, told a second time and simply: all that came at once, as text of one byte a
 * character.
 */
final class SimpleDecoder {
  private static final Pattern COUNT = Pattern.compile("\\*(-?[0-9]{1,10})\r");
  private static final Pattern LENGTH = Pattern.compile("\\$([0-9]{1,10})\r");
  private static final String BLANK = "[\\x09-\\x0d\\x20\\x00]";
  private static final Pattern WORD =
      Pattern.compile(
          BLANK
              + "*((?:[^\\x09-\\x0d\\x20\\x00\"']"
              + "|\"(?:\\\\.|[^\"\\\\])*\"(?="
              + BLANK
              + "|\\z)|'(?:\\\\'|[^'])*+'(?="
              + BLANK
              + "|\\z))+)",
          Pattern.DOTALL);
  private static final Pattern QUOTED =
      Pattern.compile("\"((?:\\\\.|[^\"\\\\])*)\"|'((?:\\\\'|[^'])*+)'|([^\"'])", Pattern.DOTALL);
  private static final Pattern ESCAPED =
      Pattern.compile("\\\\x([0-9a-fA-F]{2})|\\\\(.)", Pattern.DOTALL);

  /**
   * What it is.
   *
   * @param commands the whole ones
   * @param error what is wrong behind them; empty if nothing is
   */
  record Outcome(List<List<String>> commands, String error) {}

  private SimpleDecoder() {}

  static Outcome decode(String in, RespDecoder.Limits limits) {
    List<List<String>> commands = new ArrayList<>();
    String rest = in;
    try {
      while (!rest.isEmpty()) {
        String[] left = {rest};
        List<String> command = command(left, limits);
        if (command == null) {
          break;
        }
        commands.add(command);
        rest = left[0];
      }
      return new Outcome(commands, "");
    } catch (ProtocolError e) {
      return new Outcome(commands, String.valueOf(e.getMessage()));
    }
  }

  private static @Nullable List<String> command(String[] left, RespDecoder.Limits limits) {
    boolean known = limits.words() >= RespDecoder.WORDS_MAX;
    int all = left[0].length();
    if (left[0].charAt(0) != '*') {
      String line =
          line(
              left, Math.min(RespDecoder.LINE_BYTES_MAX, limits.bytes()), "too big inline request");
      return line == null ? null : words(line.replaceFirst("\r\\z", ""), limits);
    }
    String count = line(left, 64, "too big mbulk count string");
    if (count == null) {
      return null;
    }
    long words = number(COUNT, count, "invalid multibulk length");
    if (words > Math.min(limits.words(), RespDecoder.WORDS_MAX)) {
      throw new ProtocolError(
          known ? "invalid multibulk length" : "unauthenticated multibulk length");
    }
    List<String> found = new ArrayList<>();
    for (long i = 0; i < words; i++) {
      if (left[0].isEmpty()) {
        return null;
      }
      char first = left[0].charAt(0);
      if (first != '$') {
        String shown =
            first > ' ' && first < 127 ? "" + first : String.format("\\x%02x", (int) first);
        throw new ProtocolError("expected '$', got '" + shown + "'");
      }
      String header = line(left, 64, "too big bulk count string");
      if (header == null) {
        return null;
      }
      long length = number(LENGTH, header, "invalid bulk length");
      if (length > limits.wordBytes()) {
        throw new ProtocolError(known ? "invalid bulk length" : "unauthenticated bulk length");
      }
      if (all - left[0].length() + length + 2 > limits.bytes()) {
        throw new ProtocolError("too big request");
      }
      if (left[0].length() < length + 2) {
        return null;
      }
      found.add(left[0].substring(0, (int) length));
      left[0] = left[0].substring((int) length + 2);
    }
    return found;
  }

  /** Takes a line without its line feed; null if it is not there. */
  private static @Nullable String line(String[] left, int max, String tooLong) {
    int end = left[0].indexOf('\n');
    if ((end < 0 ? left[0].length() : end) > max) {
      throw new ProtocolError(tooLong);
    }
    if (end < 0) {
      return null;
    }
    String line = left[0].substring(0, end);
    left[0] = left[0].substring(end + 1);
    return line;
  }

  private static long number(Pattern form, String line, String wrong) {
    Matcher m = form.matcher(line);
    if (!m.matches()) {
      throw new ProtocolError(wrong);
    }
    return Long.parseLong(m.group(1));
  }

  private static List<String> words(String line, RespDecoder.Limits limits) {
    List<String> words = new ArrayList<>();
    Matcher m = WORD.matcher(line);
    int at = 0;
    while (m.find(at) && m.start() == at) {
      StringBuilder word = new StringBuilder();
      Matcher parts = QUOTED.matcher(m.group(1));
      while (parts.find()) {
        word.append(
            parts.group(1) != null
                ? ESCAPED.matcher(parts.group(1)).replaceAll(SimpleDecoder::escaped)
                : parts.group(2) != null ? parts.group(2).replace("\\'", "'") : parts.group(3));
      }
      words.add(word.toString());
      at = m.end();
    }
    if (!line.substring(at).replaceAll(BLANK, "").isEmpty()) {
      throw new ProtocolError("unbalanced quotes in request");
    }
    if (words.size() > limits.words()) {
      throw new ProtocolError("unauthenticated multibulk length");
    }
    if (words.stream().anyMatch(word -> word.length() > limits.wordBytes())) {
      throw new ProtocolError("unauthenticated bulk length");
    }
    return words;
  }

  private static String escaped(java.util.regex.MatchResult m) {
    String is =
        m.group(1) != null
            ? String.valueOf((char) Integer.parseInt(m.group(1), 16))
            : switch (m.group(2)) {
              case "n" -> "\n";
              case "r" -> "\r";
              case "t" -> "\t";
              case "b" -> "\b";
              case "a" -> "\u0007";
              default -> m.group(2);
            };
    return Matcher.quoteReplacement(is);
  }
}
