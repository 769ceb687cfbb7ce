package io.osier.proxy.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.proxy.DatacenterStatus;
import io.osier.proxy.KeyspaceStatus;
import io.osier.proxy.UserStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Parses datacenters' JSON answers to administrative requests. In between, JSON objects are maps,
 * arrays are lists, null is an empty text, and all else is its text. Pure.
 */
public final class AdminAnswers {
  /** The fields of a keyspace that are no settings. */
  private static final Set<String> KEYSPACES_OWN =
      Set.of("name", "state", "from", "awaited", "changed_by", "changed_at_ms");

  private static final JsonFactory JSON = new JsonFactory();

  private AdminAnswers() {}

  public static List<KeyspaceStatus> keyspaces(String json) {
    return all(
        json,
        "keyspaces",
        one -> {
          SortedMap<String, String> settings = new TreeMap<>();
          one.forEach(
              (name, value) -> {
                if (!KEYSPACES_OWN.contains(name) && value instanceof String setting) {
                  settings.put(name, setting);
                }
              });
          return new KeyspaceStatus(
              text(one, "name"),
              settings,
              text(one, "state").equals("active"),
              texts(one, "awaited"),
              text(one, "from").equals("file"),
              some(one, "changed_by"),
              moment(one, "changed_at_ms"));
        });
  }

  public static List<DatacenterStatus> datacenters(String json) {
    return all(
        json,
        "datacenters",
        one ->
            new DatacenterStatus(
                text(one, "name"),
                some(one, "address"),
                state(text(one, "state")),
                texts(one, "awaited"),
                text(one, "from").equals("file"),
                some(one, "changed_by"),
                moment(one, "changed_at_ms")));
  }

  private static DatacenterStatus.State state(String word) {
    for (DatacenterStatus.State state : DatacenterStatus.State.values()) {
      if (state.name().toLowerCase(Locale.ROOT).equals(word)) {
        return state;
      }
    }
    return DatacenterStatus.State.OTHER;
  }

  public static List<UserStatus> users(String json) {
    return all(
        json,
        "users",
        one ->
            new UserStatus(
                text(one, "name"),
                text(one, "password").equals("yes"),
                texts(one, "rights").stream().map(Grant::parse).toList(),
                text(one, "from").equals("file"),
                some(one, "made_by"),
                moment(one, "made_at_ms")));
  }

  @SuppressWarnings("unchecked") // an object's names are texts
  private static <T> List<T> all(String json, String name, Function<Map<String, Object>, T> read) {
    if (!(parsed(json) instanceof Map<?, ?> root) || !(root.get(name) instanceof List<?> list)) {
      throw malformed("its list '" + name + "' is missing");
    }
    List<T> all = new ArrayList<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?>)) {
        throw malformed("an element of '" + name + "' is not a JSON object");
      }
      all.add(read.apply((Map<String, Object>) one));
    }
    return List.copyOf(all);
  }

  private static String text(Map<String, Object> of, String name) {
    return of.get(name) instanceof String text ? text : "";
  }

  private static Optional<String> some(Map<String, Object> of, String name) {
    return Optional.of(text(of, name)).filter(t -> !t.isEmpty());
  }

  private static List<String> texts(Map<String, Object> of, String name) {
    return of.get(name) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static Optional<Instant> moment(Map<String, Object> of, String name) {
    try {
      return some(of, name).map(Long::parseLong).filter(ms -> ms > 0).map(Instant::ofEpochMilli);
    } catch (NumberFormatException e) {
      throw malformed("'" + name + "' is not a whole number");
    }
  }

  private static OsierException malformed(String why) {
    return OsierException.of(ErrorCode.MALFORMED, "the datacenter's answer cannot be read: " + why);
  }

  private static Object parsed(String json) {
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw malformed("there is text after the end of the JSON");
      }
      return value;
    } catch (JsonProcessingException e) {
      throw malformed(e.getOriginalMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // never happens in memory
    }
  }

  /** Parses the value that begins at the parser's token. */
  private static Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw malformed("it is empty");
    }
    switch (token) {
      case START_OBJECT -> {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          String name = parser.currentName();
          parser.nextToken();
          fields.put(name, value(parser));
        }
        return fields;
      }
      case START_ARRAY -> {
        List<Object> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          elements.add(value(parser));
        }
        return elements;
      }
      case VALUE_NULL -> {
        return "";
      }
      default -> {
        return parser.getText();
      }
    }
  }
}
