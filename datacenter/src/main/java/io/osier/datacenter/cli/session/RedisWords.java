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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The commands of Redis that people type out of habit, as lines that do here what they do there.
 * Pure.
 */
final class RedisWords {
  /** A digit is the argument with that number, and a plus all from there on. */
  private static final Pattern ARGUMENT = Pattern.compile("\\{(\\d)(\\+?):([^}]*)}");

  static final Map<String, String> LINES =
      Map.ofEntries(
          entry("COPY", "copy {1:FROM} {2:TO}"),
          entry("DBSIZE", "count"),
          entry("DECR", "counter decr {1:KEY}"),
          entry("DECRBY", "counter decr {1:KEY} {2:N}"),
          entry("DEL", "del {1+:KEY...}"),
          entry("DISCARD", "abort"),
          entry("EXEC", "commit"),
          entry("EXISTS", "exists {1:KEY}"),
          entry("EXPIRE", "expire {1:KEY} {2:SECONDS}"),
          entry("EXPIREAT", "expireat {1:KEY} {2:TIME}"),
          entry("GET", "get {1:KEY}"),
          entry("GETDEL", "returning register clear {1:KEY}"),
          entry("GETSET", "returning register set {1:KEY} {2:VALUE}"),
          entry("HDEL", "map remove {1:KEY} {2+:FIELD...}"),
          entry("HEXISTS", "map get {1:KEY} {2:FIELD}"),
          entry("HGET", "map get {1:KEY} {2:FIELD}"),
          entry("HGETALL", "map get {1:KEY}"),
          entry("HINCRBY", "map update {1:KEY} {2:FIELD} counter incr {3:N}"),
          entry("HLEN", "map size {1:KEY}"),
          entry("HMGET", "map get {1:KEY} {2+:FIELD...}"),
          entry("INCR", "counter incr {1:KEY}"),
          entry("INCRBY", "counter incr {1:KEY} {2:N}"),
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
          entry("SETEX", "for {2:SECONDS} register set {1:KEY} {3:VALUE}"),
          entry("SETNX", "ifabsent register set {1:KEY} {2:VALUE}"),
          entry("SISMEMBER", "set has {1:KEY} {2:ELEMENT}"),
          entry("SMEMBERS", "set get {1:KEY}"),
          entry("SREM", "set remove {1:KEY} {2+:ELEMENT...}"),
          entry("SUBSCRIBE", "watch {1:KEY}"),
          entry("TTL", "ttl {1:KEY}"),
          entry("TYPE", "type {1:KEY}"),
          entry("UNLINK", "del {1+:KEY...}"),
          entry("ZINCRBY", "map update {1:KEY} {3:MEMBER} counter incr {2:N}"));

  private RedisWords() {}

  /** The line that does it; empty if this is a command of Osier, or of nobody. */
  static Optional<String> here(List<Word> words) {
    String first = words.getFirst().text();
    for (CrdtType type : CrdtType.values()) {
      // "set k v" is Redis', and "set add k v" is not.
      if (type.label().equals(first)
          && (words.size() < 3 || ObjectGrammar.verbs(type).contains(words.get(1).text()))) {
        return Optional.empty();
      }
    }
    return switch (first.toUpperCase(Locale.ROOT)) {
      case "SET" -> Optional.of(set(words));
      case "HSET", "HMSET" -> Optional.of(hset(words));
      case "KEYS" ->
          Optional.of(
              "keys " + (words.size() > 1 ? again(words.get(1)).replace("*", "") : "PREFIX"));
      default ->
          Optional.ofNullable(LINES.get(first.toUpperCase(Locale.ROOT))).map(l -> in(l, words));
    };
  }

  private static String in(String line, List<Word> words) {
    return ARGUMENT
        .matcher(line)
        .replaceAll(
            found -> {
              int at = Integer.parseInt(found.group(1));
              if (at >= words.size()) {
                return Matcher.quoteReplacement(found.group(3));
              }
              int to = found.group(2).isEmpty() ? at + 1 : words.size();
              return Matcher.quoteReplacement(
                  words.subList(at, to).stream()
                      .map(RedisWords::again)
                      .collect(Collectors.joining(" ")));
            });
  }

  /** With what may stand behind it: EX SECONDS, NX. */
  private static String set(List<Word> words) {
    String before = "";
    for (int i = 3; i < words.size(); i++) {
      String option = words.get(i).text().toUpperCase(Locale.ROOT);
      if (option.equals("EX") && i + 1 < words.size()) {
        before = "for " + again(words.get(++i)) + " " + before;
      } else if (option.equals("NX")) {
        before += "ifabsent ";
      }
    }
    return before + in("register set {1:KEY} {2:VALUE}", words);
  }

  private static String hset(List<Word> words) {
    StringBuilder line = new StringBuilder(in("map set {1:KEY}", words));
    for (int i = 2; i + 1 < words.size(); i += 2) {
      line.append(' ').append(again(words.get(i))).append('=').append(again(words.get(i + 1)));
    }
    return words.size() < 4 ? line + " FIELD=VALUE..." : line.toString();
  }

  /** A word as it is typed. */
  private static String again(Word word) {
    return word.literal() ? ValueText.of(Value.of(word.text())) : ValueText.name(word.text());
  }
}
