package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.client.ClientFile;
import io.osier.proxy.values.Values;
import java.nio.file.Path;

/**
 * Makes clients: the entry point of the library.
 *
 * <pre>{@code
 * try (OsierClient osier = Osier.connect("eu=eu.example:7400", "us=us.example:7400")) {
 *   osier.session().keyspace("shop").counter("likes:42").increment();
 * }
 * }</pre>
 */
public final class Osier {
  private Osier() {}

  /**
   * Makes a client with default settings, and waits until it is connected to at least one
   * datacenter.
   *
   * @param endpoints each datacenter's name and address for clients, as NAME=HOST:PORT
   * @throws OsierException INVALID_ARGUMENT if an endpoint is malformed; otherwise as of {@link
   *     OsierClient#awaitConnected}, with the default time limit of a call
   */
  public static OsierClient connect(String... endpoints) {
    return connected(at(endpoints));
  }

  /**
   * As {@link #connect(String...)}, with a codec for the objects of typed handles.
   *
   * <pre>{@code
   * KryoValues values = KryoValues.builder().register(1, Profile.class).build();
   * OsierClient osier = Osier.connect(values, "eu=eu.example:7400");
   * osier.session().keyspace("shop").register("profile:ada", Profile.class).assign(ada);
   * }</pre>
   *
   * @param values as of {@link OsierClient.Builder#values}
   */
  public static OsierClient connect(Values values, String... endpoints) {
    return connected(at(endpoints).values(values));
  }

  private static OsierClient.Builder at(String... endpoints) {
    OsierClient.Builder builder = OsierClient.builder();
    for (String endpoint : present(endpoints, "endpoints")) {
      int at = present(endpoint, "an endpoint").indexOf('=');
      if (at < 1) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "an endpoint must be NAME=HOST:PORT, as in eu=eu.example:7400, not '" + endpoint + "'");
      }
      builder.endpoint(endpoint.substring(0, at).trim(), endpoint.substring(at + 1).trim());
    }
    return builder;
  }

  /**
   * Makes a client with the settings of a file, and waits until it is connected to at least one
   * datacenter.
   *
   * @throws OsierException as {@link #configured} and {@link #connect}
   */
  public static OsierClient connect(Path file) {
    return connected(configured(file));
  }

  /** As {@link #connect(Path)}, with a codec for the objects of typed handles. */
  public static OsierClient connect(Values values, Path file) {
    return connected(configured(file).values(values));
  }

  /**
   * Reads a client's settings from a file; the builder takes more. The file contains Java
   * properties: {@code endpoint.NAME = HOST:PORT} for each datacenter, and, with the meaning that
   * they have in {@link OsierClient.Builder}, {@code prefer}, {@code name}, {@code timeout}, {@code
   * connect-timeout}, {@code ping-interval} (as 500ms, 10s or 1m), {@code in-flight-max}, {@code
   * cache.staleness}, {@code cache.entries-max}, {@code cache.following.KEYSPACE = PREFIX} (empty
   * for all keys) with {@code cache.at-most} (10m unless set), {@code tls} (true or false), {@code
   * tls.authorities}, {@code tls.certificate}, {@code tls.key}, {@code tls.any-host}, {@code user}
   * and {@code password-file}. Relative paths start at the file's directory.
   *
   * @throws OsierException CONFIGURATION if the file is missing or wrong; the message says what is
   *     wrong and what is allowed
   */
  public static OsierClient.Builder configured(Path file) {
    return ClientFile.read(present(file, "a file"));
  }

  /** Starts to build a client. */
  public static OsierClient.Builder builder() {
    return OsierClient.builder();
  }

  private static OsierClient connected(OsierClient.Builder builder) {
    OsierClient client = builder.build();
    try {
      client.awaitConnected(client.core().settings().timeout());
      return client;
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }
}
