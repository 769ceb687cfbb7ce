package io.osier.datacenter.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds keyspaces and peers that a configuration's text gives twice. HOCON merges them without a
 * word, and its library keeps no trace of that, so the text is read once more, as far as keys go:
 *
 * <pre>
 *   object  key { … }  |  key = value  |  include …     separated by newlines or commas
 *   key     names and quoted names with dots between them
 *   value   anything up to the end of the line, a comma or a closing bracket; in it objects,
 *           lists, quoted texts, ${…}
 * </pre>
 *
 * <p>A single setting given once more ({@code osier.keyspaces.shop.sla = 1s}) is no name given
 * twice: the last one counts. The text must be correct HOCON.
 */
final class DuplicateNames {
  private static final int DEPTH = 3; // osier, keyspaces, name

  private final String text;
  private final List<WrongSetting> twice = new ArrayList<>();
  private final Map<List<String>, Integer> lines = new HashMap<>();
  private int at;

  private DuplicateNames(String text) {
    this.text = text;
  }

  /** Those of a text, each with both lines. */
  static List<WrongSetting> of(String text) {
    DuplicateNames reader = new DuplicateNames(text);
    reader.skipSpace();
    if (reader.isAt("{")) {
      reader.at++;
    }
    reader.object(List.of());
    return reader.twice;
  }

  /** The fields of an object up to its end; of a list's element if there is no path. */
  private void object(@Nullable List<String> path) {
    while (true) {
      skipSpace();
      if (at >= text.length()) {
        return;
      }
      if (isAt("}")) {
        at++;
        return;
      }
      int before = at;
      if (isAt("include ") || isAt("include(")) {
        value(null); // another text
        continue;
      }
      List<String> field = path == null ? null : new ArrayList<>(path);
      key(field);
      if (field != null && field.size() == DEPTH) {
        given(field, before);
      }
      if (isAt("+=")) {
        at += 2;
        skipSpace();
      } else if (isAt("=") || isAt(":")) {
        at++;
        skipSpace();
      }
      value(field);
      if (at == before) {
        at++; // not HOCON; must not go on for ever
      }
    }
  }

  private void key(@Nullable List<String> path) {
    StringBuilder name = new StringBuilder();
    while (at < text.length() && "={:+\n}".indexOf(text.charAt(at)) < 0) {
      if (isAt("\"")) {
        name.append(quoted());
      } else if (isAt(".")) {
        add(path, name);
        at++;
      } else {
        name.append(text.charAt(at++));
      }
    }
    add(path, name);
  }

  private static void add(@Nullable List<String> path, StringBuilder name) {
    if (path != null) {
      path.add(name.toString().strip());
    }
    name.setLength(0);
  }

  private void value(@Nullable List<String> path) {
    while (at < text.length() && "\n,}]".indexOf(text.charAt(at)) < 0 && !isComment()) {
      if (isAt("{")) {
        at++;
        object(path);
      } else if (isAt("[")) {
        at++;
        list();
      } else if (isAt("${")) {
        skipPast("}");
      } else if (isAt("\"")) {
        quoted();
      } else {
        at++;
      }
    }
  }

  private void list() {
    while (true) {
      skipSpace();
      if (at >= text.length()) {
        return;
      }
      if (isAt("]")) {
        at++;
        return;
      }
      int before = at;
      value(null);
      if (at == before) {
        at++;
      }
    }
  }

  private String quoted() {
    String quote = isAt("\"\"\"") ? "\"\"\"" : "\"";
    int from = at + quote.length();
    at = from;
    while (at < text.length() && !isAt(quote)) {
      at += quote.length() == 1 && isAt("\\") ? 2 : 1;
    }
    String content = text.substring(from, Math.min(at, text.length()));
    at += quote.length();
    while (quote.length() > 1 && isAt("\"")) {
      at++; // a text in three quotes may end with more of them
    }
    return content;
  }

  private void skipSpace() {
    while (at < text.length()) {
      if (isComment()) {
        skipPast("\n");
      } else if (Character.isWhitespace(text.charAt(at))
          || ",\ufeff".indexOf(text.charAt(at)) >= 0) {
        at++;
      } else {
        return;
      }
    }
  }

  private boolean isComment() {
    return isAt("#") || isAt("//");
  }

  private boolean isAt(String token) {
    return text.startsWith(token, at);
  }

  private void skipPast(String token) {
    int found = text.indexOf(token, at);
    at = found < 0 ? text.length() : found + token.length();
  }

  private void given(List<String> path, int where) {
    boolean name =
        path.getFirst().equals("osier")
            && (path.get(1).equals("keyspaces") || path.get(1).equals("peers"));
    int line = 1 + (int) text.substring(0, where).chars().filter(c -> c == '\n').count();
    Integer before = name ? lines.put(List.copyOf(path), line) : null;
    if (before != null) {
      twice.add(
          new WrongSetting(
              "",
              "line " + line,
              String.join(".", path)
                  + " is given twice, in lines "
                  + before
                  + " and "
                  + line
                  + "; keep one"));
    }
  }
}
