package io.osier.proxy.connection;

import io.osier.core.tls.TlsContext;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.OsierClient;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@link OsierClient.Builder} collected, checked.
 *
 * @param endpoints the datacenters' addresses, by the endpoints' names
 * @param preferred the endpoint that is used whenever it is up; empty for the nearest one
 * @param timeout how long a call may take, tries elsewhere included
 * @param inFlightMax most calls under way
 * @param values how typed handles keep objects
 */
public record ClientSettings(
    Map<String, String> endpoints,
    Optional<String> preferred,
    Duration timeout,
    int inFlightMax,
    Dialling dialling,
    Caching caching,
    Listeners listeners,
    Values values) {
  /**
   * How connections are made and kept.
   *
   * @param name who connects, for the servers' logs
   * @param pingInterval how often the way to each datacenter is measured
   * @param tls empty to speak without TLS
   * @param user empty to log in as nobody
   */
  public record Dialling(
      String name,
      Duration connectTimeout,
      Duration pingInterval,
      Optional<TlsContext> tls,
      Optional<ScramLogin.User> user) {}

  /**
   * What sessions keep of what they read.
   *
   * @param staleness how old an answer may be; 0 to keep none
   * @param entriesMax of how many keys each session keeps answers
   * @param follows the keys whose changes are followed, so that answers are kept until they change
   */
  public record Caching(Duration staleness, long entriesMax, List<FollowedPrefix> follows) {}

  /** Who hears of the client's calls. */
  public record Listeners(ClientMetrics metrics, TracedAnswers traces, ClientObserver observer) {}

  public ClientMetrics metrics() {
    return listeners.metrics();
  }
}
