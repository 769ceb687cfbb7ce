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
 * Osier's values as Redis' bytes, and back. What comes from outside is a text if it is UTF-8, and
 * bytes else; a lookup also finds a number that is written so, which a Java program may have made.
 * Static, for any thread.
 */
public final class Texts {
  static final byte[] NOTHING = {};
  private static final int REAL_TEXT_MAX = 32;

  private Texts() {}

  /** A value's bytes; not to be changed. */
  static byte[] bytes(Value value) {
    return value instanceof Value.Bytes b
        ? b.content()
        : value.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** A value, whose bytes are not made before they are sent. */
  static RespValue bulk(Value value) {
    return value instanceof Value.Str text
        ? new RespValue.Text(text)
        : new RespValue.Bulk(bytes(value));
  }

  /** All values that are written so; first the one that such bytes become. */
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
        // Written as no number is, with the characters of one.
      }
    }
    return values;
  }

  /** Whether bytes have only characters that Double.toString writes, and the point among them. */
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

  /** The values that words become, each once. */
  static List<Value> values(List<byte[]> words) {
    Set<Value> values = new TreeSet<>();
    words.forEach(word -> values.add(Value.ofText(word)));
    return List.copyOf(values);
  }

  /** How many different words are among some values. */
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

  /** Elements as they are written, each once. */
  static List<byte[]> elements(List<Value> values) {
    return texts(values).stream().map(Texts::bytes).toList();
  }

  /**
   * Elements as what they would be if they came from outside, each once. Told apart by their order,
   * as clients may choose elements that all have one hash.
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
   * What a key holds, as Redis' string.
   *
   * @return empty if it is not there
   * @throws RedisException WRONGTYPE if it is none
   */
  static Optional<byte[]> string(Reply.Answer answer) {
    if (!answer.exists()) {
      return Optional.empty();
    }
    CrdtType type = answer.type().orElseThrow();
    return Optional.of(
        string(type, answer.reading().orElseThrow()).orElseThrow(RedisErrors::wrongType));
  }

  /** As {@link #string(Reply.Answer)}; no bytes if it is not there. */
  static byte[] stringBytes(Reply.Answer answer) {
    return string(answer).orElse(NOTHING);
  }

  /** As {@link #string(Reply.Answer)}, as it is answered; null if it is not there. */
  static RespValue shown(Reply.Answer answer) {
    return answer.exists() && answer.reading().orElseThrow() instanceof Reading.Single single
        ? single.value().map(Texts::bulk).orElse(RespValue.NULL)
        : bulk(string(answer));
  }

  /** As {@link #string(Reply.Answer)}; empty also if it is no string. */
  static Optional<byte[]> string(CrdtType type, Reading reading) {
    if (!isString(type)) {
      return Optional.empty();
    }
    return switch (reading) {
      case Reading.Single r -> r.value().map(Texts::bytes);
      case Reading.Count r -> Optional.of(Numbers.text(r.value()));
      case Reading.Rights r -> Optional.of(Numbers.text(r.value()));
      case Reading.Flag r -> Optional.of(Numbers.text(r.value() ? 1 : 0));
      // Of several concurrent ones the greatest, as of equal timestamps.
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

  /** What was read of a hash; nothing of one that is not there. */
  static Map<String, byte[]> fields(Reply.Answer answer) {
    if (!answer.exists()) {
      return Map.of();
    }
    check(answer, Texts::isHash);
    return fields(answer.reading().orElseThrow());
  }

  /** Checks that a key holds an object of a kind, or nothing. */
  static void check(Reply.Answer answer, Predicate<CrdtType> kind) {
    if (answer.exists() && !kind.test(answer.type().orElseThrow())) {
      throw RedisErrors.wrongType();
    }
  }

  /** A hash's fields that are strings, by their names' bytes, in the order of names. */
  static Map<String, byte[]> fields(Reading reading) {
    Map<String, byte[]> fields = new LinkedHashMap<>();
    for (Map.Entry<FieldId, Reading> e : reading.asFields().fields().entrySet()) {
      FieldId field = e.getKey();
      Optional<byte[]> value = string(field.type(), e.getValue());
      if (value.isPresent()) {
        // A field of a name's first type, unless Redis itself has written it.
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

  /** What TYPE says. */
  public static String typeName(CrdtType type) {
    return isString(type) ? "string" : isHash(type) ? "hash" : "set";
  }
}
