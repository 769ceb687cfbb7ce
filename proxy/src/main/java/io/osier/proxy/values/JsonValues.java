package io.osier.proxy.values;

import static io.osier.core.Present.present;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;

/**
 * Encodes objects as JSON text with Jackson, which the program must bring along ({@code
 * com.fasterxml.jackson.core:jackson-databind}). People and the command line can read the values.
 * Classes that {@link Values#plain} knows are encoded by it. Properties and keys of maps are
 * ordered by name, so that equal objects have equal texts; a Java set within an object has no such
 * order, so objects with sets must not be elements of Osier's sets. Thread-safe.
 */
public final class JsonValues implements Values {
  private final ObjectMapper mapper;

  private JsonValues(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * Makes codecs from a mapper.
   *
   * @param mapper the mapper, which is copied with its modules
   */
  public static JsonValues of(ObjectMapper mapper) {
    ObjectMapper own = present(mapper, "a mapper").copy();
    return new JsonValues(
        own.setConfig(
                own.getSerializationConfig()
                    .with(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                    .with(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS))
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS));
  }

  @Override
  public <T> ValueCodec<T> codec(Class<T> type) {
    return PlainValues.knows(present(type, "a class"))
        ? Values.plain().codec(type)
        : new Json<>(mapper.constructType(type));
  }

  /** Returns the codec of a type with parameters. */
  public <T> ValueCodec<T> codec(TypeReference<T> type) {
    return new Json<>(mapper.constructType(present(type, "a type").getType()));
  }

  private final class Json<T> implements ValueCodec<T> {
    private final JavaType type;

    Json(JavaType type) {
      this.type = type;
    }

    @Override
    public Value encode(T object) {
      try {
        return Value.of(mapper.writerFor(type).writeValueAsString(object));
      } catch (JsonProcessingException e) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "an object of " + type.getTypeName() + " cannot be stored: " + e.getOriginalMessage(),
            e);
      }
    }

    @Override
    public T decode(Value value) {
      if (!(value instanceof Value.Str text)) {
        throw OsierException.of(
            ErrorCode.MALFORMED, "a value is no " + type.getTypeName() + ": it is no text");
      }
      try {
        T object = mapper.readerFor(type).readValue(text.content());
        if (object == null) {
          throw OsierException.of(
              ErrorCode.MALFORMED, "a value is no " + type.getTypeName() + ": it is null");
        }
        return object;
      } catch (JsonProcessingException e) {
        throw OsierException.of(
            ErrorCode.MALFORMED,
            "a value is no " + type.getTypeName() + ": " + e.getOriginalMessage(),
            e);
      }
    }
  }
}
