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
import org.jspecify.annotations.Nullable;

/** What datacenters answer to those who administer them, read from JSON. Pure. */
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
                if (!KEYSPACES_OWN.contains(name) && !(value instanceof List)) {
                  settings.put(name, String.valueOf(value));
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

  private static <T> List<T> all(
      String json, String name, Function<Map<String, @Nullable Object>, T> read) {
    if (!(new AdminAnswers(json).whole() instanceof Map<?, ?> root)
        || !(root.get(name) instanceof List<?> list)) {
      throw malformed("there are no " + name + " in it");
    }
    List<T> all = new ArrayList<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?> fields)) {
        throw malformed("one of " + name + " is no object");
      }
      Map<String, @Nullable Object> byName = new LinkedHashMap<>();
      fields.forEach((field, value) -> byName.put(String.valueOf(field), value));
      all.add(read.apply(byName));
    }
    return List.copyOf(all);
  }

  private static String text(Map<String, @Nullable Object> of, String name) {
    Object value = of.get(name);
    return value == null ? "" : value.toString();
  }

  private static Optional<String> some(Map<String, @Nullable Object> of, String name) {
    return Optional.of(text(of, name)).filter(t -> !t.isEmpty());
  }

  private static List<String> texts(Map<String, @Nullable Object> of, String name) {
    return of.get(name) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static Optional<Instant> moment(Map<String, @Nullable Object> of, String name) {
    return of.get(name) instanceof Number n && n.longValue() > 0
        ? Optional.of(Instant.ofEpochMilli(n.longValue()))
        : Optional.empty();
  }

  private static OsierException malformed(String why) {
    return OsierException.of(ErrorCode.MALFORMED, "the datacenter's answer cannot be read: " + why);
  }

  // ---------------------------------------------------------------- JSON

  private @Nullable Object whole() {
    Object value = value();
    skipBlanks();
    if (at < text.length()) {
      throw malformed("something follows its end, at " + at);
    }
    return value;
  }

  private @Nullable Object value() {
    skipBlanks();
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, @Nullable Object> object() {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
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

  private List<@Nullable Object> array() {
    List<@Nullable Object> elements = new ArrayList<>();
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
    if (peek() == end) {
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
    while (peek() != '"') {
      char c = text.charAt(at++);
      read.append(c == '\\' ? escaped() : c);
    }
    at++;
    return read.toString();
  }

  private char escaped() {
    char c = peek();
    at++;
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'u' -> {
        if (at + 4 > text.length()) {
          throw malformed("it ends in the middle");
        }
        at += 4;
        try {
          yield (char) Integer.parseInt(text, at - 4, at, 16);
        } catch (NumberFormatException e) {
          throw malformed("an escaped character is none, at " + at);
        }
      }
      default -> c;
    };
  }

  private @Nullable Object word(String word, @Nullable Object meaning) {
    if (!text.startsWith(word, at)) {
      throw malformed("there is no value at " + at);
    }
    at += word.length();
    return meaning;
  }

  private Number number() {
    int from = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String digits = text.substring(from, at);
    try {
      if (digits.chars().allMatch(c -> c == '-' || Character.isDigit(c))) {
        return Long.valueOf(digits);
      }
      return Double.valueOf(digits);
    } catch (NumberFormatException e) {
      throw malformed("there is no value at " + from);
    }
  }

  private void skipBlanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private char peek() {
    if (at >= text.length()) {
      throw malformed("it ends in the middle");
    }
    return text.charAt(at);
  }

  private void expect(char c) {
    if (peek() != c) {
      throw malformed("there is no '" + c + "' at " + at);
    }
    at++;
  }
}
