package io.osier.proxy.values;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.DefaultArraySerializers;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.serializers.OptionalSerializers;
import com.esotericsoftware.kryo.serializers.TimeSerializers;
import io.osier.core.OsierException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Kryo set up for trees of objects of registered classes, with equal bytes for equal objects. Class
 * numbers below {@link #FIRST} are the library's own; they are stored in values and must not
 * change. Not thread-safe.
 */
final class ObjectKryo extends Kryo {
  /** The lowest class number for a program's classes. */
  private static final int FIRST = 64;

  /** Deepest nesting of objects. */
  private static final int DEPTH_MAX = 100;

  private static final int BUFFER_BYTES = 64;
  private static final int BYTES_MAX = 1 << 28;

  /** The classes that need not be registered. */
  private static final Map<Class<?>, Serializer<?>> KNOWN = known();

  ObjectKryo(Map<Integer, Class<?>> classes) {
    setRegistrationRequired(true);
    setReferences(false);
    setMaxDepth(DEPTH_MAX);
    int number = 10; // Kryo has registered primitives and strings
    for (Map.Entry<Class<?>, Serializer<?>> entry : KNOWN.entrySet()) {
      register(entry.getKey(), entry.getValue(), number++);
    }
    if (number > FIRST) {
      throw new IllegalStateException("too many classes are registered at first");
    }
    classes.forEach(
        (at, type) ->
            register(
                type,
                type.isEnum() ? new Constants(type.asSubclass(Enum.class)) : parts(type),
                FIRST + at));
  }

  private static Map<Class<?>, Serializer<?>> known() {
    Map<Class<?>, Serializer<?>> known = new LinkedHashMap<>(); // in the order of their numbers
    known.put(List.class, new Lists());
    known.put(Set.class, new Sets());
    known.put(Map.class, new Maps());
    known.put(byte[].class, new DefaultArraySerializers.ByteArraySerializer());
    known.put(Optional.class, new OptionalSerializers.OptionalSerializer());
    known.put(UUID.class, new DefaultSerializers.UUIDSerializer());
    known.put(URI.class, new DefaultSerializers.URISerializer());
    known.put(BigInteger.class, new DefaultSerializers.BigIntegerSerializer());
    known.put(BigDecimal.class, new DefaultSerializers.BigDecimalSerializer());
    known.put(Instant.class, new TimeSerializers.InstantSerializer());
    known.put(Duration.class, new TimeSerializers.DurationSerializer());
    known.put(LocalDate.class, new TimeSerializers.LocalDateSerializer());
    known.put(LocalTime.class, new TimeSerializers.LocalTimeSerializer());
    known.put(LocalDateTime.class, new TimeSerializers.LocalDateTimeSerializer());
    known.put(OffsetDateTime.class, new TimeSerializers.OffsetDateTimeSerializer());
    known.put(ZonedDateTime.class, new TimeSerializers.ZonedDateTimeSerializer());
    return known;
  }

  /** Returns whether objects of a class can be stored without registration. */
  static boolean isKnown(Class<?> type) {
    return KNOWN.containsKey(general(type));
  }

  private static <T> Serializer<T> parts(Class<T> type) {
    return new Parts<>(type, Members.of(type));
  }

  /** Returns the interface that stands for all lists, sets or maps; other classes as they are. */
  private static Class<?> general(Class<?> type) {
    if (Set.class.isAssignableFrom(type)) {
      return Set.class;
    }
    if (Collection.class.isAssignableFrom(type)) {
      return List.class;
    }
    return Map.class.isAssignableFrom(type) ? Map.class : type;
  }

  @Override
  @SuppressWarnings("rawtypes") // as Kryo has it
  public Registration getRegistration(Class type) {
    return super.getRegistration(general(type));
  }

  @Override
  @SuppressWarnings("rawtypes") // as Kryo has it
  protected String unregisteredClassMessage(Class type) {
    return type.getName() + " is not registered: KryoValues.builder().register(number, class)";
  }

  private static int readCount(Input in) {
    return ((CheckedInput) in).readCount();
  }

  private static byte[] encoded(Kryo kryo, @Nullable Object object) {
    try (Output out = new Output(BUFFER_BYTES, BYTES_MAX)) {
      kryo.writeClassAndObject(out, object);
      return out.toBytes();
    }
  }

  /** Stores an enum's constant by name, so that constants may be added and reordered. */
  @SuppressWarnings("rawtypes") // of any enum
  private static final class Constants extends Serializer<Enum> {
    private final Class<? extends Enum> type;

    Constants(Class<? extends Enum> type) {
      this.type = type;
      setImmutable(true);
    }

    @Override
    public void write(Kryo kryo, Output out, Enum constant) {
      out.writeString(constant.name());
    }

    @Override
    public Enum read(Kryo kryo, Input in, Class<? extends Enum> as) {
      String name = in.readString();
      for (Enum constant : type.getEnumConstants()) {
        if (constant.name().equals(name)) {
          return constant;
        }
      }
      throw new KryoException(type.getName() + " has no constant " + name);
    }
  }

  /** Stores an object's members by name. */
  private static final class Parts<T> extends Serializer<T> {
    private final Class<T> type;
    private final Members<T> members;
    private final List<Members.Member> list;

    Parts(Class<T> type, Members<T> members) {
      this.type = type;
      this.members = members;
      this.list = members.list();
    }

    @Override
    public void write(Kryo kryo, Output out, T object) {
      out.writeVarInt(list.size(), true);
      for (int index : members.sorted()) {
        out.writeString(list.get(index).name());
        kryo.writeClassAndObject(out, members.get(object, index));
      }
    }

    @Override
    public T read(Kryo kryo, Input in, Class<? extends T> as) {
      @Nullable Object[] values = members.blank();
      int count = readCount(in);
      for (int i = 0; i < count; i++) {
        String name = in.readString();
        Object value = kryo.readClassAndObject(in);
        int index = members.indexOf(name);
        if (index >= 0) { // this program may lack the member
          values[index] = fitting(list.get(index), value);
        }
      }
      try {
        return members.make(values);
      } catch (OsierException e) {
        throw new KryoException(e.reason(), e);
      }
    }

    private @Nullable Object fitting(Members.Member member, @Nullable Object value) {
      Class<?> wanted = PlainValues.wrapped(member.type());
      if (value == null ? !member.type().isPrimitive() : wanted.isInstance(value)) {
        return value;
      }
      Object wide = value == null ? null : widened(wanted, value);
      if (wide == null) {
        throw new KryoException(
            "%s.%s is a %s, and stored is %s"
                .formatted(
                    type.getName(),
                    member.name(),
                    member.type().getName(),
                    value == null ? "null" : "a " + value.getClass().getName()));
      }
      return wide;
    }

    /** Widens a number as Java does; returns null if it cannot. */
    private static @Nullable Object widened(Class<?> wanted, Object value) {
      boolean isWhole = value instanceof Integer || value instanceof Short || value instanceof Byte;
      if (wanted == Long.class && isWhole) {
        return ((Number) value).longValue();
      }
      if (wanted == Integer.class && isWhole) {
        return ((Number) value).intValue();
      }
      return wanted == Double.class && value instanceof Float f ? f.doubleValue() : null;
    }
  }

  private static final class Lists extends Serializer<Collection<?>> {
    @Override
    public void write(Kryo kryo, Output out, Collection<?> list) {
      out.writeVarInt(list.size(), true);
      list.forEach(item -> kryo.writeClassAndObject(out, item));
    }

    @Override
    public Collection<?> read(Kryo kryo, Input in, Class<? extends Collection<?>> as) {
      List<@Nullable Object> list = new ArrayList<>();
      for (int left = readCount(in); left > 0; left--) {
        list.add(kryo.readClassAndObject(in));
      }
      return Collections.unmodifiableList(list);
    }
  }

  /**
   * Stores a set's elements in the order of their bytes, since equal sets may iterate in different
   * orders.
   */
  private static final class Sets extends Serializer<Set<?>> {
    @Override
    public void write(Kryo kryo, Output out, Set<?> set) {
      out.writeVarInt(set.size(), true);
      set.stream()
          .map(item -> encoded(kryo, item))
          .sorted(Arrays::compareUnsigned)
          .forEach(out::writeBytes);
    }

    @Override
    public Set<?> read(Kryo kryo, Input in, Class<? extends Set<?>> as) {
      Set<@Nullable Object> set = new LinkedHashSet<>();
      for (int left = readCount(in); left > 0; left--) {
        if (!set.add(kryo.readClassAndObject(in))) {
          throw new KryoException("two elements of a set are equal");
        }
      }
      return Collections.unmodifiableSet(set);
    }
  }

  /** Stores a map's entries in the order of their keys' bytes. */
  private static final class Maps extends Serializer<Map<?, ?>> {
    private record Entry(byte[] key, byte[] value) {}

    @Override
    public void write(Kryo kryo, Output out, Map<?, ?> map) {
      out.writeVarInt(map.size(), true);
      map.entrySet().stream()
          .map(e -> new Entry(encoded(kryo, e.getKey()), encoded(kryo, e.getValue())))
          .sorted((a, b) -> Arrays.compareUnsigned(a.key, b.key))
          .forEach(
              e -> {
                out.writeBytes(e.key);
                out.writeBytes(e.value);
              });
    }

    @Override
    public Map<?, ?> read(Kryo kryo, Input in, Class<? extends Map<?, ?>> as) {
      Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
      for (int left = readCount(in); left > 0; left--) {
        Object key = kryo.readClassAndObject(in);
        if (map.containsKey(key)) {
          throw new KryoException("two keys of a map are equal");
        }
        map.put(key, kryo.readClassAndObject(in));
      }
      return Collections.unmodifiableMap(map);
    }
  }
}
