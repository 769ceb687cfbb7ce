package io.osier.proxy.client;

import io.osier.proxy.ClientMetrics;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.OsierClient;
import io.osier.proxy.cache.CacheSettings;
import io.osier.proxy.connection.Dialling;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A client's settings, collected and checked by {@link OsierClient.Builder}.
 *
 * @param endpoints the datacenters' addresses, by the endpoints' names
 * @param preferred the endpoint that is used whenever it is up; empty for the nearest one
 * @param timeout how long a call may take, with its tries at other datacenters
 * @param inFlightMax the most calls under way
 * @param dialling settings for opening and keeping connections
 * @param caching settings of the sessions' read caches
 * @param listeners the application's listeners
 * @param values the encoding of typed handles' objects
 */
public record ClientSettings(
    Map<String, String> endpoints,
    Optional<String> preferred,
    Duration timeout,
    int inFlightMax,
    Dialling dialling,
    CacheSettings caching,
    Listeners listeners,
    Values values) {
  /** The application's listeners for the client's calls. */
  public record Listeners(ClientMetrics metrics, TracedAnswers traces, ClientObserver observer) {}

  public ClientMetrics metrics() {
    return listeners.metrics();
  }
}
