package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** SORT and SORT_RO of sets. Static, for any thread. */
final class SortCommand {
  /** Most values that are looked up or shown: one pattern may be given many times. */
  private static final long VALUES_MAX = 1_000_000;

  private static final String NO_NUMBER = "ERR One or more scores can't be converted into double";

  /**
   * The options of the command.
   *
   * @param by the pattern of the values that the elements are sorted by; null for the elements
   *     themselves
   * @param get the patterns of the values that are answered; empty for the elements
   * @param offset how many elements are skipped
   * @param count how many elements are answered; negative for all
   * @param descending whether the largest comes first
   * @param asTexts whether values are compared as bytes, not as numbers
   */
  private record Wish(
      byte @Nullable [] by,
      List<byte[]> get,
      long offset,
      long count,
      boolean descending,
      boolean asTexts) {
    /** Returns whether the pattern has no star, so that the order does not matter. */
    boolean isUnsorted() {
      return by != null && star(by) < 0;
    }
  }

  /** An element with the value that it is sorted by; {@code by} is null if there is none. */
  private record Row(byte[] element, byte @Nullable [] by, double score) {}

  private SortCommand() {}

  static Plan sort(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    Wish wish = wish(words, Words.option(w[0]).equals("SORT"));
    return Plans.ask(
        Plans.read(scope, key, Plans.WHOLE),
        reply -> {
          List<byte[]> elements = Texts.elements(SetCommands.elements((Reply.Answer) reply));
          byte[] by = wish.by;
          if (by == null || wish.isUnsorted()) {
            return shown(scope, key, sorted(elements, elements, wish), wish);
          }
          return lookup(
              scope,
              key,
              List.of(by),
              elements,
              values -> shown(scope, key, sorted(elements, values, wish), wish));
        });
  }

  private static Wish wish(Words words, boolean stores) {
    byte[] by = null;
    List<byte[]> get = new ArrayList<>();
    long offset = 0;
    long count = -1;
    boolean descending = false;
    boolean asTexts = false;
    while (words.hasNext()) {
      switch (words.option()) {
        case "ASC" -> descending = false;
        case "DESC" -> descending = true;
        case "ALPHA" -> asTexts = true;
        case "LIMIT" -> {
          offset = words.integer();
          count = words.integer();
        }
        case "BY" -> by = words.next();
        case "GET" -> get.add(words.next());
        case "STORE" -> {
          if (!stores) {
            throw RedisErrors.syntax();
          }
          words.next();
          throw new RedisException("ERR SORT ... STORE makes a list, and there are no lists");
        }
        default -> throw RedisErrors.syntax();
      }
    }
    return new Wish(by, List.copyOf(get), offset, count, descending, asTexts);
  }

  private static List<byte[]> sorted(
      List<byte[]> elements, List<byte @Nullable []> values, Wish wish) {
    List<Row> rows = new ArrayList<>(elements.size());
    for (int i = 0; i < elements.size(); i++) {
      byte[] value = values.get(i);
      boolean isNumber = !wish.asTexts && !wish.isUnsorted() && value != null;
      rows.add(new Row(elements.get(i), value, isNumber ? Numbers.score(value, NO_NUMBER) : 0));
    }
    if (!wish.isUnsorted()) {
      Comparator<Row> order =
          wish.asTexts
              ? Comparator.comparing(
                  Row::by, Comparator.nullsFirst((a, b) -> Arrays.compareUnsigned(a, b)))
              : Comparator.comparingDouble(Row::score);
      if (wish.by == null || !wish.asTexts) {
        // Elements with equal values are ordered by their bytes.
        order = order.thenComparing(Row::element, Arrays::compareUnsigned);
      }
      rows.sort(wish.descending ? order.reversed() : order);
    }
    long from = Math.clamp(wish.offset, 0, rows.size());
    long to = wish.count < 0 ? rows.size() : Math.min(rows.size() - from, wish.count) + from;
    return rows.subList((int) from, (int) to).stream().map(Row::element).toList();
  }

  private static Plan shown(Scope scope, Key key, List<byte[]> elements, Wish wish) {
    if (wish.get.isEmpty()) {
      return Plan.answer(Texts.bulks(elements));
    }
    return lookup(
        scope,
        key,
        wish.get,
        elements,
        values ->
            Plan.answer(
                new RespValue.Array(
                    values.stream()
                        .map(v -> v == null ? RespValue.NULL : new RespValue.Bulk(v))
                        .toList())));
  }

  /** The step that follows from values that were looked up. */
  private interface Then {
    Plan of(List<byte @Nullable []> values);
  }

  /**
   * Looks up, for each element and each pattern, the value of the key or field that the pattern
   * names; null where there is none.
   */
  private static Plan lookup(
      Scope scope, Key key, List<byte[]> patterns, List<byte[]> elements, Then then) {
    long stars = patterns.stream().filter(pattern -> star(pattern) >= 0).count();
    Plans.checkCalls(stars * elements.size());
    if ((long) patterns.size() * elements.size() > VALUES_MAX) {
      throw new RedisException("ERR too many values at once: at most " + VALUES_MAX);
    }
    List<Call> calls = new ArrayList<>();
    List<Key> keys = new ArrayList<>(List.of(key));
    for (byte[] element : elements) {
      for (byte[] pattern : patterns) {
        if (star(pattern) >= 0) {
          Call call = call(pattern, element);
          calls.add(call);
          keys.add(call.key());
        }
      }
    }
    Plans.checkOnePartition(scope, keys);
    if (calls.isEmpty()) {
      return then.of(values(patterns, elements, List.of()));
    }
    return Plans.reads(scope, calls, parts -> then.of(values(patterns, elements, parts)));
  }

  private static List<byte @Nullable []> values(
      List<byte[]> patterns, List<byte[]> elements, List<Reply> parts) {
    List<byte @Nullable []> values = new ArrayList<>();
    int at = 0;
    for (byte[] element : elements) {
      for (byte[] pattern : patterns) {
        if (star(pattern) >= 0) {
          values.add(value(parts.get(at++), fieldOf(pattern)));
        } else {
          values.add(Arrays.equals(pattern, new byte[] {'#'}) ? element : null);
        }
      }
    }
    return values;
  }

  private static byte @Nullable [] value(Reply part, @Nullable String field) {
    if (!(part instanceof Reply.Answer answer) || !answer.exists()) {
      return null; // a failure, such as a key of another type, counts as no value
    }
    if (field != null) {
      return Texts.isHash(answer.type().orElseThrow()) ? Texts.fields(answer).get(field) : null;
    }
    return Texts.string(answer.type().orElseThrow(), answer.reading().orElseThrow()).orElse(null);
  }

  private static Call call(byte[] pattern, byte[] element) {
    String field = fieldOf(pattern);
    int star = star(pattern);
    int end = field == null ? pattern.length : arrow(pattern);
    byte[] name = new byte[end - 1 + element.length];
    System.arraycopy(pattern, 0, name, 0, star);
    System.arraycopy(element, 0, name, star, element.length);
    System.arraycopy(pattern, star + 1, name, star + element.length, end - star - 1);
    return Plans.readCall(
        Key.of(name), field == null ? Plans.WHOLE : new Query.Select(List.of(field)));
  }

  private static int star(byte[] pattern) {
    for (int i = 0; i < pattern.length; i++) {
      if (pattern[i] == '*') {
        return i;
      }
    }
    return -1;
  }

  /** Returns the field behind the arrow that follows the star; null if there is none. */
  private static @Nullable String fieldOf(byte[] pattern) {
    int arrow = arrow(pattern);
    return arrow < 0 ? null : Texts.name(Arrays.copyOfRange(pattern, arrow + 2, pattern.length));
  }

  private static int arrow(byte[] pattern) {
    int arrow = new String(pattern, StandardCharsets.ISO_8859_1).indexOf("->", star(pattern));
    return arrow < 0 || arrow + 2 == pattern.length ? -1 : arrow;
  }
}
