package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What datacenters answer to those who administer them, read from JSON: objects are maps, arrays
 * are lists, and all else is its text; that of null is empty. Pure.
 */
final class AdminAnswers {
  /** What of a keyspace is none of its settings. */
  private static final Set<String> KEYSPACES_OWN =
      Set.of("name", "state", "from", "awaited", "changed_by", "changed_at_ms");

  private static final int DEPTH_MAX = 32;

  private final String text;
  private int at;
  private int depth;

  private AdminAnswers(String text) {
    this.text = text;
  }

  /** The keyspaces of an answer. */
  static List<KeyspaceStatus> keyspaces(String json) {
    return all(
        json,
        "keyspaces",
        one -> {
          SortedMap<String, String> settings = new TreeMap<>();
          one.forEach(
              (name, value) -> {
                if (!KEYSPACES_OWN.contains(name) && value instanceof String setting) {
                  settings.put(name, setting);
                }
              });
          return new KeyspaceStatus(
              text(one, "name"),
              settings,
              text(one, "state").equals("active"),
              texts(one, "awaited"),
              text(one, "from").equals("file"),
              some(one, "changed_by"),
              moment(one, "changed_at_ms"));
        });
  }

  /** The datacenters of an answer. */
  static List<DatacenterStatus> datacenters(String json) {
    return all(
        json,
        "datacenters",
        one ->
            new DatacenterStatus(
                text(one, "name"),
                some(one, "address"),
                state(text(one, "state")),
                texts(one, "awaited"),
                text(one, "from").equals("file"),
                some(one, "changed_by"),
                moment(one, "changed_at_ms")));
  }

  private static DatacenterStatus.State state(String word) {
    for (DatacenterStatus.State state : DatacenterStatus.State.values()) {
      if (state.name().toLowerCase(Locale.ROOT).equals(word)) {
        return state;
      }
    }
    return DatacenterStatus.State.OTHER;
  }

  /** The users of an answer. */
  static List<UserStatus> users(String json) {
    return all(
        json,
        "users",
        one ->
            new UserStatus(
                text(one, "name"),
                text(one, "password").equals("yes"),
                texts(one, "rights").stream().map(Grant::parse).toList(),
                text(one, "from").equals("file"),
                some(one, "made_by"),
                moment(one, "made_at_ms")));
  }

  @SuppressWarnings("unchecked") // an object's names are texts
  private static <T> List<T> all(String json, String name, Function<Map<String, Object>, T> read) {
    if (!(new AdminAnswers(json).whole() instanceof Map<?, ?> root)
        || !(root.get(name) instanceof List<?> list)) {
      throw malformed("there are no " + name + " in it");
    }
    List<T> all = new ArrayList<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?>)) {
        throw malformed("one of " + name + " is no object");
      }
      all.add(read.apply((Map<String, Object>) one));
    }
    return List.copyOf(all);
  }

  private static String text(Map<String, Object> of, String name) {
    return of.get(name) instanceof String text ? text : "";
  }

  private static Optional<String> some(Map<String, Object> of, String name) {
    return Optional.of(text(of, name)).filter(t -> !t.isEmpty());
  }

  private static List<String> texts(Map<String, Object> of, String name) {
    return of.get(name) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static Optional<Instant> moment(Map<String, Object> of, String name) {
    try {
      return some(of, name).map(Long::parseLong).filter(ms -> ms > 0).map(Instant::ofEpochMilli);
    } catch (NumberFormatException e) {
      throw malformed(name + " is no whole number");
    }
  }

  private static OsierException malformed(String why) {
    return OsierException.of(ErrorCode.MALFORMED, "the datacenter's answer cannot be read: " + why);
  }

  // ---------------------------------------------------------------- JSON

  private Object whole() {
    Object value;
    try {
      value = value();
    } catch (IndexOutOfBoundsException e) {
      throw malformed("it ends in the middle");
    }
    skipBlanks();
    if (at < text.length()) {
      throw malformed("something follows its end, at " + at);
    }
    return value;
  }

  private Object value() {
    skipBlanks();
    return switch (text.charAt(at)) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      default -> bare();
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> fields = new LinkedHashMap<>();
    enter();
    while (!ends('}', fields.isEmpty())) {
      skipBlanks();
      String name = string();
      skipBlanks();
      expect(':');
      fields.put(name, value());
    }
    return fields;
  }

  private List<Object> array() {
    List<Object> elements = new ArrayList<>();
    enter();
    while (!ends(']', elements.isEmpty())) {
      elements.add(value());
    }
    return elements;
  }

  private void enter() {
    at++;
    if (++depth > DEPTH_MAX) {
      throw malformed("it is nested too deep");
    }
  }

  /** Whether an object or array ends here; otherwise its next one follows. */
  private boolean ends(char end, boolean isFirst) {
    skipBlanks();
    if (text.charAt(at) == end) {
      at++;
      depth--;
      return true;
    }
    if (!isFirst) {
      expect(',');
    }
    return false;
  }

  private String string() {
    expect('"');
    StringBuilder read = new StringBuilder();
    for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
      read.append(c == '\\' ? escaped() : c);
    }
    return read.toString();
  }

  private char escaped() {
    char c = text.charAt(at++);
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'u' -> {
        try {
          at += 4;
          yield (char) Integer.parseInt(text, at - 4, at, 16);
        } catch (NumberFormatException e) {
          throw malformed("an escaped character is none, at " + at);
        }
      }
      default -> c;
    };
  }

  /** A number, a truth value or null. */
  private String bare() {
    int from = at;
    while (at < text.length() && ",:]}\" \t\r\n".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    if (at == from) {
      throw malformed("there is no value at " + at);
    }
    String word = text.substring(from, at);
    return word.equals("null") ? "" : word;
  }

  private void skipBlanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private void expect(char c) {
    if (text.charAt(at) != c) {
      throw malformed("there is no '" + c + "' at " + at);
    }
    at++;
  }
}
