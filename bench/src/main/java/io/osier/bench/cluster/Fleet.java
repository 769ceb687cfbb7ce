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
 * Datacenters that serve clients at known addresses. Thread-safe, except that {@link #close} must
 * be the last call.
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
   * Connects to no datacenter yet.
   *
   * @param name the clients' name in the servers' logs
   * @param endpoints host:port for clients, by datacenter
   */
  public Fleet(String name, Map<String, String> endpoints) {
    this.name = name;
    this.endpoints = new LinkedHashMap<>(endpoints);
  }

  public final List<String> dcs() {
    return List.copyOf(endpoints.keySet());
  }

  /** Returns the host and port at which a datacenter serves clients. */
  public final String endpoint(String dc) {
    return requireNonNull(endpoints.get(dc), dc);
  }

  /** Returns a client that prefers one datacenter and can reach all. */
  public final OsierClient client(String dc) {
    OsierClient.Builder builder = OsierClient.builder().name(name).prefer(dc);
    endpoints.forEach(builder::endpoint);
    return connected(builder.build());
  }

  /** Returns a client of one datacenter alone, by which its own objects are read. */
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
   * Reads a datacenter's report on a topic.
   *
   * @throws OsierException UNAVAILABLE if the datacenter does not answer within 10 s
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
   * Waits until all datacenters give the same digests. A datacenter that gives none is asked again.
   *
   * @param say is given a line now and then while the datacenters are not equal
   * @return whether they gave the same digests in time
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

  /** Closes the client that reads reports; the next report connects again. */
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
