package io.osier.datacenter.redis;

import io.osier.core.Value;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** What a command answers: a value of RESP3, which RESP2 has a form for, too. */
public sealed interface RespValue {
  RespValue OK = new Simple("OK");

  /** What a value takes besides its bytes, about. */
  int VALUE_BYTES = 16;

  RespValue NULL = new Null();

  /** What a value takes, about, in bytes. */
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
   * What went wrong.
   *
   * @param text begins with a word in capitals, as in {@code ERR syntax error}; without line ends
   */
  record Err(String text) implements RespValue {
    /** Longer ones repeat what a client has sent. */
    static final int LENGTH_MAX = 1_024;

    public Err {
      if (text.length() > LENGTH_MAX) {
        text = text.substring(0, LENGTH_MAX) + "...";
      }
    }
  }

  /** A whole number. */
  record Int(long value) implements RespValue {}

  /** Bytes, which nobody changes. */
  record Bulk(byte[] bytes) implements RespValue {
    public static Bulk of(String text) {
      return new Bulk(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** The bytes of a text, which are made when they are written. */
  record Text(Value.Str text) implements RespValue {
    public int length() {
      return text.utf8Length();
    }

    public byte[] bytes() {
      return text.content().getBytes(StandardCharsets.UTF_8);
    }
  }

  /** What is not there; in RESP2 a null bulk. */
  record Null() implements RespValue {}

  /** What was written elsewhere, in the protocol of who is answered. */
  record Encoded(byte[] bytes) implements RespValue {}

  /** In RESP2 a null array, in RESP3 null. */
  record NullArray() implements RespValue {}

  /** Several values, one after the other. */
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

  /** Keys with their values, one after the other; in RESP2 an array. */
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

  /** What comes without having been asked for; in RESP2 an array. */
  record Push(List<RespValue> values) implements Many {
    public Push {
      values = List.copyOf(values);
    }
  }
}
