package io.osier.datacenter.redis.command.data;

import io.osier.datacenter.redis.command.data.ModelKeys.Entry;
import io.osier.datacenter.redis.command.data.ModelKeys.Wrong;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A single node of Redis, as simple as it can be said. Not thread-safe. */
final class RedisModel {
  private static final String NIL = "(nil)";

  private final ModelKeys keys = new ModelKeys();
  private final ModelStrings strings = new ModelStrings(keys);

  /**
   * Does a command.
   *
   * @param millis the time
   * @param observed what was answered by whom it is compared with: what was drawn is taken from it
   * @return the answer as {@link Texted} writes it
   */
  String answer(long millis, List<String> words, String observed) {
    keys.millis = millis;
    try {
      String answer = strings.answer(words);
      if (answer == null) {
        answer = words.getFirst().startsWith("H") ? hash(words) : null;
      }
      if (answer == null) {
        answer = words.getFirst().startsWith("S") ? set(words, observed) : null;
      }
      return answer != null ? answer : key(words);
    } catch (Wrong e) {
      return "-" + e.getMessage();
    }
  }

  /** What a key holds; null if nothing. */
  @Nullable Entry entry(long millis, String key) {
    keys.millis = millis;
    return keys.get(key);
  }

  // -------------------------------------------------------------------------------- keys

  private String key(List<String> w) {
    String key = w.get(1);
    Entry entry = keys.get(key);
    switch (w.getFirst()) {
      case "DEL", "UNLINK" -> {
        return ":" + w.stream().skip(1).filter(k -> keys.get(k) != null && forget(k)).count();
      }
      case "EXISTS", "TOUCH" -> {
        return ":" + w.stream().skip(1).filter(k -> keys.get(k) != null).count();
      }
      case "TYPE" -> {
        return entry == null
            ? "+none"
            : entry.value instanceof String
                ? "+string"
                : entry.value instanceof TreeSet<?> ? "+set" : "+hash";
      }
      case "RENAME", "RENAMENX" -> {
        if (entry == null) {
          throw new Wrong("ERR no such key");
        }
        boolean onlyIfFree = w.getFirst().endsWith("NX");
        if (onlyIfFree && keys.get(w.get(2)) != null) {
          return ":0";
        }
        keys.entries.remove(key);
        keys.entries.put(w.get(2), entry);
        return onlyIfFree ? ":1" : "+OK";
      }
      case "COPY" -> {
        if (key.equals(w.get(2))) {
          throw new Wrong("ERR source and destination objects are the same");
        }
        if (entry == null || (keys.get(w.get(2)) != null && w.size() == 3)) {
          return ":0";
        }
        keys.entries.put(w.get(2), copied(entry));
        return ":1";
      }
      case "PTTL" -> {
        return ":" + (entry == null ? -2 : entry.deadline < 0 ? -1 : entry.deadline - keys.millis);
      }
      case "TTL" -> {
        return ":"
            + (entry == null
                ? -2
                : entry.deadline < 0 ? -1 : (entry.deadline - keys.millis + 500) / 1_000);
      }
      case "PEXPIRETIME" -> {
        return ":" + (entry == null ? -2 : entry.deadline);
      }
      case "PERSIST" -> {
        if (entry == null || entry.deadline == ModelKeys.NEVER) {
          return ":0";
        }
        entry.deadline = ModelKeys.NEVER;
        return ":1";
      }
      case "EXPIRE", "PEXPIRE", "PEXPIREAT" -> {
        return expire(w, entry);
      }
      default -> {
        throw new AssertionError("no such command: " + w);
      }
    }
  }

  private boolean forget(String key) {
    keys.entries.remove(key);
    return true;
  }

  private static Entry copied(Entry entry) {
    Object value =
        switch (entry.value) {
          case TreeSet<?> elements -> new TreeSet<>(elements);
          case TreeMap<?, ?> fields -> new TreeMap<>(fields);
          default -> entry.value;
        };
    Entry copy = new Entry(value);
    copy.deadline = entry.deadline;
    copy.deadlines.putAll(entry.deadlines);
    return copy;
  }

  private String expire(List<String> w, @org.jspecify.annotations.Nullable Entry entry) {
    long number = ModelKeys.integer(w.get(2));
    long millis = w.getFirst().equals("EXPIRE") ? number * 1_000 : number;
    long deadline = w.getFirst().endsWith("AT") ? millis : keys.millis + millis;
    if (entry == null) {
      return ":0";
    }
    for (String option : w.subList(3, w.size())) {
      boolean never = entry.deadline == ModelKeys.NEVER;
      boolean allowed =
          switch (option) {
            case "NX" -> never;
            case "XX" -> !never;
            case "GT" -> !never && deadline > entry.deadline;
            default -> never || deadline < entry.deadline;
          };
      if (!allowed) {
        return ":0";
      }
    }
    entry.deadline = Math.max(0, deadline);
    return ":1";
  }

  // ------------------------------------------------------------------------------ hashes

  private @org.jspecify.annotations.Nullable String hash(List<String> w) {
    String key = w.get(1);
    // Redis looks at numbers before it looks at the key.
    long amount = w.getFirst().equals("HINCRBY") ? ModelKeys.integer(w.get(3)) : 0;
    BigDecimal added =
        w.getFirst().equals("HINCRBYFLOAT")
            ? ModelStrings.decimal(w.get(3), "ERR value is not a valid float")
            : BigDecimal.ZERO;
    TreeMap<String, String> fields = keys.fields(key);
    int size = fields.size();
    List<String> names = w.subList(2, w.size());
    switch (w.getFirst()) {
      case "HSET", "HMSET" -> {
        for (int i = 2; i < w.size(); i += 2) {
          fields.put(w.get(i), w.get(i + 1));
        }
        keys.keep(key, fields, false);
        return w.getFirst().equals("HSET") ? ":" + (fields.size() - size) : "+OK";
      }
      case "HSETNX" -> {
        if (fields.putIfAbsent(w.get(2), w.get(3)) != null) {
          return ":0";
        }
        keys.keep(key, fields, false);
        return ":1";
      }
      case "HGET" -> {
        return bulk(fields.get(w.get(2)));
      }
      case "HMGET" -> {
        return array(names.stream().map(n -> bulk(fields.get(n))).toList());
      }
      case "HGETALL" -> {
        List<String> pairs = new ArrayList<>();
        for (Map.Entry<String, String> e : fields.entrySet()) {
          pairs.add("$" + e.getKey() + " $" + e.getValue());
        }
        return array(pairs);
      }
      case "HKEYS" -> {
        return bulks(fields.keySet());
      }
      case "HVALS" -> {
        return bulks(fields.values().stream().sorted().toList());
      }
      case "HLEN" -> {
        return ":" + size;
      }
      case "HDEL" -> {
        names.forEach(fields::remove);
        Entry entry = keys.get(key);
        if (entry != null) {
          names.forEach(entry.deadlines::remove);
        }
        keys.keep(key, fields, fields.isEmpty());
        return ":" + (size - fields.size());
      }
      case "HEXISTS" -> {
        return ":" + (fields.containsKey(w.get(2)) ? 1 : 0);
      }
      case "HSTRLEN" -> {
        return ":" + fields.getOrDefault(w.get(2), "").length();
      }
      case "HINCRBY" -> {
        long number =
            ModelKeys.integer(
                fields.getOrDefault(w.get(2), "0"), "ERR hash value is not an integer");
        try {
          fields.put(w.get(2), Long.toString(Math.addExact(number, amount)));
        } catch (ArithmeticException e) {
          throw new Wrong("ERR increment or decrement would overflow");
        }
        keys.keep(key, fields, false);
        return ":" + fields.get(w.get(2));
      }
      case "HINCRBYFLOAT" -> {
        String former = fields.getOrDefault(w.get(2), "0");
        BigDecimal number = ModelStrings.decimal(former, "ERR hash value is not a float");
        fields.put(w.get(2), ModelStrings.sum(former, number, added));
        keys.keep(key, fields, false);
        return bulk(fields.get(w.get(2)));
      }
      case "HPEXPIRE", "HPTTL", "HPERSIST" -> {
        return array(deadlines(w, keys.get(key), fields));
      }
      default -> {
        return null;
      }
    }
  }

  private List<String> deadlines(
      List<String> w, @org.jspecify.annotations.Nullable Entry entry, Map<String, String> fields) {
    List<String> answers = new ArrayList<>();
    for (String name : w.subList(w.indexOf("FIELDS") + 2, w.size())) {
      if (entry == null || !fields.containsKey(name)) {
        answers.add(":-2");
        continue;
      }
      Long deadline = entry.deadlines.get(name);
      switch (w.getFirst()) {
        case "HPTTL" -> answers.add(":" + (deadline == null ? -1 : deadline - keys.millis));
        case "HPERSIST" -> answers.add(entry.deadlines.remove(name) == null ? ":-1" : ":1");
        default -> {
          long millis = ModelKeys.integer(w.get(2));
          if (w.contains("NX") && deadline != null) {
            answers.add(":0");
          } else {
            entry.deadlines.put(name, keys.millis + millis);
            answers.add(millis == 0 ? ":2" : ":1");
          }
        }
      }
    }
    return answers;
  }

  // -------------------------------------------------------------------------------- sets

  private @org.jspecify.annotations.Nullable String set(List<String> w, String observed) {
    String key = w.get(1);
    List<String> words = w.subList(2, w.size());
    switch (w.getFirst()) {
      case "SADD",
          "SREM",
          "SMEMBERS",
          "SISMEMBER",
          "SMISMEMBER",
          "SCARD",
          "SPOP",
          "SRANDMEMBER" -> {
        return set(w.getFirst(), key, words, observed);
      }
      case "SMOVE" -> {
        return move(key, w.get(2), w.get(3));
      }
      case "SINTER", "SUNION", "SDIFF" -> {
        return bulks(combined(w.getFirst(), w.subList(1, w.size())));
      }
      case "SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE" -> {
        TreeSet<String> stored = combined(w.getFirst().replace("STORE", ""), words);
        keys.entries.remove(key);
        keys.keep(key, stored, stored.isEmpty());
        return ":" + stored.size();
      }
      case "SINTERCARD" -> {
        return ":" + combined("SINTER", words).size();
      }
      default -> {
        return null;
      }
    }
  }

  private String set(String command, String key, List<String> words, String observed) {
    TreeSet<String> elements = keys.elements(key);
    int size = elements.size();
    switch (command) {
      case "SADD" -> {
        elements.addAll(words);
        keys.keep(key, elements, false);
        return ":" + (elements.size() - size);
      }
      case "SREM" -> {
        words.forEach(elements::remove);
        keys.keep(key, elements, elements.isEmpty());
        return ":" + (size - elements.size());
      }
      case "SMEMBERS" -> {
        return bulks(elements);
      }
      case "SCARD" -> {
        return ":" + size;
      }
      case "SPOP", "SRANDMEMBER" -> {
        if (elements.isEmpty()) {
          return NIL;
        }
        boolean isOne = observed.startsWith("$") && elements.contains(observed.substring(1));
        if (isOne && command.equals("SPOP")) {
          elements.remove(observed.substring(1));
          keys.keep(key, elements, elements.isEmpty());
        }
        return isOne ? observed : "one of " + elements;
      }
      case "SISMEMBER" -> {
        return ":" + (elements.contains(words.getFirst()) ? 1 : 0);
      }
      default -> {
        return array(words.stream().map(e -> elements.contains(e) ? ":1" : ":0").toList());
      }
    }
  }

  private String move(String from, String to, String element) {
    if (keys.get(from) == null) {
      return ":0";
    }
    TreeSet<String> source = keys.elements(from);
    TreeSet<String> target = keys.elements(to);
    if (!source.contains(element)) {
      return ":0";
    }
    if (!from.equals(to)) {
      source.remove(element);
      target.add(element);
      keys.keep(from, source, source.isEmpty());
      keys.keep(to, target, false);
    }
    return ":1";
  }

  private TreeSet<String> combined(String command, List<String> of) {
    List<TreeSet<String>> sets = of.stream().map(keys::elements).toList();
    TreeSet<String> result = new TreeSet<>(sets.getFirst());
    for (TreeSet<String> set : sets.subList(1, sets.size())) {
      switch (command) {
        case "SINTER" -> result.retainAll(set);
        case "SUNION" -> result.addAll(set);
        default -> result.removeAll(set);
      }
    }
    return result;
  }

  private static String bulk(@org.jspecify.annotations.Nullable String text) {
    return text == null ? NIL : "$" + text;
  }

  private static String bulks(Collection<String> texts) {
    return array(texts.stream().map(t -> "$" + t).toList());
  }

  private static String array(List<String> parts) {
    return "[" + String.join(" ", parts) + "]";
  }
}
