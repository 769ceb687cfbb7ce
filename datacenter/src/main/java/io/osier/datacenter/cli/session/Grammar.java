package io.osier.datacenter.cli.session;

import static io.osier.datacenter.words.Words.arguments;
import static io.osier.datacenter.words.Words.bad;
import static io.osier.datacenter.words.Words.count;
import static io.osier.datacenter.words.Words.key;
import static io.osier.datacenter.words.Words.seconds;
import static io.osier.datacenter.words.Words.textKey;
import static io.osier.datacenter.words.Words.texts;
import static io.osier.datacenter.words.Words.time;
import static java.util.stream.Collectors.toMap;

import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.datacenter.words.ObjectCommand;
import io.osier.datacenter.words.UpdateGrammar;
import io.osier.datacenter.words.WatchGrammar;
import io.osier.datacenter.words.Word;
import io.osier.datacenter.words.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parses commands of the command line. Pure. */
public final class Grammar {
  public sealed interface Command {}

  /** A command whose answer is a text. */
  sealed interface Action extends Command {}

  public record Help(String text) implements Command {}

  /** Shows changes as they come. */
  record Watch(String what, WatchGrammar.Watch how) implements Command {}

  /** Shows the state of all datacenters, once or until it is ended. */
  record Top(boolean once) implements Command {}

  record Exit() implements Command {}

  record Update(ObjectCommand.Update update) implements Action {}

  record Read(Key key, Optional<CrdtType> type, Query query) implements Action {}

  record Scan(Optional<Key> from, int limit) implements Action {}

  record Keys(io.osier.proxy.Scan of, int limit) implements Action {}

  record Count(io.osier.proxy.Scan of, Optional<CrdtType> type) implements Action {}

  /** Begins or ends a transaction. */
  record Transact(String verb, int seconds) implements Action {}

  /** Begins a program, or runs the one that was begun. */
  record Program(String verb) implements Action {}

  /** Moves what a key holds to another key, or copies it. */
  record Move(String from, String to, boolean copies) implements Action {}

  record Exists(Key key) implements Action {}

  record Type(Key key) implements Action {}

  record Delete(List<String> keys) implements Action {}

  /** Lets a key expire after a time, or at a point in time. */
  record Expire(String key, Optional<Duration> after, Optional<Instant> at) implements Action {}

  record Persist(String key) implements Action {}

  record TimeToLive(String key) implements Action {}

  /** Asks how long an element or field lives on. */
  record PartTimeToLive(Key key, CrdtType type, Part part) implements Action {}

  /** Chooses the keyspace; empty to list the keyspaces. */
  record Use(Optional<String> keyspace) implements Action {}

  /**
   * Asks why data is late, or shipped as it is.
   *
   * @param word a datacenter's name, or a key as it was typed; empty for all datacenters
   * @param key the word as a key; empty without a word
   * @param isKey whether the word is certainly a key
   */
  record Why(String word, Optional<Key> key, boolean isKey) implements Action {}

  /** Asks for a report of what the datacenter is doing. */
  record Inspect(String topic, int limit) implements Action {}

  /** Shows or changes keyspaces, placement or the cluster's datacenters. */
  record Administer(String subject, String action, String name, SortedMap<String, String> settings)
      implements Action {}

  /**
   * Shows or changes users and rights.
   *
   * @param rights the rights that the command gives or takes
   */
  record ManageUser(String action, String name, List<Grant> rights) implements Action {}

  /** Option of top: shows one picture and ends. */
  private static final String ONCE = "--once";

  private static final int SCAN_LIMIT = 100;
  private static final int HOT_LIMIT = 20;

  /** The default time limit of a transaction, in seconds: people type slowly. */
  private static final int LIMIT_SECONDS = 300;

  /**
   * The usages of commands with a fixed number of words, by their first word; words in brackets are
   * optional.
   */
  private static final Map<String, String> USAGES =
      Stream.of(
              """
              get KEY
              exists KEY
              type KEY
              del KEY...
              rename OLD NEW
              copy FROM TO
              expire KEY SECONDS
              expireat KEY TIME
              persist KEY
              ttl KEY
              use [KEYSPACE]
              scan [FROM [LIMIT]]
              keys [PREFIX [LIMIT]]
              count [PREFIX [TYPE]]
              top [--once]
              exit
              quit
              begin [SECONDS]
              commit
              abort
              program
              run
              peers
              stat
              hot [N]
              """
                  .split("\n"))
          .collect(toMap(usage -> usage.split(" ")[0], usage -> usage));

  private Grammar() {}

  private static void checkCount(List<Word> words, @Nullable String usage) {
    if (usage != null) {
      List<String> parts = List.of(usage.split(" "));
      long least = parts.stream().filter(part -> !part.startsWith("[")).count();
      int most = usage.endsWith("...") ? Integer.MAX_VALUE : parts.size();
      arguments(words, (int) least, most, usage);
    }
  }

  private static Optional<Word> second(List<Word> words) {
    return words.stream().skip(1).findFirst();
  }

  private static int limit(List<Word> words) {
    return words.size() > 2 ? count(words.get(2)) : SCAN_LIMIT;
  }

  /** Parses a command; throws INVALID_ARGUMENT, saying what is wrong and what would be right. */
  public static Command parse(List<Word> words) {
    if (words.isEmpty()) {
      throw bad("a command is missing; try help");
    }
    String first = words.getFirst().text();
    checkCount(words, USAGES.get(first));
    return switch (first) {
      case "get" -> new Read(key(words.get(1)), Optional.empty(), new Query.Whole());
      case "exists" -> new Exists(key(words.get(1)));
      case "type" -> new Type(key(words.get(1)));
      case "del" ->
          new Delete(words.subList(1, words.size()).stream().map(Words::textKey).toList());
      case "rename", "copy" ->
          new Move(textKey(words.get(1)), textKey(words.get(2)), first.equals("copy"));
      case "expire" ->
          new Expire(textKey(words.get(1)), Optional.of(seconds(words.get(2))), Optional.empty());
      case "expireat" ->
          new Expire(textKey(words.get(1)), Optional.empty(), Optional.of(time(words.get(2))));
      case "persist" -> new Persist(textKey(words.get(1)));
      case "ttl" -> new TimeToLive(textKey(words.get(1)));
      case "use" -> new Use(second(words).map(Word::text));
      case "scan" -> new Scan(second(words).map(Words::key), limit(words));
      case "keys" -> new Keys(prefix(words), limit(words));
      case "count" ->
          new Count(
              prefix(words),
              words.size() > 2
                  ? Optional.of(CrdtType.ofLabel(words.get(2).text()))
                  : Optional.empty());
      case "watch" -> watch(words);
      case "top" -> {
        if (words.size() > 1 && !words.get(1).text().equals(ONCE)) {
          throw bad("usage: top [--once]");
        }
        yield new Top(words.size() > 1);
      }
      case "help" -> {
        arguments(words, 1, 3, "help [WORD]");
        yield new Help(HelpText.text(texts(words.subList(1, words.size()))));
      }
      case "exit", "quit" -> new Exit();
      case "begin" -> new Transact("begin", second(words).map(Words::amount).orElse(LIMIT_SECONDS));
      case "commit", "abort" -> new Transact(first, 0);
      case "program", "run" -> new Program(first);
      case "keyspace" -> AdminGrammar.keyspaces(words);
      case "placement" -> AdminGrammar.placement(words);
      case "dc" -> AdminGrammar.datacenters(words);
      case "user" -> AdminGrammar.manageUser(words);
      case "why" -> AdminGrammar.why(words);
      case "peers" -> new Why("", Optional.empty(), false); // the name of 'why' in earlier versions
      case "stat" -> new Inspect(first, 0);
      case "hot" -> new Inspect(first, second(words).map(Words::count).orElse(HOT_LIMIT));
      default -> {
        Optional<RedisWords.Line> here = RedisWords.here(words);
        if (here.isPresent() && here.get().same()) {
          yield parse(Word.split(here.get().text()));
        }
        if (here.isPresent()) {
          throw bad(first + " is a command of Redis; here it is: " + here.get().text());
        }
        yield ofObject(UpdateGrammar.parse(words, Grammar::type));
      }
    };
  }

  private static Watch watch(List<Word> words) {
    WatchGrammar.Watch how = WatchGrammar.parse(words);
    return new Watch(textKey(how.what()), how);
  }

  /**
   * Returns a scan of the prefix that is the second word; of all keys if it is missing or empty.
   */
  private static io.osier.proxy.Scan prefix(List<Word> words) {
    return words.size() < 2 || words.get(1).text().isEmpty()
        ? io.osier.proxy.Scan.all()
        : io.osier.proxy.Scan.prefix(key(words.get(1)));
  }

  static Action ofObject(ObjectCommand command) {
    return switch (command) {
      case ObjectCommand.Read r -> new Read(r.key(), Optional.of(r.type()), r.query());
      case ObjectCommand.Update u -> new Update(u);
      case ObjectCommand.PartTimeToLive t -> new PartTimeToLive(t.key(), t.type(), t.part());
    };
  }

  /** Returns the type of a label; if there is none, the error suggests a similar command. */
  static CrdtType type(String label) {
    return Arrays.stream(CrdtType.values())
        .filter(t -> t.label().equals(label))
        .findFirst()
        .orElseThrow(() -> bad("there is no command '" + label + "'" + HelpText.similar(label)));
  }

  /**
   * Returns whether a word that looks like an option belongs to a command, and is not mistyped.
   *
   * @param before the command's words before it
   */
  public static boolean isOption(List<String> before, String word) {
    return switch (word) {
      case AdminGrammar.DEAD ->
          before.size() > 1 && before.subList(0, 2).equals(List.of("dc", "remove"));
      case ONCE -> before.equals(List.of("top"));
      default -> false;
    };
  }
}
