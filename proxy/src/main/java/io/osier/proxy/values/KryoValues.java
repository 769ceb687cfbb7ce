package io.osier.proxy.values;

import static io.osier.core.Present.present;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.util.Pool;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Encodes objects as bytes with Kryo. Each class must be registered with a number, which is stored
 * in place of the class's name; decoding a number that is not registered fails with an error that
 * names it. Classes that {@link Values#plain} knows are encoded by it. Thread-safe.
 *
 * <p>Records, classes with a constructor without arguments and enums can be registered. Their
 * members are stored by name, so members may be added, left out and put in another order: a missing
 * member has its value in a new object (0, false, null). Members may be of primitive types, {@code
 * String}, enums and registered classes, {@code byte[]}, {@code Optional}, {@code List}, {@code
 * Set}, {@code Map}, {@code BigInteger}, {@code BigDecimal}, {@code UUID}, {@code URI} and the
 * classes of {@code java.time}; lists, sets and maps come back unmodifiable. Sets and maps are
 * stored in the order of their contents' bytes, so that equal objects have equal bytes. Objects are
 * stored as trees: an object that contains itself is refused, and an object that is referenced
 * twice is decoded as two.
 *
 * <pre>{@code
 * OsierClient.builder()
 *     .values(KryoValues.builder().register(1, Profile.class).register(2, Address.class).build())
 * }</pre>
 */
public final class KryoValues implements Values {
  /** Largest number of a class. */
  public static final int NUMBER_MAX = 1_000_000;

  /** The first byte of each value, which names the format of the rest. */
  private static final byte FORMAT = 1;

  private static final int BUFFER_BYTES = 256;

  /** Most bytes of a value; keyspaces allow less. */
  private static final int BYTES_MAX = 1 << 28;

  private static final int POOLED_MAX = 16;

  private final Map<Integer, Class<?>> classes;
  private final Pool<Kryo> kryos;

  private KryoValues(Map<Integer, Class<?>> classes) {
    this.classes = classes;
    this.kryos =
        new Pool<>(true, true, POOLED_MAX) {
          @Override
          protected Kryo create() {
            return new ObjectKryo(classes);
          }
        };
  }

  /** Starts to collect the classes. */
  public static Builder builder() {
    return new Builder();
  }

  /** The classes that may be stored. Not thread-safe. */
  public static final class Builder {
    private final Map<Integer, Class<?>> classes = new TreeMap<>();

    private Builder() {}

    /**
     * Lets objects of a class be stored.
     *
     * @param number stands for the class in all stored values, for ever: 1 to {@link #NUMBER_MAX}
     * @throws OsierException INVALID_ARGUMENT if the number or the class is registered already, or
     *     the class cannot be stored; the message says why
     */
    public Builder register(int number, Class<?> type) {
      present(type, "a class");
      if (number < 1 || number > NUMBER_MAX) {
        throw wrong(
            "the number of " + type.getName() + " must be 1 to " + NUMBER_MAX + ", not " + number);
      }
      Class<?> other = classes.get(number);
      if (other != null) {
        throw wrong(
            "number %s is that of %s: %s needs another one"
                .formatted(number, other.getName(), type.getName()));
      }
      if (classes.containsValue(type)) {
        throw wrong(type.getName() + " is registered already");
      }
      if (ObjectKryo.isKnown(type) || (PlainValues.knows(type) && !type.isEnum())) {
        throw wrong(type.getName() + " needs no number: it is known");
      }
      if (!type.isEnum()) {
        Members.of(type); // throws if the class cannot be stored
      }
      classes.put(number, type);
      return this;
    }

    /** Returns the codecs of the registered classes. */
    public KryoValues build() {
      return new KryoValues(new LinkedHashMap<>(classes));
    }
  }

  private static OsierException wrong(String what) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, what);
  }

  @Override
  public <T> ValueCodec<T> codec(Class<T> type) {
    return PlainValues.knows(present(type, "a class"))
        ? Values.plain().codec(type)
        : new Objects<>(type);
  }

  private final class Objects<T> implements ValueCodec<T> {
    private final Class<T> type;

    Objects(Class<T> type) {
      this.type = type;
      if (classes.values().stream().noneMatch(type::isAssignableFrom)
          && !ObjectKryo.isKnown(type)) {
        throw wrong(
            type.getName()
                + " is not registered: KryoValues.builder().register(number, "
                + type.getSimpleName()
                + ".class)");
      }
    }

    @Override
    public Value encode(T object) {
      Kryo kryo = kryos.obtain();
      try (Output out = new Output(BUFFER_BYTES, BYTES_MAX)) {
        out.writeByte(FORMAT);
        kryo.writeClassAndObject(out, object);
        return new Value.Bytes(out.toBytes());
      } catch (RuntimeException e) { // the object's accessors may throw, too
        throw wrong(
            "an object of " + object.getClass().getName() + " cannot be stored: " + reason(e));
      } finally {
        kryo.reset();
        kryos.free(kryo);
      }
    }

    @Override
    public T decode(Value value) {
      if (!(value instanceof Value.Bytes bytes) || bytes.content().length == 0) {
        throw malformed("it is no bytes of Kryo's", null);
      }
      if (bytes.content()[0] != FORMAT) {
        throw malformed(
            "its format is " + bytes.content()[0] + ", and this program knows " + FORMAT, null);
      }
      Kryo kryo = kryos.obtain();
      try (CheckedInput in = new CheckedInput(bytes.content(), 1)) {
        Object object = kryo.readClassAndObject(in);
        if (in.remaining() != 0) {
          throw malformed(in.remaining() + " bytes are left behind it", null);
        }
        if (!type.isInstance(object)) {
          throw malformed(
              "it is " + (object == null ? "null" : "a " + object.getClass().getName()), null);
        }
        return type.cast(object);
      } catch (OsierException e) {
        throw e;
      } catch (RuntimeException e) { // the bytes may be anything
        throw malformed(reason(e), e);
      } finally {
        kryo.reset();
        kryos.free(kryo);
      }
    }

    private OsierException malformed(String why, @Nullable Throwable cause) {
      return OsierException.of(
          ErrorCode.MALFORMED, "a value is no " + type.getName() + ": " + why, cause);
    }
  }

  /** Returns the first line of the message; Kryo's trace of the place in the object follows it. */
  private static String reason(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }
}
