package io.osier.datacenter.cli;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;

/**
 * One word of a command.
 *
 * @param text without its quotes
 * @param literal whether single quotes stood around it, or around what follows its {@code =}: such
 *     a value is a string, whatever it looks like
 */
record Word(String text, boolean literal) {
  /**
   * The words of a typed line. Blanks separate them. Quotes, single or double, keep blanks together
   * anywhere in a word ({@code city='New York'}); single quotes also say that the value is a string
   * ({@code '42'}). Within double quotes, and outside of quotes, a backslash takes the next
   * character as it is.
   *
   * @throws OsierException INVALID_ARGUMENT if a quote is not closed, or nothing follows a
   *     backslash
   */
  static List<Word> split(String line) {
    List<Word> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    char quote = 0;
    boolean started = false;
    boolean literal = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote != 0 && c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
        started = true;
        literal |= c == '\'';
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

  /**
   * An argument that a shell has split already. Single quotes that the shell has left around it, or
   * around what follows its first {@code =}, mean what they mean in a typed line.
   */
  static Word ofArgument(String argument) {
    int from = isQuoted(argument, 0) ? 0 : argument.indexOf('=') + 1;
    if (!isQuoted(argument, from)) {
      return new Word(argument, false);
    }
    return new Word(
        argument.substring(0, from) + argument.substring(from + 1, argument.length() - 1), true);
  }

  private static boolean isQuoted(String text, int from) {
    return text.length() >= from + 2 && text.charAt(from) == '\'' && text.endsWith("'");
  }

  private static OsierException bad(String message) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, message);
  }
}
