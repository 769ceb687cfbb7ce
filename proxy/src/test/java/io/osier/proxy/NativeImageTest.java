package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.benmanes.caffeine.cache.Ticker;
import io.netty.channel.ChannelHandler;
import io.osier.core.Key;
import io.osier.proxy.cache.CacheSettings;
import io.osier.proxy.cache.ReadCache;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What GraalVM's native-image is told of the client: that it is about classes that there are, and
 * about all that are found by their names. It is not tried with native-image itself.
 */
final class NativeImageTest {
  private static final String CONFIGURATION =
      "/META-INF/native-image/io.osier/osier-client/reflect-config.json";

  private static Map<String, JsonNode> told() throws IOException {
    Map<String, JsonNode> told = new TreeMap<>();
    try (InputStream in =
        Objects.requireNonNull(NativeImageTest.class.getResourceAsStream(CONFIGURATION))) {
      new ObjectMapper().readTree(in).forEach(one -> told.put(one.get("name").asText(), one));
    }
    return told;
  }

  private static Class<?> named(String name) throws ClassNotFoundException {
    return Class.forName(name, false, NativeImageTest.class.getClassLoader());
  }

  @Test
  void whatIsNamed_isThere() throws Exception {
    for (JsonNode one : told().values()) {
      Class<?> type = named(one.get("name").asText());
      named(one.get("condition").get("typeReachable").asText());
      for (JsonNode field : one.path("fields")) {
        assertThat(type.getDeclaredField(field.get("name").asText())).isNotNull();
      }
      assertThat(one.fieldNames())
          .toIterable()
          .isSubsetOf(
              "name", "condition", "fields", "allDeclaredConstructors", "queryAllPublicMethods");
    }
  }

  /** Netty looks at a handler's methods, to skip those that do nothing. */
  @Test
  void handlersOfConnections_areNamed() throws Exception {
    List<String> handlers = new ArrayList<>();
    for (Class<?> one : List.of(Key.class, OsierClient.class)) {
      Path classes = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (Files.isDirectory(classes)) {
        handlers.addAll(handlers(classes));
      } else {
        try (FileSystem jar = FileSystems.newFileSystem(classes)) {
          handlers.addAll(handlers(jar.getPath("/")));
        }
      }
    }
    assertThat(handlers).as("of both modules").hasSizeGreaterThan(2);
    assertThat(told().keySet()).containsAll(handlers);
  }

  private static List<String> handlers(Path classes) throws Exception {
    List<String> handlers = new ArrayList<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        String name = classes.relativize(file).toString().replace('/', '.');
        Class<?> type = named(name.substring(0, name.length() - ".class".length()));
        if (ChannelHandler.class.isAssignableFrom(type)) {
          handlers.add(type.getName());
        }
      }
    }
    return handlers;
  }

  /** Caffeine finds by its name the one of its classes that does what is asked of a cache. */
  @Test
  void classesOfTheCache_areNamed() throws Exception {
    ReadCache cache =
        new ReadCache(
            new CacheSettings(Duration.ofSeconds(1), 10, List.of()),
            List.of(),
            Ticker.systemTicker());
    Object bounded = field(field(cache, "known"), "cache");
    assertThat(told().keySet())
        .contains(bounded.getClass().getName(), field(bounded, "nodeFactory").getClass().getName());
  }

  private static Object field(Object of, String name) throws IllegalAccessException {
    for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          return Objects.requireNonNull(field.get(of));
        }
      }
    }
    throw new AssertionError("there is no field " + name + " in " + of.getClass());
  }
}
