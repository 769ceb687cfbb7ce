package io.osier.datacenter.redis.command.data;

import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.FieldNames;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.protocol.Reply;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Converts Osier's values to Redis' bytes and back. A word from a client becomes a text if it is
 * UTF-8, else bytes; a lookup also finds a number that is written like the word, which a Java
 * program may have made. Static, for any thread.
 */
public final class Texts {
  static final byte[] NOTHING = {};
  private static final int REAL_TEXT_MAX = 32;

  private Texts() {}

  /** Returns a value's bytes; not to be changed. */
  static byte[] bytes(Value value) {
    return value instanceof Value.Bytes b
        ? b.content()
        : value.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the answer for a value; the bytes of a text are made when they are sent. */
  static RespValue bulk(Value value) {
    return value instanceof Value.Str text
        ? new RespValue.Text(text)
        : new RespValue.Bulk(bytes(value));
  }

  /**
   * Returns all values that are written as these bytes; the first one is the value that the bytes
   * become.
   */
  static List<Value> written(byte[] bytes) {
    List<Value> values = new ArrayList<>(2);
    values.add(Value.ofText(bytes));
    OptionalLong number = Numbers.parse(bytes);
    if (number.isPresent()) {
      values.add(Value.of(number.getAsLong()));
    } else if (mayBeReal(bytes)) {
      String text = new String(bytes, StandardCharsets.ISO_8859_1);
      try {
        double real = Double.parseDouble(text);
        if (Double.toString(real).equals(text)) {
          values.add(Value.of(real));
        }
      } catch (NumberFormatException e) {
        // No number, though it has the characters of one.
      }
    }
    return values;
  }

  /**
   * Returns whether bytes consist of characters that Double.toString writes, with a point among
   * them, or are the name of a special number.
   */
  private static boolean mayBeReal(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > REAL_TEXT_MAX || !isRealsFirst(bytes[0])) {
      return false;
    }
    boolean hasPoint = false;
    for (byte b : bytes) {
      if (b == '.') {
        hasPoint = true;
      } else if ((b < '0' || b > '9') && b != '-' && b != 'E') {
        return isReal(bytes, "NaN") || isReal(bytes, "Infinity") || isReal(bytes, "-Infinity");
      }
    }
    return hasPoint;
  }

  private static boolean isReal(byte[] bytes, String text) {
    return Utf8.isAscii(bytes, 0, bytes.length, text);
  }

  private static boolean isRealsFirst(byte b) {
    return b == '-' || b == 'N' || b == 'I' || (b >= '0' && b <= '9');
  }

  static List<Value> written(List<byte[]> words) {
    List<Value> values = new ArrayList<>(words.size());
    words.forEach(word -> values.addAll(written(word)));
    return values;
  }

  /** Returns the values that words become, each once. */
  static List<Value> values(List<byte[]> words) {
    Set<Value> values = new TreeSet<>();
    words.forEach(word -> values.add(Value.ofText(word)));
    return List.copyOf(values);
  }

  /** Returns how many different words are among some values. */
  static long count(List<byte[]> words, List<Value> among) {
    if (among.isEmpty()) {
      return 0;
    }
    if (words.size() == 1) {
      return written(words.getFirst()).stream().anyMatch(among::contains) ? 1 : 0;
    }
    Set<Value> there = new TreeSet<>(among);
    Set<Value> counted = new TreeSet<>();
    for (byte[] word : words) {
      if (written(word).stream().anyMatch(there::contains)) {
        counted.add(Value.ofText(word));
      }
    }
    return counted.size();
  }

  /** Returns elements as bytes, each once. */
  static List<byte[]> elements(List<Value> values) {
    return texts(values).stream().map(Texts::bytes).toList();
  }

  /**
   * Returns elements as the values that their bytes would become, each once. They are compared by
   * order and not by hash, as clients may choose elements of equal hashes.
   */
  static Collection<Value> texts(List<Value> values) {
    if (values.stream().allMatch(Texts::isText)) {
      return values;
    }
    Set<Value> texts = new TreeSet<>();
    values.forEach(value -> texts.add(Value.ofText(bytes(value))));
    return texts;
  }

  private static boolean isText(Value value) {
    return value instanceof Value.Str
        || (value instanceof Value.Bytes && Value.ofText(bytes(value)) instanceof Value.Bytes);
  }

  static RespValue.Array bulks(List<byte[]> many) {
    List<RespValue> bulks = new ArrayList<>(many.size());
    many.forEach(bytes -> bulks.add(new RespValue.Bulk(bytes)));
    return new RespValue.Array(bulks);
  }

  static RespValue bulk(Optional<byte[]> bytes) {
    return bytes.isPresent() ? new RespValue.Bulk(bytes.get()) : RespValue.NULL;
  }

  /**
   * Returns what a key holds, as Redis' string.
   *
   * @return empty if the key is absent
   * @throws RedisException WRONGTYPE if the key holds something else
   */
  static Optional<byte[]> string(Reply.Answer answer) {
    if (!answer.exists()) {
      return Optional.empty();
    }
    CrdtType type = answer.type().orElseThrow();
    return Optional.of(
        string(type, answer.reading().orElseThrow()).orElseThrow(RedisErrors::wrongType));
  }

  /** As {@link #string(Reply.Answer)}; no bytes if the key is absent. */
  static byte[] stringBytes(Reply.Answer answer) {
    return string(answer).orElse(NOTHING);
  }

  /** Returns the answer of GET to {@link #string(Reply.Answer)}; null if the key is absent. */
  static RespValue shown(Reply.Answer answer) {
    return answer.exists() && answer.reading().orElseThrow() instanceof Reading.Single single
        ? single.value().map(Texts::bulk).orElse(RespValue.NULL)
        : bulk(string(answer));
  }

  /** As {@link #string(Reply.Answer)}; empty also if it is not a string to Redis. */
  static Optional<byte[]> string(CrdtType type, Reading reading) {
    if (!isString(type)) {
      return Optional.empty();
    }
    return switch (reading) {
      case Reading.Single r -> r.value().map(Texts::bytes);
      case Reading.Count r -> Optional.of(Numbers.text(r.value()));
      case Reading.Rights r -> Optional.of(Numbers.text(r.value()));
      case Reading.Flag r -> Optional.of(Numbers.text(r.value() ? 1 : 0));
      // Of several concurrent values the greatest wins, as with equal timestamps.
      case Reading.Many r -> r.values().isEmpty() ? Optional.empty() : last(r.values());
      case Reading.Fields r -> Optional.empty();
    };
  }

  private static Optional<byte[]> last(List<Value> values) {
    return Optional.of(bytes(values.getLast()));
  }

  static Operation assign(byte[] bytes) {
    return new Operation.Assign(Value.ofText(bytes));
  }

  static String name(byte[] word) {
    String name = FieldNames.of(word);
    if (Utf8.length(name) > FieldId.NAME_LENGTH_MAX) {
      throw new RedisException(
          "ERR a hash's field has at most " + FieldId.NAME_LENGTH_MAX + " bytes");
    }
    return name;
  }

  static List<String> names(List<byte[]> words) {
    return words.stream().map(Texts::name).toList();
  }

  static Operation.FieldUpdate fieldUpdate(String name, Operation operation) {
    return new Operation.FieldUpdate(new FieldId(name, CrdtType.STRING), operation);
  }

  static Operation update(String name, Operation operation) {
    return new Operation.UpdateFields(List.of(fieldUpdate(name, operation)));
  }

  /**
   * Returns a hash's fields; none if the key is absent.
   *
   * @throws RedisException WRONGTYPE if it is no hash
   */
  static Map<String, byte[]> fields(Reply.Answer answer) {
    if (!answer.exists()) {
      return Map.of();
    }
    check(answer, Texts::isHash);
    return fields(answer.reading().orElseThrow());
  }

  /**
   * Checks that a key is absent or holds an object of a kind.
   *
   * @throws RedisException WRONGTYPE if it does not
   */
  static void check(Reply.Answer answer, Predicate<CrdtType> kind) {
    if (answer.exists() && !kind.test(answer.type().orElseThrow())) {
      throw RedisErrors.wrongType();
    }
  }

  /** Returns a hash's fields that are strings to Redis, by their names, in the order of names. */
  static Map<String, byte[]> fields(Reading reading) {
    Map<String, byte[]> fields = new LinkedHashMap<>();
    for (Map.Entry<FieldId, Reading> e : reading.asFields().fields().entrySet()) {
      FieldId field = e.getKey();
      Optional<byte[]> value = string(field.type(), e.getValue());
      if (value.isPresent()) {
        // Of several fields of one name the string that a Redis client wrote, else the first.
        if (field.type() == CrdtType.STRING) {
          fields.put(field.name(), value.get());
        } else {
          fields.putIfAbsent(field.name(), value.get());
        }
      }
    }
    return fields;
  }

  static byte[] fieldName(String name) {
    return FieldNames.bytes(name);
  }

  public static boolean isString(CrdtType type) {
    return switch (type) {
      case PN_COUNTER,
          G_COUNTER,
          LWW_REGISTER,
          MV_REGISTER,
          EW_FLAG,
          DW_FLAG,
          BOUNDED_COUNTER,
          STRING,
          MIN_REGISTER,
          MAX_REGISTER ->
          true;
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS, OR_MAP -> false;
    };
  }

  static boolean isSet(CrdtType type) {
    return !isString(type) && !isHash(type);
  }

  static boolean isHash(CrdtType type) {
    return type == CrdtType.OR_MAP;
  }

  /** Returns the answer of TYPE. */
  public static String typeName(CrdtType type) {
    return isString(type) ? "string" : isHash(type) ? "hash" : "set";
  }
}
