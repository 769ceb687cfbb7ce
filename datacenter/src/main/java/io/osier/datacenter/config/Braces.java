package io.osier.datacenter.config;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** Finds the brace that a text of HOCON lacks, or has too many. Pure. */
final class Braces {
  private record Open(char brace, int line, int indent) {}

  private Braces() {}

  /** What is wrong with a text's braces, in words; empty if they are paired. */
  static Optional<String> problem(String text) {
    Deque<Open> open = new ArrayDeque<>();
    Open suspect = null;
    int number = 0;
    boolean inText = false; // within three quotes
    for (String line : text.split("\n", -1)) {
      number++;
      int indent = line.length() - line.stripLeading().length();
      boolean quoted = false;
      for (int i = 0; i < line.length(); i++) {
        char c = line.charAt(i);
        if (line.startsWith("\"\"\"", i)) {
          inText = !inText;
          i += 2;
        } else if (c == '"' && !inText) {
          quoted = !quoted;
        } else if (quoted || inText) {
          i += quoted && c == '\\' ? 1 : 0;
        } else if (c == '#' || line.startsWith("//", i)) {
          break;
        } else if (c == '{' || c == '[') {
          open.push(new Open(c, number, indent));
        } else if (c == '}' || c == ']') {
          Open pair = open.poll();
          if (pair == null || (pair.brace == '{') != (c == '}')) {
            return Optional.of("the " + c + " in line " + number + " closes nothing");
          }
          if (i == indent && pair.line < number && pair.indent != indent && suspect == null) {
            suspect = pair; // what closes it stands under another one
          }
        }
      }
    }
    Open lacking = suspect != null ? suspect : open.peek();
    return open.isEmpty() || lacking == null
        ? Optional.empty()
        : Optional.of(
            "the "
                + lacking.brace
                + " in line "
                + lacking.line
                + " is never closed: a "
                + (lacking.brace == '{' ? '}' : ']')
                + " is missing");
  }
}
