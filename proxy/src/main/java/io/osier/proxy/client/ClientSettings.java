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
 * What {@link OsierClient.Builder} collected, checked.
 *
 * @param endpoints the datacenters' addresses, by the endpoints' names
 * @param preferred the endpoint that is used whenever it is up; empty for the nearest one
 * @param timeout how long a call may take, tries elsewhere included
 * @param inFlightMax most calls under way
 * @param dialling how connections are made and kept
 * @param values how typed handles keep objects
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
  /** Who hears of the client's calls. */
  public record Listeners(ClientMetrics metrics, TracedAnswers traces, ClientObserver observer) {}

  public ClientMetrics metrics() {
    return listeners.metrics();
  }
}
