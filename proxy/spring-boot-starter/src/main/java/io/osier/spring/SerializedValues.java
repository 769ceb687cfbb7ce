package io.osier.spring;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.values.ValueCodec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.springframework.core.serializer.DefaultDeserializer;
import org.springframework.core.serializer.DefaultSerializer;

/**
 * Encodes strings, longs and doubles as plain values, so that the command line can read them, and
 * other objects by Java's serialization, as Spring's other stores do. All who may write to the
 * keyspace must be trusted: a value decides which of the application's classes is instantiated.
 * Thread-safe.
 */
public final class SerializedValues implements ValueCodec<Object> {
  private static final DefaultSerializer SERIALIZER = new DefaultSerializer();

  private final DefaultDeserializer deserializer;

  /**
   * Makes a codec.
   *
   * @param classes finds the classes of objects
   */
  public SerializedValues(ClassLoader classes) {
    deserializer = new DefaultDeserializer(classes);
  }

  @Override
  public Value encode(Object object) {
    return switch (object) {
      case String text -> Value.of(text);
      case Long number -> Value.of((long) number);
      case Double number -> Value.of((double) number);
      default -> Value.of(serialized(object));
    };
  }

  private static byte[] serialized(Object object) {
    try {
      return SERIALIZER.serializeToByteArray(object);
    } catch (IOException | IllegalArgumentException e) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          object.getClass().getName()
              + " cannot be serialized ("
              + e.getMessage()
              + "): let it implement Serializable, or give a bean ValueCodec<Object>",
          e);
    }
  }

  @Override
  public Object decode(Value value) {
    return switch (value) {
      case Value.Str text -> text.content();
      case Value.Int number -> number.content();
      case Value.Real number -> number.content();
      case Value.Bytes bytes -> deserialized(bytes.content());
    };
  }

  private Object deserialized(byte[] bytes) {
    try {
      return deserializer.deserialize(new ByteArrayInputStream(bytes));
    } catch (IOException | RuntimeException e) {
      throw OsierException.of(
          ErrorCode.MALFORMED,
          "a value of "
              + bytes.length
              + " bytes cannot be deserialized as an object of this application: "
              + e,
          e);
    }
  }
}
