package io.osier.datacenter.redis.command.data;

import static java.math.RoundingMode.FLOOR;
import static java.math.RoundingMode.HALF_EVEN;

import io.osier.datacenter.redis.command.data.ModelKeys.Wrong;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Redis' commands of strings, as simple as they can be said. */
final class ModelStrings {
  private static final int DIGITS = 40;
  private static final int PLACES = 17;
  private static final int EXPONENT_MAX = 4932;

  private static final String NIL = "(nil)";
  private final ModelKeys keys;

  ModelStrings(ModelKeys keys) {
    this.keys = keys;
  }

  /** The answer; null for a command of another kind. */
  @Nullable String answer(List<String> w) {
    String key = w.size() > 1 ? w.get(1) : "";
    switch (w.getFirst()) {
      case "GET" -> {
        return bulk(keys.text(key));
      }
      case "SET" -> {
        return set(w);
      }
      case "SETNX" -> {
        return ":" + (setIfAbsent(List.of(key, w.get(2))) ? 1 : 0);
      }
      case "SETEX", "PSETEX" -> {
        long time = ModelKeys.integer(w.get(2));
        if (time <= 0) {
          throw new Wrong(
              "ERR invalid expire time in '" + w.getFirst().toLowerCase(Locale.ROOT) + "' command");
        }
        keys.put(key, w.get(3)).deadline =
            keys.millis + (w.getFirst().equals("SETEX") ? 1_000 : 1) * time;
        return "+OK";
      }
      case "GETSET" -> {
        String former = keys.text(key);
        keys.put(key, w.get(2));
        return bulk(former);
      }
      case "GETDEL" -> {
        String deleted = keys.text(key);
        keys.entries.remove(key);
        return bulk(deleted);
      }
      case "GETEX" -> {
        return getex(w);
      }
      case "MGET" -> {
        List<String> got = new ArrayList<>();
        for (String k : w.subList(1, w.size())) {
          ModelKeys.Entry entry = keys.get(k);
          got.add(entry != null && entry.value instanceof String s ? bulk(s) : NIL);
        }
        return "[" + String.join(" ", got) + "]";
      }
      case "MSET" -> {
        for (int i = 1; i < w.size(); i += 2) {
          keys.put(w.get(i), w.get(i + 1));
        }
        return "+OK";
      }
      case "MSETNX" -> {
        return ":" + (setIfAbsent(w.subList(1, w.size())) ? 1 : 0);
      }
      case "INCR", "DECR", "INCRBY", "DECRBY" -> {
        return increment(w);
      }
      case "INCRBYFLOAT" -> {
        return incrementFloat(key, w.get(2));
      }
      case "APPEND" -> {
        keys.rewrite(key, orEmpty(keys.text(key)) + w.get(2));
        return length(key);
      }
      case "STRLEN" -> {
        return length(key);
      }
      case "GETRANGE", "SUBSTR" -> {
        long start = ModelKeys.integer(w.get(2));
        long end = ModelKeys.integer(w.get(3));
        return bulk(range(orEmpty(keys.text(key)), start, end));
      }
      case "SETRANGE" -> {
        return setRange(key, ModelKeys.integer(w.get(2)), w.get(3));
      }
      case "GETBIT" -> {
        int at = offset(w.get(2)); // is looked at before the key
        return ":" + bit(orEmpty(keys.text(key)), at);
      }
      case "SETBIT" -> {
        return setBit(key, offset(w.get(2)), w.get(3));
      }
      case "BITCOUNT" -> {
        return bitCount(w);
      }
      case "BITPOS" -> {
        return bitPos(w);
      }
      case "BITOP" -> {
        return bitOp(w.get(1), w.get(2), w.subList(3, w.size()));
      }
      case "LCS" -> {
        return ":" + lcs(orEmpty(keys.text(key)), orEmpty(keys.text(w.get(2))));
      }
      default -> {
        return null;
      }
    }
  }

  private static String bulk(@Nullable String text) {
    return text == null ? NIL : "$" + text;
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  private String length(String key) {
    return ":" + orEmpty(keys.text(key)).length();
  }

  private String set(List<String> w) {
    String key = w.get(1);
    boolean gets = w.contains("GET");
    String former = gets ? bulk(keys.text(key)) : "+OK";
    long millis = ModelKeys.NEVER;
    for (int i = 3; i < w.size() - 1; i++) {
      if (w.get(i).equals("PX") || w.get(i).equals("EX")) {
        long time = ModelKeys.integer(w.get(i + 1));
        if (time <= 0) {
          throw new Wrong("ERR invalid expire time in 'set' command");
        }
        millis = keys.millis + time * (w.get(i).equals("EX") ? 1_000 : 1);
      }
    }
    boolean isThere = keys.get(key) != null;
    if ((w.contains("NX") && isThere) || (w.contains("XX") && !isThere)) {
      return gets ? former : NIL;
    }
    if (w.contains("KEEPTTL")) {
      keys.rewrite(key, w.get(2));
    } else {
      keys.put(key, w.get(2)).deadline = millis;
    }
    return former;
  }

  private boolean setIfAbsent(List<String> pairs) {
    for (int i = 0; i < pairs.size(); i += 2) {
      if (keys.get(pairs.get(i)) != null) {
        return false;
      }
    }
    for (int i = 0; i < pairs.size(); i += 2) {
      keys.put(pairs.get(i), pairs.get(i + 1));
    }
    return true;
  }

  private String getex(List<String> w) {
    String text = keys.text(w.get(1));
    ModelKeys.Entry entry = keys.get(w.get(1));
    if (entry != null && w.size() > 2) {
      entry.deadline =
          w.get(2).equals("PERSIST")
              ? ModelKeys.NEVER
              : keys.millis + ModelKeys.integer(w.get(3)) * (w.get(2).equals("EX") ? 1_000 : 1);
    }
    return bulk(text);
  }

  private String increment(List<String> w) {
    long amount = w.size() > 2 ? ModelKeys.integer(w.get(2)) : 1;
    if (w.getFirst().equals("DECRBY") && amount == Long.MIN_VALUE) {
      throw new Wrong("ERR decrement would overflow");
    }
    String text = keys.text(w.get(1));
    long number = text == null ? 0 : ModelKeys.integer(text);
    long sum;
    try {
      sum = Math.addExact(number, w.getFirst().startsWith("D") ? -amount : amount);
    } catch (ArithmeticException e) {
      throw new Wrong("ERR increment or decrement would overflow");
    }
    keys.rewrite(w.get(1), Long.toString(sum));
    return ":" + sum;
  }

  private String incrementFloat(String key, String amount) {
    BigDecimal added = decimal(amount, "ERR value is not a valid float");
    String text = keys.text(key);
    BigDecimal number =
        text == null ? BigDecimal.ZERO : decimal(text, "ERR value is not a valid float");
    String sum = sum(text == null ? "" : text, number, added);
    keys.rewrite(key, sum);
    return bulk(sum);
  }

  /** The number that a text is. */
  static BigDecimal decimal(String text, String error) {
    try {
      BigDecimal number = new BigDecimal(text);
      if (digitsBefore(number) > EXPONENT_MAX) {
        throw new Wrong(error);
      }
      return number;
    } catch (NumberFormatException e) {
      throw new Wrong(error);
    }
  }

  private static long digitsBefore(BigDecimal number) {
    return (long) number.precision() - number.scale();
  }

  /**
   * A sum: exactly if what was there has at most 40 digits on each side and it stays in the range
   * of a long, for then increments of several datacenters add up; else rounded as in Redis.
   */
  static String sum(String former, BigDecimal number, BigDecimal added) {
    BigDecimal sum = number.add(added);
    if (digitsBefore(sum) > EXPONENT_MAX) {
      throw new Wrong("ERR increment would produce NaN or Infinity");
    }
    boolean addsUp =
        addsUp(added)
            && former.length() <= DIGITS
            && Math.abs((long) number.scale()) <= DIGITS
            && digitsBefore(number) <= DIGITS
            && isLong(sum);
    return plain(addsUp || sum.scale() <= PLACES ? sum : sum.setScale(PLACES, HALF_EVEN));
  }

  private static boolean addsUp(BigDecimal added) {
    return added.scale() <= 18 && isLong(added);
  }

  private static boolean isLong(BigDecimal number) {
    return number.setScale(0, FLOOR).toBigInteger().bitLength() < Long.SIZE;
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }

  private static String range(String text, long start, long end) {
    long length = text.length();
    long from = Math.max(0, start < 0 ? length + start : start);
    long to = Math.min(length - 1, end < 0 ? length + end : end);
    if (end < 0 && length + end < 0) {
      to = start < 0 && start > end ? -1 : 0; // before the beginning is the first place
    }
    return from > to || length == 0 ? "" : text.substring((int) from, (int) to + 1);
  }

  private String setRange(String key, long offset, String part) {
    if (offset < 0) {
      throw new Wrong("ERR offset is out of range");
    }
    String text = keys.text(key);
    if (part.isEmpty()) {
      return ":" + orEmpty(text).length();
    }
    StringBuilder all = new StringBuilder(orEmpty(text));
    while (all.length() < offset + part.length()) {
      all.append('\0');
    }
    all.replace((int) offset, (int) offset + part.length(), part);
    keys.rewrite(key, all.toString());
    return ":" + all.length();
  }

  private static int offset(String word) {
    long offset = ModelKeys.integer(word, "ERR bit offset is not an integer or out of range");
    if (offset < 0) {
      throw new Wrong("ERR bit offset is not an integer or out of range");
    }
    return (int) offset;
  }

  private static int bit(String text, long at) {
    return at / 8 >= text.length() ? 0 : text.charAt((int) (at / 8)) >> (7 - at % 8) & 1;
  }

  private String setBit(String key, int at, String on) {
    if (!on.equals("0") && !on.equals("1")) {
      throw new Wrong("ERR bit is not an integer or out of range");
    }
    String text = orEmpty(keys.text(key));
    StringBuilder all = new StringBuilder(text);
    while (all.length() <= at / 8) {
      all.append('\0');
    }
    int mask = 0x80 >> at % 8;
    int old = all.charAt(at / 8);
    all.setCharAt(at / 8, (char) (on.equals("1") ? old | mask : old & ~mask));
    keys.rewrite(key, all.toString());
    return ":" + bit(text, at);
  }

  /** A string's bits, as a text of zeros and ones. */
  private static String bits(String text) {
    StringBuilder bits = new StringBuilder();
    for (int i = 0; i < text.length() * 8; i++) {
      bits.append(bit(text, i));
    }
    return bits.toString();
  }

  private String bitCount(List<String> w) {
    String text = orEmpty(keys.text(w.get(1)));
    if (w.size() > 2) {
      long start = ModelKeys.integer(w.get(2));
      long end = ModelKeys.integer(w.get(3));
      boolean inBits = w.size() > 4 && w.get(4).equals("BIT");
      String part = range(inBits ? bits(text) : text, start, end);
      return ":" + (inBits ? part : bits(part)).chars().filter(c -> c == '1').count();
    }
    return ":" + bits(text).chars().filter(c -> c == '1').count();
  }

  private String bitPos(List<String> w) {
    String wanted = w.get(2);
    String text = keys.text(w.get(1));
    if (text == null) {
      return wanted.equals("0") ? ":0" : ":-1";
    }
    long start = w.size() > 3 ? ModelKeys.integer(w.get(3)) : 0;
    long end = w.size() > 4 ? ModelKeys.integer(w.get(4)) : -1;
    // Both before the beginning are its first place, here only.
    String part =
        start < 0 && start > end && end < 0
            ? range(text, Math.max(0, text.length() + start), Math.max(0, text.length() + end))
            : range(text, start, end);
    long from = Math.max(0, start < 0 ? text.length() + start : start);
    int at = bits(part).indexOf(wanted);
    if (at < 0 && wanted.equals("0") && w.size() <= 4 && !part.isEmpty()) {
      return ":" + text.length() * 8;
    }
    return ":" + (at < 0 ? -1 : from * 8 + at);
  }

  private String bitOp(String operator, String to, List<String> from) {
    List<String> texts = from.stream().map(k -> orEmpty(keys.text(k))).toList();
    int length = texts.stream().mapToInt(String::length).max().orElse(0);
    UnaryOperator<String> padded = t -> t + "\0".repeat(length - t.length());
    StringBuilder all = new StringBuilder(padded.apply(texts.getFirst()));
    for (int i = 0; i < length; i++) {
      int b = all.charAt(i);
      for (String text : texts.subList(1, texts.size())) {
        int other = padded.apply(text).charAt(i);
        b = operator.equals("AND") ? b & other : operator.equals("OR") ? b | other : b ^ other;
      }
      all.setCharAt(i, (char) (operator.equals("NOT") ? ~b & 0xff : b));
    }
    if (length == 0) {
      keys.entries.remove(to);
    } else {
      keys.put(to, all.toString());
    }
    return ":" + length;
  }

  private static int lcs(String a, String b) {
    if (a.isEmpty() || b.isEmpty()) {
      return 0;
    }
    String restA = a.substring(1);
    String restB = b.substring(1);
    return a.charAt(0) == b.charAt(0)
        ? 1 + lcs(restA, restB)
        : Math.max(lcs(restA, b), lcs(a, restB));
  }
}
