package io.osier.proxy.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.time.TimeLimit;
import io.osier.core.tls.PasswordFile;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a client's settings from a file of Java properties. */
public final class ClientFile {
  private static final String ENDPOINT = "endpoint.";
  private static final String FOLLOWING = "cache.following.";

  /** The names of all settings but the endpoints and the followed prefixes. */
  private static final Set<String> KNOWN =
      new TreeSet<>(
          Set.of(
              "prefer",
              "name",
              "timeout",
              "connect-timeout",
              "ping-interval",
              "in-flight-max",
              "cache.staleness",
              "cache.entries-max",
              "cache.at-most",
              "tls",
              "tls.authorities",
              "tls.certificate",
              "tls.key",
              "tls.any-host",
              "user",
              "password-file"));

  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})\\s*(ms|s|m)");
  private static final long CACHE_ENTRIES = 10_000;
  private static final Duration CACHE_AT_MOST = Duration.ofMinutes(10);

  private final Path file;
  private final Properties settings = new Properties();

  private ClientFile(Path file) {
    this.file = file;
  }

  /**
   * Reads a client's settings.
   *
   * @throws OsierException CONFIGURATION, naming the file, the setting and what is allowed
   */
  public static OsierClient.Builder read(Path file) {
    ClientFile read = new ClientFile(file);
    try (Reader reader = Files.newBufferedReader(file)) {
      read.settings.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw read.wrong("cannot be read: " + e);
    }
    return read.builder();
  }

  private OsierException wrong(String what) {
    return OsierException.of(ErrorCode.CONFIGURATION, file + " " + what);
  }

  private OsierClient.Builder builder() {
    OsierClient.Builder builder = OsierClient.builder();
    for (String name : new TreeSet<>(settings.stringPropertyNames())) {
      if (name.startsWith(ENDPOINT)) {
        apply(name, value -> builder.endpoint(name.substring(ENDPOINT.length()), value));
      } else if (!name.startsWith(FOLLOWING) && !KNOWN.contains(name)) {
        throw wrong(
            "has the setting '%s', which is none of endpoint.NAME, cache.following.KEYSPACE and %s"
                .formatted(name, KNOWN));
      }
    }
    apply("prefer", builder::prefer);
    apply("name", builder::name);
    apply("timeout", value -> builder.timeout(duration(value)));
    apply("connect-timeout", value -> builder.connectTimeout(duration(value)));
    apply("ping-interval", value -> builder.pingInterval(duration(value)));
    apply("in-flight-max", value -> builder.inFlightMax(Integer.parseInt(value)));
    apply("cache.staleness", value -> builder.cache(duration(value), entries()));
    needs("cache.entries-max", "cache.staleness");
    following(builder);
    tls(builder);
    user(builder);
    return builder;
  }

  private long entries() {
    String value = settings.getProperty("cache.entries-max");
    return value == null ? CACHE_ENTRIES : Long.parseLong(value.trim());
  }

  private void following(OsierClient.Builder builder) {
    apply("cache.at-most", ClientFile::duration); // fails here if it is malformed
    needs("cache.at-most", "cache.staleness");
    Duration atMost = get("cache.at-most").map(ClientFile::duration).orElse(CACHE_AT_MOST);
    for (String name : new TreeSet<>(settings.stringPropertyNames())) {
      if (name.startsWith(FOLLOWING)) {
        needs(name, "cache.staleness");
        String keyspace = name.substring(FOLLOWING.length());
        apply(name, prefix -> builder.cacheFollowing(keyspace, prefix, atMost));
      }
    }
  }

  private void tls(OsierClient.Builder builder) {
    boolean wanted =
        isTrue("tls") || get("tls.authorities").isPresent() || get("tls.certificate").isPresent();
    needs("tls.certificate", "tls.key");
    needs("tls.key", "tls.certificate");
    if (!wanted) {
      if (isTrue("tls.any-host")) {
        throw wrong("has tls.any-host = true, but no 'tls = true'");
      }
      return;
    }
    TlsOptions options = TlsOptions.DEFAULT;
    if (get("tls.authorities").isPresent()) {
      options = options.authorities(path(get("tls.authorities").get()));
    }
    if (get("tls.certificate").isPresent()) {
      options =
          options.certificate(
              path(get("tls.certificate").get()), path(get("tls.key").orElseThrow()));
    }
    builder.tls(isTrue("tls.any-host") ? options.anyHost() : options);
  }

  private void user(OsierClient.Builder builder) {
    needs("user", "password-file");
    needs("password-file", "user");
    if (get("user").isPresent()) {
      Path secret = path(get("password-file").orElseThrow());
      Arrays.fill(password(secret), '\0'); // fails here if it is unusable
      builder.user(get("user").get(), () -> password(secret));
    }
  }

  /**
   * Reads the password. Called for each connection, since the file may change while the program
   * runs.
   */
  private char[] password(Path secret) {
    return PasswordFile.read(secret, problem -> file + ", password-file: " + problem);
  }

  /** Resolves a path relative to the file's directory. */
  private Path path(String value) {
    return file.toAbsolutePath().resolveSibling(value);
  }

  private Optional<String> get(String name) {
    return Optional.ofNullable(settings.getProperty(name)).map(String::trim);
  }

  private boolean isTrue(String name) {
    String value = get(name).orElse("false");
    if (!value.equals("true") && !value.equals("false")) {
      throw wrong("has " + name + " = " + value + ", which must be true or false");
    }
    return value.equals("true");
  }

  private void needs(String name, String other) {
    if (get(name).isPresent() && get(other).isEmpty()) {
      throw wrong("has " + name + ", which needs " + other + ", too");
    }
  }

  /** Applies a setting's value. */
  private interface Use {
    @Nullable Object of(String value);
  }

  private void apply(String name, Use use) {
    if (get(name).isEmpty()) {
      return;
    }
    String value = get(name).get();
    try {
      use.of(value);
    } catch (NumberFormatException e) {
      throw wrong("has " + name + " = " + value + ", which must be a whole number");
    } catch (RuntimeException e) {
      throw wrong("has " + name + " = " + value + ": " + OsierException.reasonOf(e));
    }
  }

  private static Duration duration(String value) {
    Matcher matcher = DURATION.matcher(value);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("a duration is a number with ms, s or m, as in 500ms");
    }
    try {
      long amount = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(amount);
        case "s" -> Duration.ofSeconds(amount);
        default -> Duration.ofMinutes(amount);
      };
    } catch (NumberFormatException | ArithmeticException e) { // digits only, so it is too large
      return TimeLimit.FOREVER;
    }
  }
}
