package io.osier.datacenter.words;

import static io.osier.datacenter.words.Words.bad;

import io.osier.core.OsierException;
import java.util.List;
import java.util.Optional;

/** The words of what changes are to be told of, and from where on. Pure. */
public final class WatchGrammar {
  private static final String USAGE = "watch KEY|PREFIX* [from POSITION|beginning] [N]";
  private static final String BEGINNING = "beginning";

  /**
   * What is to be watched.
   *
   * @param what a key, or a prefix without its star
   * @param position of a watcher of the same keys, from where on; empty from now on, or from the
   *     beginning
   * @param fromTheBeginning whether everything that there is comes first
   * @param changes so many are told of
   */
  public record Watch(
      Word what,
      boolean isPrefix,
      Optional<String> position,
      boolean fromTheBeginning,
      long changes) {}

  private WatchGrammar() {}

  /**
   * Understands a command.
   *
   * @param words its name, and what follows
   * @throws OsierException INVALID_ARGUMENT that says what is wrong and what would be right
   */
  public static Watch parse(List<Word> words) {
    Words.arguments(words, 2, 5, USAGE);
    int at = 2;
    Optional<String> from = Optional.empty();
    if (words.size() > at && words.get(at).text().equals("from")) {
      if (words.size() == at + 1) {
        throw bad("usage: " + USAGE);
      }
      from = Optional.of(words.get(at + 1).text());
      at += 2;
    }
    if (words.size() > at + 1) {
      throw bad("usage: " + USAGE);
    }
    long changes = words.size() > at ? Words.count(words.get(at)) : Long.MAX_VALUE;
    boolean begins = from.filter(BEGINNING::equals).isPresent();
    Word what = words.get(1);
    // In quotes a key may end with a star itself.
    boolean isPrefix = what.text().endsWith("*") && !what.literal();
    return new Watch(
        isPrefix ? new Word(what.text().substring(0, what.text().length() - 1), false) : what,
        isPrefix,
        begins ? Optional.empty() : from,
        begins,
        changes);
  }
}
