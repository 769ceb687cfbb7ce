package io.osier.proxy.values;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Value;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Encodes simple classes as values that every client can read. Thread-safe. */
final class PlainValues implements Values {
  static final PlainValues INSTANCE = new PlainValues();

  private static final String KNOWN =
      "String, Long, Integer, Double, Boolean, byte[], Value and enums";

  /** A codec of two functions; {@code decode} returns null for a value that is not of its class. */
  private record Of<T>(
      String what, Function<T, Value> encoder, Function<Value, @Nullable T> decoder)
      implements ValueCodec<T> {
    @Override
    public Value encode(T object) {
      return encoder.apply(object);
    }

    @Override
    public T decode(Value value) {
      T object = decoder.apply(value);
      if (object == null) {
        throw none(value, what);
      }
      return object;
    }
  }

  private static final Map<Class<?>, ValueCodec<?>> CODECS =
      Map.of(
          Value.class,
          new Of<Value>("a value", value -> value, value -> value),
          String.class,
          new Of<String>("a string", Value::of, v -> v instanceof Value.Str s ? s.content() : null),
          Long.class,
          new Of<Long>("a long", Value::of, v -> v instanceof Value.Int i ? i.content() : null),
          Integer.class,
          new Of<Integer>(
              "an int",
              i -> Value.of(i.longValue()),
              v -> v instanceof Value.Int i ? asInt(i) : null),
          Double.class,
          new Of<Double>(
              "a double", Value::of, v -> v instanceof Value.Real r ? r.content() : null),
          Boolean.class,
          new Of<Boolean>("a boolean", b -> Value.of(b ? 1 : 0), PlainValues::asBoolean),
          byte[].class,
          new Of<byte[]>(
              "bytes", Value::of, v -> v instanceof Value.Bytes b ? b.content().clone() : null));

  private PlainValues() {}

  private static @Nullable Integer asInt(Value.Int value) {
    int narrow = (int) value.content();
    return narrow == value.content() ? narrow : null;
  }

  private static @Nullable Boolean asBoolean(Value value) {
    boolean isOne = value.equals(Value.of(1));
    return (isOne || value.equals(Value.of(0))) ? isOne : null;
  }

  private static OsierException none(Value value, String what) {
    return OsierException.of(
        ErrorCode.MALFORMED,
        String.format(
            Locale.ROOT,
            "a value is no %s but %s",
            what.substring(what.indexOf(' ') + 1),
            switch (value) {
              case Value.Bytes b -> b.content().length + " bytes";
              case Value.Str s -> "a string of " + s.sizeBytes() + " bytes";
              case Value.Int i -> "the number " + i;
              case Value.Real r -> "the number " + r;
            }));
  }

  static boolean knows(Class<?> type) {
    return CODECS.containsKey(wrapped(type)) || type.isEnum();
  }

  /** Returns the wrapper class of a primitive type; other classes as they are. */
  static Class<?> wrapped(Class<?> type) {
    return MethodType.methodType(type).wrap().returnType();
  }

  @Override
  @SuppressWarnings("unchecked") // by its key
  public <T> ValueCodec<T> codec(Class<T> type) {
    ValueCodec<?> codec = CODECS.get(wrapped(Present.present(type, "a class")));
    if (codec == null && type.isEnum()) {
      codec = enumCodec(type);
    }
    if (codec == null) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          ("no codec is known for %s: plain values are %s; others need values(KryoValues"
                  + " or JsonValues) when the client is built, or a ValueCodec")
              .formatted(type.getName(), KNOWN));
    }
    return (ValueCodec<T>) codec;
  }

  private static <T> ValueCodec<T> enumCodec(Class<T> type) {
    return new Of<>(
        "a constant of " + type.getName(),
        constant -> Value.of(((Enum<?>) constant).name()),
        value ->
            value instanceof Value.Str s
                ? Arrays.stream(type.getEnumConstants())
                    .filter(c -> ((Enum<?>) c).name().equals(s.content()))
                    .findFirst()
                    .orElse(null)
                : null);
  }
}
