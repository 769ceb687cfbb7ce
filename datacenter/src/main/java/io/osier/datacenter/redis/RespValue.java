package io.osier.datacenter.redis;

import io.osier.core.Value;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** An answer to a command: a value of RESP3, which has a form in RESP2 as well. Immutable. */
public sealed interface RespValue {
  RespValue OK = new Simple("OK");

  /** Bytes of heap that a value takes besides its content, about. */
  int VALUE_BYTES = 16;

  RespValue NULL = new Null();

  /** Returns how many bytes of heap a value takes, about. */
  static long bytesOf(RespValue value) {
    return switch (value) {
      case Bulk v -> VALUE_BYTES + v.bytes().length;
      case Text v -> VALUE_BYTES + v.length();
      case Err v -> VALUE_BYTES + v.text().length();
      case Encoded v -> VALUE_BYTES + v.bytes().length;
      case Many v -> {
        long sum = VALUE_BYTES;
        for (RespValue each : v.values()) {
          sum += bytesOf(each);
        }
        yield sum;
      }
      default -> VALUE_BYTES;
    };
  }

  /** Returns an array of some values. */
  static Array array(RespValue... values) {
    return new Array(List.of(values));
  }

  /**
   * Returns pairs of names and values.
   *
   * @param all a name, its value, the next name, and so on: a text stands for its bytes, a number
   *     for a whole number
   */
  static Pairs pairs(Object... all) {
    List<RespValue> values = new ArrayList<>(all.length);
    for (Object each : all) {
      values.add(
          switch (each) {
            case RespValue value -> value;
            case Number number -> new Int(number.longValue());
            default -> Bulk.of((String) each);
          });
    }
    return new Pairs(values);
  }

  /** A short text without line ends. */
  record Simple(String text) implements RespValue {}

  /**
   * An error.
   *
   * @param text begins with a word in capitals, as in {@code ERR syntax error}; has no line ends;
   *     is cut behind {@value #LENGTH_MAX} characters
   */
  record Err(String text) implements RespValue {
    /** Most characters of an error: only one that repeats what a client has sent is longer. */
    static final int LENGTH_MAX = 1_024;

    public Err {
      if (text.length() > LENGTH_MAX) {
        text = text.substring(0, LENGTH_MAX) + "...";
      }
    }
  }

  /** A whole number. */
  record Int(long value) implements RespValue {}

  /** A bulk string. Nobody may change its bytes. */
  record Bulk(byte[] bytes) implements RespValue {
    public static Bulk of(String text) {
      return new Bulk(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** A bulk string whose bytes are made from a text when they are written. */
  record Text(Value.Str text) implements RespValue {
    public int length() {
      return text.utf8Length();
    }

    public byte[] bytes() {
      return text.content().getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Nothing, as for an absent key; in RESP2 a null bulk string. */
  record Null() implements RespValue {}

  /** An answer that another datacenter has encoded already, in the protocol of this client. */
  record Encoded(byte[] bytes) implements RespValue {}

  /** Nothing; in RESP2 a null array, in RESP3 null. */
  record NullArray() implements RespValue {}

  /** A value that consists of several ones. */
  sealed interface Many extends RespValue {
    List<RespValue> values();
  }

  record Array(List<RespValue> values) implements Many {
    public Array {
      values = List.copyOf(values);
    }

    public static <T> Array of(Collection<T> all, Function<? super T, ? extends RespValue> as) {
      return new Array(all.stream().<RespValue>map(as).toList());
    }
  }

  /** Pairs: names with their values, one after the other; in RESP2 an array. */
  record Pairs(List<RespValue> values) implements Many {
    public Pairs {
      values = List.copyOf(values);
    }
  }

  /** Elements of a set; in RESP2 an array. */
  record Elements(List<RespValue> values) implements Many {
    public Elements {
      values = List.copyOf(values);
    }
  }

  /** A push: a message or change that the client did not ask for; in RESP2 an array. */
  record Push(List<RespValue> values) implements Many {
    public Push {
      values = List.copyOf(values);
    }
  }
}
