package io.osier.datacenter.words;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;

/**
 * One word of a command.
 *
 * @param text without its quotes
 * @param literal whether quotes stood around it, or around what follows its {@code =}: such a value
 *     is a string, whatever it looks like
 */
public record Word(String text, boolean literal) {
  private static final String ESCAPED = "$'";

  /**
   * The words of a typed line. Blanks separate them. Quotes, single or double, keep blanks together
   * anywhere in a word ({@code city='New York'}), and say that the value is a string ({@code
   * "42"}). Within double quotes, and outside of quotes, a backslash takes the next character as it
   * is. Where a value begins, {@code $'…'} is as in bash: single quotes within which a backslash
   * escapes ({@code \\n}, {@code \\u001b}).
   *
   * @throws OsierException INVALID_ARGUMENT if a quote is not closed, nothing follows a backslash,
   *     or an escape is none
   */
  public static List<Word> split(String line) {
    List<Word> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    char quote = 0;
    boolean started = false;
    boolean literal = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote != 0 && c == quote) {
        quote = 0;
      } else if (quote == 0 && line.startsWith(ESCAPED, i) && begins(word)) {
        int end = Escapes.end(line, i + ESCAPED.length());
        if (end < 0) {
          throw bad("a " + ESCAPED + " is opened and not closed");
        }
        word.append(Escapes.read(line.substring(i + ESCAPED.length(), end)));
        i = end;
        started = true;
        literal = true;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
        if (!literal) {
          dropType(word);
        }
        started = true;
        literal = true;
      } else if (c == '\\' && quote != '\'') {
        if (++i == line.length()) {
          throw bad("nothing follows the last \\; write \\\\ for a backslash");
        }
        word.append(line.charAt(i));
        started = true;
      } else if (Character.isWhitespace(c) && quote == 0) {
        if (started) {
          words.add(new Word(word.toString(), literal));
          word.setLength(0);
          started = false;
          literal = false;
        }
      } else {
        if (quote == 0 && c == '=' && word.indexOf("=") < 0) {
          literal = false; // quotes around a name say nothing of the value
        }
        word.append(c);
        started = true;
      }
    }
    if (quote != 0) {
      throw bad("a " + quote + " is opened and not closed");
    }
    if (started) {
      words.add(new Word(word.toString(), literal));
    }
    return words;
  }

  /** Whether a value begins behind this: it stands alone, or behind a name. */
  private static boolean begins(CharSequence word) {
    return word.isEmpty() || word.charAt(word.length() - 1) == '=';
  }

  /** Quotes behind the type of strings say no more than it. */
  private static void dropType(StringBuilder word) {
    int at = word.length() - Words.STRING.length();
    if (word.toString().endsWith(Words.STRING) && begins(word.substring(0, at))) {
      word.setLength(at);
    }
  }

  /**
   * An argument that a shell has split already. Quotes that the shell has left around it, or around
   * what follows its first {@code =}, mean what they mean in a typed line; so do those behind a
   * dollar.
   */
  public static Word ofArgument(String argument) {
    boolean whole = isQuoted(argument, 0) || isEscaped(argument, 0);
    int from = whole ? 0 : argument.indexOf('=') + 1;
    if (isEscaped(argument, from)) {
      String inside = argument.substring(from + ESCAPED.length(), argument.length() - 1);
      return new Word(argument.substring(0, from) + Escapes.read(inside), true);
    }
    if (!isQuoted(argument, from)) {
      return new Word(argument, false);
    }
    return new Word(
        argument.substring(0, from) + argument.substring(from + 1, argument.length() - 1), true);
  }

  private static boolean isEscaped(String text, int from) {
    return text.startsWith(ESCAPED, from)
        && Escapes.end(text, from + ESCAPED.length()) == text.length() - 1;
  }

  private static boolean isQuoted(String text, int from) {
    if (text.length() < from + 2 || "'\"".indexOf(text.charAt(from)) < 0) {
      return false;
    }
    char quote = text.charAt(from);
    int last = text.length() - 1;
    return text.indexOf(quote, from + 1) == last && (quote == '\'' || text.indexOf('\\') < 0);
  }

  private static OsierException bad(String message) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, message);
  }

  /** What a backslash means between {@code $'} and {@code '}, as in bash. Pure. */
  private static final class Escapes {
    private static final String SHORT = "\\'\"ntr";
    private static final String MEANING = "\\'\"\n\t\r";
    private static final int HEX = 16;

    private Escapes() {}

    /** Where the quote is that closes; -1 if there is none. */
    static int end(String text, int from) {
      for (int i = from; i < text.length(); i++) {
        if (text.charAt(i) == '\\') {
          i++;
        } else if (text.charAt(i) == '\'') {
          return i;
        }
      }
      return -1;
    }

    /**
     * The text that is meant.
     *
     * @throws OsierException INVALID_ARGUMENT if an escape is none
     */
    static String read(String inside) {
      StringBuilder text = new StringBuilder();
      int i = 0;
      while (i < inside.length()) {
        char c = inside.charAt(i++);
        if (c != '\\') {
          text.append(c);
          continue;
        }
        char kind = i < inside.length() ? inside.charAt(i++) : 0;
        int known = kind == 0 ? -1 : SHORT.indexOf(kind);
        int digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        if (known >= 0) {
          text.append(MEANING.charAt(known));
        } else if (digits > 0) {
          text.appendCodePoint(character(inside, i, digits));
          i += digits;
        } else {
          throw bad();
        }
      }
      return text.toString();
    }

    private static int character(String inside, int from, int digits) {
      try {
        int character = Integer.parseUnsignedInt(inside.substring(from, from + digits), HEX);
        if (Character.isValidCodePoint(character)) {
          return character;
        }
      } catch (IndexOutOfBoundsException | NumberFormatException e) {
        // Named below.
      }
      throw bad();
    }

    private static OsierException bad() {
      return new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "within $'…' a \\ is followed by \\, ', \", n, t, r, or u or U and 4 or 8 hexadecimal"
              + " digits");
    }
  }
}
