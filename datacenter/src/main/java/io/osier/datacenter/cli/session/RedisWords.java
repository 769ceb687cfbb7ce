package io.osier.datacenter.cli.session;

import static java.util.Map.entry;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.Word;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Translates Redis commands that people type out of habit into commands of this shell that do the
 * same, on the types that a Redis client at this datacenter's port reads and writes. Pure.
 */
final class RedisWords {
  /** A placeholder: the digit is the number of an argument; a plus adds all arguments after it. */
  private static final Pattern ARGUMENT = Pattern.compile("\\{(\\d)(\\+?):([^}]*)}");

  /** The placeholders of values, which Redis clients write as texts, numbers, too. */
  private static final Pattern VALUES = Pattern.compile("VALUE|ELEMENT.*");

  /**
   * Commands whose translation does something similar but not the same: it is suggested and not
   * run.
   */
  private static final Set<String> ALIKE =
      Set.of("COPY", "GETDEL", "INFO", "PSUBSCRIBE", "SELECT", "SUBSCRIBE", "ZINCRBY");

  /**
   * A command of this shell.
   *
   * @param same whether it does the same as the Redis command that was typed, with all its
   *     arguments
   */
  record Line(String text, boolean same) {}

  static final Map<String, String> LINES =
      Map.ofEntries(
          entry("COPY", "copy {1:FROM} {2:TO}"),
          entry("DBSIZE", "count"),
          entry("DECR", "string decr {1:KEY}"),
          entry("DECRBY", "string decr {1:KEY} {2:N}"),
          entry("DEL", "del {1+:KEY...}"),
          entry("DISCARD", "abort"),
          entry("EXEC", "commit"),
          entry("EXISTS", "exists {1:KEY}"),
          entry("EXPIRE", "expire {1:KEY} {2:SECONDS}"),
          entry("EXPIREAT", "expireat {1:KEY} {2:TIME}"),
          entry("GET", "get {1:KEY}"),
          entry("GETDEL", "returning string clear {1:KEY}"),
          entry("GETSET", "returning string set {1:KEY} {2:VALUE}"),
          entry("HDEL", "map remove {1:KEY} {2+:FIELD...}"),
          entry("HEXISTS", "map get {1:KEY} {2:FIELD}"),
          entry("HGET", "map get {1:KEY} {2:FIELD}"),
          entry("HGETALL", "map get {1:KEY}"),
          entry("HINCRBY", "map update {1:KEY} {2:FIELD} string incr {3:N}"),
          entry("HLEN", "map size {1:KEY}"),
          entry("HMGET", "map get {1:KEY} {2+:FIELD...}"),
          entry("INCR", "string incr {1:KEY}"),
          entry("INCRBY", "string incr {1:KEY} {2:N}"),
          entry("INFO", "stat"),
          entry("MULTI", "begin"),
          entry("PERSIST", "persist {1:KEY}"),
          entry("PSUBSCRIBE", "watch {1:PREFIX*}"),
          entry("PTTL", "ttl {1:KEY}"),
          entry("QUIT", "quit"),
          entry("RENAME", "rename {1:OLD} {2:NEW}"),
          entry("SADD", "set add {1:KEY} {2+:ELEMENT...}"),
          entry("SCAN", "scan"),
          entry("SCARD", "set size {1:KEY}"),
          entry("SELECT", "use [KEYSPACE]"),
          entry("SETEX", "for {2:SECONDS} string set {1:KEY} {3:VALUE}"),
          entry("SETNX", "ifabsent string set {1:KEY} {2:VALUE}"),
          entry("SISMEMBER", "set has {1:KEY} {2:ELEMENT}"),
          entry("SMEMBERS", "set get {1:KEY}"),
          entry("SREM", "set remove {1:KEY} {2+:ELEMENT...}"),
          entry("SUBSCRIBE", "watch {1:KEY}"),
          entry("TTL", "ttl {1:KEY}"),
          entry("TYPE", "type {1:KEY}"),
          entry("UNLINK", "del {1+:KEY...}"),
          entry("ZINCRBY", "map update {1:KEY} {3:MEMBER} counter incr {2:N}"));

  private RedisWords() {}

  /**
   * Returns the translation of a Redis command; empty if the words are a command of this shell, or
   * of neither.
   */
  static Optional<Line> here(List<Word> words) {
    String first = words.getFirst().text();
    for (CrdtType type : CrdtType.values()) {
      // "set k v" is Redis', and "set add k v" is not.
      if (type.label().equals(first)
          && (words.size() < 3 || ObjectGrammar.verbs(type).contains(words.get(1).text()))) {
        return Optional.empty();
      }
    }
    String command = first.toUpperCase(Locale.ROOT);
    return switch (command) {
      case "SET" -> Optional.of(set(words));
      case "HSET", "HMSET" -> Optional.of(hset(words));
      case "KEYS" -> Optional.of(keys(words));
      default ->
          Optional.ofNullable(LINES.get(command))
              .map(l -> in(l, words))
              .map(l -> new Line(l.text, l.same && isSame(command, words)));
    };
  }

  /**
   * Returns whether the translation does the same: a time of 0 or less deletes here, and is refused
   * by Redis.
   */
  private static boolean isSame(String command, List<Word> words) {
    return !ALIKE.contains(command) && (!command.equals("SETEX") || isPositive(words.get(2)));
  }

  private static boolean isPositive(Word seconds) {
    return seconds.text().matches("0*[1-9]\\d*");
  }

  /**
   * Fills the typed arguments into a line; not the same if an argument is missing or there are too
   * many.
   */
  private static Line in(String line, List<Word> words) {
    StringBuilder text = new StringBuilder();
    Matcher found = ARGUMENT.matcher(line);
    int last = 0;
    boolean whole = true;
    while (found.find()) {
      int at = Integer.parseInt(found.group(1));
      int to = found.group(2).isEmpty() ? at + 1 : words.size();
      last = Math.max(last, to - 1);
      whole &= at < words.size();
      String typed =
          at >= words.size()
              ? found.group(3)
              : words.subList(at, to).stream()
                  .map(word -> VALUES.matcher(found.group(3)).matches() ? text(word) : again(word))
                  .collect(Collectors.joining(" "));
      found.appendReplacement(text, Matcher.quoteReplacement(typed));
    }
    return new Line(found.appendTail(text).toString(), whole && words.size() == last + 1);
  }

  /** Translates SET with its options EX SECONDS and NX. */
  private static Line set(List<Word> words) {
    String before = "";
    boolean same = words.size() >= 3;
    for (int i = 3; i < words.size(); i++) {
      String option = words.get(i).text().toUpperCase(Locale.ROOT);
      if (option.equals("EX") && i + 1 < words.size()) {
        Word seconds = words.get(++i);
        same &= isPositive(seconds);
        before = "for " + again(seconds) + " " + before;
      } else if (option.equals("NX")) {
        before += "ifabsent ";
      } else {
        same = false;
      }
    }
    return new Line(before + in("string set {1:KEY} {2:VALUE}", words).text, same);
  }

  /**
   * Translates HSET: a single field is updated as a Redis client does it; for several the line
   * makes registers.
   */
  private static Line hset(List<Word> words) {
    if (words.size() <= 4) {
      return in("map update {1:KEY} {2:FIELD} string set {3:VALUE}", words);
    }
    StringBuilder line = new StringBuilder(in("map set {1:KEY}", words).text);
    for (int i = 2; i + 1 < words.size(); i += 2) {
      line.append(' ').append(again(words.get(i))).append('=').append(again(words.get(i + 1)));
    }
    return new Line(line.toString(), false);
  }

  private static Line keys(List<Word> words) {
    String pattern = words.size() > 1 ? words.get(1).text() : "";
    String prefix = pattern.replaceFirst("\\*$", "");
    return new Line(
        "keys " + (words.size() > 1 ? ValueText.name(prefix) : "PREFIX"),
        words.size() == 2 && pattern.endsWith("*") && !prefix.matches(".*[*?\\[\\\\].*"));
  }

  /** Returns a word as it must be typed. */
  private static String again(Word word) {
    return word.literal() ? text(word) : ValueText.name(word.text());
  }

  private static String text(Word word) {
    return ValueText.of(Value.of(word.text()));
  }
}
