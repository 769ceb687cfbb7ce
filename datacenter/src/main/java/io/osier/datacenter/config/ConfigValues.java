package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import io.osier.core.net.HostPort;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads values of a configuration, each by what is allowed. Every error is a {@link WrongSetting}
 * with its place, the key, the value and what is allowed. Immutable.
 *
 * @param source what errors call the configuration
 */
record ConfigValues(String source, Config config) {
  /** All settings with their defaults. */
  static final Config REFERENCE =
      ConfigFactory.parseResources(ConfigValues.class, "/osier-reference.conf");

  /** Stands for a value that depends on other settings, or on the machine. */
  static final String AUTO = "auto";

  private static final Pattern UNITLESS = Pattern.compile("[0-9.]+");

  /** Reads a value. */
  interface Reader<T> {
    T read();
  }

  /** The same source with other values. */
  ConfigValues with(Config other) {
    return new ConfigValues(source, other);
  }

  /** Returns the error for a value that is not allowed; it shows the value. */
  WrongSetting bad(String key, String allowed) {
    String value = has(key) ? config.getValue(key).unwrapped().toString() : "nothing";
    return error(key, key + " must be " + allowed + ", not '" + value + "'");
  }

  /** Returns an error with other words than {@link #bad}. */
  WrongSetting error(String key, String message) {
    String place = has(key) ? WrongSetting.place(source, config.getValue(key).origin()) : "";
    return new WrongSetting(key, place, message);
  }

  boolean has(String key) {
    return config.hasPath(key);
  }

  boolean isAuto(String key) {
    return config.getValue(key).unwrapped().equals(AUTO);
  }

  /** Returns whether a setting is off: {@code off} and {@code false} are the same to HOCON. */
  boolean isOff(String key) {
    Object value = config.getValue(key).unwrapped();
    return value.equals("off") || value.equals(false);
  }

  /** Returns a reader's result; a value for which it throws is not allowed. */
  <T> T value(String key, String allowed, Reader<T> reader) {
    try {
      return reader.read();
    } catch (ConfigException | IllegalArgumentException e) {
      throw bad(key, allowed);
    }
  }

  int integer(String key, int min, int max) {
    String allowed = "a whole number from " + min + " to " + max;
    int value = value(key, allowed, () -> config.getInt(key)); // it cuts fractions off
    if (value < min || value > max || value != config.getDouble(key)) {
      throw bad(key, allowed);
    }
    return value;
  }

  Duration duration(String key, Duration min, Duration max) {
    String allowed =
        "a duration with its unit, from "
            + min.toMillis()
            + "ms to "
            + max.toMillis()
            + "ms, for example 2s";
    Duration value = value(key, allowed, () -> config.getDuration(key));
    if (!value.isZero() && UNITLESS.matcher(config.getString(key).strip()).matches()) {
      throw bad(key, allowed); // it would be taken for milliseconds
    }
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw bad(key, allowed);
    }
    return value;
  }

  int millis(String key, int min) {
    return (int) duration(key, Duration.ofMillis(min), Duration.ofHours(1)).toMillis();
  }

  int bytes(String key, int min, int max) {
    String allowed = "a size from " + min + "B to " + max + "B, for example 64KiB";
    long value = value(key, allowed, () -> config.getBytes(key));
    if (value < min || value > max) {
      throw bad(key, allowed);
    }
    return (int) value;
  }

  long size(String key, long min) {
    String allowed = "a size of at least " + min + "B, for example 256MiB";
    long value = value(key, allowed, () -> config.getBytes(key));
    if (value < min) {
      throw bad(key, allowed);
    }
    return value;
  }

  <E extends Enum<E>> E choice(String key, Class<E> type) {
    List<String> allowed =
        Arrays.stream(type.getEnumConstants()).map(e -> e.name().toLowerCase(Locale.ROOT)).toList();
    String text = "one of " + String.join(", ", allowed);
    String value = text(key, text);
    if (!allowed.contains(value)) {
      throw bad(key, text);
    }
    return Enum.valueOf(type, value.toUpperCase(Locale.ROOT));
  }

  String text(String key, String allowed) {
    return value(key, allowed, () -> config.getString(key));
  }

  boolean yes(String key) {
    return value(key, "true or false", () -> config.getBoolean(key));
  }

  /** A file; empty if none is named. */
  Optional<Path> file(String key) {
    return value(
        key,
        "a file's name",
        () ->
            config.getString(key).isEmpty()
                ? Optional.empty()
                : Optional.of(Path.of(config.getString(key))));
  }

  /** A host to listen at. */
  String host(String key) {
    String allowed = "a name or an address, without a port, for example 0.0.0.0 or ::";
    return value(
        key,
        allowed,
        () ->
            HostPort.host(config.getString(key))
                .orElseThrow(() -> new IllegalArgumentException(allowed)));
  }

  /** A host and a port. */
  InetSocketAddress address(String key) {
    return value(
        key,
        HostPort.ALLOWED,
        () -> {
          String text = config.getString(key);
          return HostPort.parse(text)
              .map(a -> InetSocketAddress.createUnresolved(a.host(), a.port()))
              .orElseThrow(() -> new IllegalArgumentException(text));
        });
  }

  List<String> list(String key, String allowed) {
    return value(key, allowed, () -> strings(key));
  }

  /** A list of names, each once: whoever writes one twice has meant another. */
  List<String> names(String key, String allowed) {
    List<String> names = list(key, allowed);
    Set<String> once = new HashSet<>();
    for (String name : names) {
      if (!once.add(name)) {
        throw error(key, key + " has '" + name + "' twice: each name stands there once");
      }
    }
    return names;
  }

  /** A list, which in the environment is written with commas. */
  List<String> listOrText(String key, String allowed) {
    return value(
        key,
        allowed,
        () ->
            config.getValue(key).unwrapped() instanceof String text
                ? Arrays.stream(text.split(","))
                    .map(String::strip)
                    .filter(n -> !n.isEmpty())
                    .toList()
                : strings(key));
  }

  private List<String> strings(String key) {
    return config.getList(key).stream().map(v -> v.unwrapped().toString()).toList();
  }
}
