package io.osier.datacenter.redis.command.data;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What a single node of Redis would hold: texts of one character a byte. */
final class ModelKeys {
  static final long NEVER = -1;

  /** What a key holds: a text, a map of fields or a set. */
  static final class Entry {
    final Object value;
    long deadline = NEVER;

    /** Of fields. */
    final Map<String, Long> deadlines = new HashMap<>();

    Entry(Object value) {
      this.value = value;
    }
  }

  /** An error as Redis words it. */
  static final class Wrong extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Wrong(String error) {
      super(error);
    }
  }

  final Map<String, Entry> entries = new HashMap<>();
  long millis;

  /** What is there now. */
  @Nullable Entry get(String key) {
    Entry entry = entries.get(key);
    if (entry != null && entry.deadline != NEVER && entry.deadline <= millis) {
      entries.remove(key);
      return null;
    }
    if (entry != null && entry.value instanceof TreeMap<?, ?> fields) {
      entry.deadlines.entrySet().removeIf(e -> e.getValue() <= millis && drop(fields, e.getKey()));
      if (fields.isEmpty()) {
        entries.remove(key);
        return null;
      }
    }
    return entry;
  }

  private static boolean drop(TreeMap<?, ?> fields, String name) {
    fields.remove(name);
    return true;
  }

  /** A string; null if it is not there. */
  @Nullable String text(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return null;
    }
    if (entry.value instanceof String text) {
      return text;
    }
    throw wrongType();
  }

  static Wrong wrongType() {
    return new Wrong("WRONGTYPE Operation against a key holding the wrong kind of value");
  }

  /** Assigns a string whose deadline stays. */
  void rewrite(String key, String text) {
    Entry former = get(key);
    Entry entry = new Entry(text);
    entry.deadline = former == null ? NEVER : former.deadline;
    entries.put(key, entry);
  }

  Entry put(String key, Object value) {
    Entry entry = new Entry(value);
    entries.put(key, entry);
    return entry;
  }

  /** A hash's fields; an empty map that is not kept if it is not there. */
  @SuppressWarnings("unchecked")
  TreeMap<String, String> fields(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return new TreeMap<>();
    }
    if (entry.value instanceof TreeMap<?, ?> fields) {
      return (TreeMap<String, String>) fields;
    }
    throw wrongType();
  }

  /** A set's elements; an empty one that is not kept if it is not there. */
  @SuppressWarnings("unchecked")
  TreeSet<String> elements(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return new TreeSet<>();
    }
    if (entry.value instanceof TreeSet<?> elements) {
      return (TreeSet<String>) elements;
    }
    throw wrongType();
  }

  /** Keeps a collection that was changed, unless it is empty. */
  void keep(String key, Object value, boolean isEmpty) {
    if (isEmpty) {
      entries.remove(key);
    } else if (get(key) == null) {
      put(key, value);
    }
  }

  static long integer(String text) {
    return integer(text, "ERR value is not an integer or out of range");
  }

  static long integer(String text, String error) {
    try {
      long number = Long.parseLong(text);
      if (Long.toString(number).equals(text)) {
        return number;
      }
    } catch (NumberFormatException e) {
      // below
    }
    throw new Wrong(error);
  }
}
