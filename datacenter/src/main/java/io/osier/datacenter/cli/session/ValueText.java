package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.datacenter.words.Word;
import io.osier.datacenter.words.Words;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Renders values, keys and names: as text that means the same when it is typed as a word of a
 * command or given as an argument, and as JSON. No rendered text moves a terminal's cursor. Pure.
 */
public final class ValueText {
  private static final String HEX = "0x";

  /** Words that would be taken for flags if they were printed as strings in a map. */
  private static final List<String> TRUTHS = List.of("true", "false");

  /** Characters that separate words, or quote. */
  private static final String PARTING = "'\"\\,{}";

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private ValueText() {}

  // ---------------------------------------------------------------- text

  /** Renders a value so that {@link Words#value} reads it again. */
  static String of(Value value) {
    return switch (value) {
      case Value.Int v -> v.toString();
      case Value.Real v -> (Double.isFinite(v.content()) ? "" : Words.REAL) + v;
      case Value.Bytes v -> hex(v.content());
      case Value.Str v -> string(v.content());
    };
  }

  private static String string(String text) {
    return isPlain(text) && !TRUTHS.contains(text) && isString(text) ? text : quoted(text);
  }

  private static boolean isString(String word) {
    try {
      return Words.value(new Word(word, false)) instanceof Value.Str read
          && read.content().equals(word);
    } catch (OsierException e) {
      return false; // it is no valid word
    }
  }

  /** Renders a key so that {@link Words#key} reads it again. */
  static String of(Key key) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return Words.BYTES + hex(key.toBytes());
    }
    return isPlain(text.get()) && Words.key(new Word(text.get(), false)).equals(key)
        ? text.get()
        : quoted(text.get());
  }

  static String name(String name) {
    return isPlain(name) ? name : quoted(name);
  }

  private static Optional<String> text(Key key) {
    byte[] bytes = key.toBytes();
    try {
      return Optional.of(Utf8.decode(bytes, 0, bytes.length));
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private static String hex(byte[] bytes) {
    return HEX + HexFormat.of().formatHex(bytes);
  }

  /** Returns whether a text is one word without quotes. */
  private static boolean isPlain(String text) {
    return !text.isEmpty()
        && text.codePoints()
            .noneMatch(
                c ->
                    PARTING.indexOf(c) >= 0
                        || Character.isWhitespace(c)
                        || Character.isSpaceChar(c)
                        || isHarmful(c))
        && "-(".indexOf(text.charAt(0)) < 0 // options, and (nothing)
        && !text.endsWith(":");
  }

  /** Quotes a text so that {@link Word} takes it for a string. */
  private static String quoted(String text) {
    if (text.codePoints().noneMatch(c -> c == '"' || c == '\\' || isHarmful(c))) {
      return '"' + text + '"';
    }
    StringBuilder quoted = new StringBuilder("$'");
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\'', '\\' -> quoted.append('\\').appendCodePoint(c);
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                default -> {
                  if (isHarmful(c)) {
                    quoted.append((c < 0x10000 ? "\\u%04x" : "\\U%08x").formatted(c));
                  } else {
                    quoted.appendCodePoint(c);
                  }
                }
              }
            });
    return quoted.append('\'').toString();
  }

  /**
   * Returns whether a character is not shown by a terminal but controls it, or changes the order or
   * lines of the text.
   */
  private static boolean isHarmful(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
      // The joiners within words of some languages, and within emoji, are shown.
      case Character.FORMAT -> character != 0x200c && character != 0x200d;
      default -> false;
    };
  }

  /** Escapes characters that would control a terminal; line ends stay. JSON keeps its meaning. */
  public static String harmless(String text) {
    if (text.codePoints().noneMatch(c -> isHarmful(c) && c != '\n')) {
      return text;
    }
    StringBuilder harmless = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (isHarmful(c) && c != '\n') {
                Character.toString(c)
                    .chars()
                    .forEach(half -> harmless.append("\\u%04x".formatted(half)));
              } else {
                harmless.appendCodePoint(c);
              }
            });
    return harmless.toString();
  }

  // ---------------------------------------------------------------- JSON

  /**
   * Renders a value as JSON: whole numbers with all their digits, doubles with a point or exponent.
   * Values without a form in JSON are objects with one name that begins with a dollar.
   */
  static JsonNode json(Value value) {
    return switch (value) {
      case Value.Int v -> JSON.numberNode(v.content());
      case Value.Real v ->
          Double.isFinite(v.content())
              ? JSON.numberNode(v.content())
              : JSON.objectNode().put("$real", v.toString());
      case Value.Str v -> JSON.textNode(v.content());
      case Value.Bytes v -> bytes(v.content());
    };
  }

  static JsonNode json(Key key) {
    return text(key).<JsonNode>map(JSON::textNode).orElseGet(() -> bytes(key.toBytes()));
  }

  private static JsonNode bytes(byte[] bytes) {
    return JSON.objectNode().put("$bytes", hex(bytes));
  }

  /** Renders a field's name as JSON; a name that begins with a dollar gets one more. */
  static String jsonName(String name) {
    return name.startsWith("$") ? "$" + name : name;
  }
}
