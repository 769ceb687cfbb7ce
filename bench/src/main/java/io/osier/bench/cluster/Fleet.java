package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Datacenters that serve clients somewhere, whoever started them. Thread-safe, except that {@link
 * #close} comes last.
 */
public class Fleet implements AutoCloseable {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final long ASKED_NANOS = 250_000_000;
  private static final int TOLD_AFTER = 20;

  private final String name;
  private final Map<String, String> endpoints;
  private final ObjectMapper json = new ObjectMapper();
  private @Nullable OsierClient inspector;

  /**
   * Connects to nobody yet.
   *
   * @param name of the clients, for the servers' logs
   * @param endpoints host:port for clients, by datacenter
   */
  public Fleet(String name, Map<String, String> endpoints) {
    this.name = name;
    this.endpoints = new LinkedHashMap<>(endpoints);
  }

  public final List<String> dcs() {
    return List.copyOf(endpoints.keySet());
  }

  /** Host and port of a datacenter, for clients. */
  public final String endpoint(String dc) {
    return requireNonNull(endpoints.get(dc), dc);
  }

  /** A client that prefers one datacenter but knows all. */
  public final OsierClient client(String dc) {
    OsierClient.Builder builder = OsierClient.builder().name(name).prefer(dc);
    endpoints.forEach(builder::endpoint);
    return connected(builder.build());
  }

  /** A client that reaches one datacenter only, to compare what each holds. */
  public final OsierClient only(String dc) {
    return connected(OsierClient.builder().name(name).endpoint(dc, endpoint(dc)).build());
  }

  private static OsierClient connected(OsierClient client) {
    try {
      client.awaitConnected(CONNECT_MAX);
      return client;
    } catch (OsierException e) {
      client.close();
      throw e;
    }
  }

  private synchronized OsierClient inspector() {
    if (inspector == null) {
      OsierClient.Builder builder = OsierClient.builder().name(name);
      endpoints.forEach(builder::endpoint);
      inspector = builder.build();
    }
    return inspector;
  }

  /**
   * Asks a datacenter what it is doing.
   *
   * @throws OsierException UNAVAILABLE if it does not say
   */
  public final JsonNode inspect(String dc, Request.Topic topic, int limit) {
    try {
      return json.readTree(
          inspector().inspectAsync(dc, topic, Optional.empty(), limit).get(10, TimeUnit.SECONDS));
    } catch (Exception e) {
      throw new OsierException(ErrorCode.UNAVAILABLE, dc + " gives no report: " + inWords(e), e);
    }
  }

  private static String inWords(Exception e) {
    if (e instanceof TimeoutException) {
      return "it does not answer";
    }
    Throwable why = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
    return why instanceof OsierException refused ? refused.getMessage() : why.toString();
  }

  public final boolean isReady(String dc) {
    try {
      for (JsonNode keyspace : inspect(dc, Request.Topic.STAT, 0).path("keyspaces")) {
        if (!keyspace.get("ready").asBoolean()) {
          return false;
        }
      }
      return true;
    } catch (OsierException e) {
      return false;
    }
  }

  /**
   * Waits until all datacenters give the same digests. One that gives none may be back later.
   *
   * @param say is told now and then that it takes long
   * @return whether they did within the time
   */
  public final boolean awaitEqual(Duration atMost, Consumer<String> say) {
    long deadline = System.nanoTime() + atMost.toNanos();
    int asked = 0;
    while (System.nanoTime() < deadline) {
      String why = "not equal yet";
      try {
        if (digests().size() == 1) {
          return true;
        }
      } catch (OsierException e) {
        why = e.reason();
      }
      if (++asked % TOLD_AFTER == 0) {
        say.accept(why);
      }
      LockSupport.parkNanos(ASKED_NANOS);
    }
    return false;
  }

  private Set<JsonNode> digests() {
    Set<JsonNode> digests = new HashSet<>();
    for (String dc : dcs()) {
      digests.add(inspect(dc, Request.Topic.DIGEST, 0).get("keyspaces"));
    }
    return digests;
  }

  /** Leaves the datacenters alone: whoever asks one of them next connects again. */
  public final synchronized void disconnect() {
    if (inspector != null) {
      inspector.close();
      inspector = null;
    }
  }

  @Override
  public void close() {
    disconnect();
  }
}
