package io.osier.proxy;

import io.osier.proxy.connection.Dialling;
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
 * @param dialling how connections are made and kept
 * @param values how typed handles keep objects
 */
record ClientSettings(
    Map<String, String> endpoints,
    Optional<String> preferred,
    Duration timeout,
    int inFlightMax,
    Dialling dialling,
    Caching caching,
    Listeners listeners,
    Values values) {
  /**
   * What sessions keep of what they read.
   *
   * @param staleness how old an answer may be; 0 to keep none
   * @param entriesMax of how many keys each session keeps answers
   * @param follows the keys whose changes are followed, so that answers are kept until they change
   */
  record Caching(Duration staleness, long entriesMax, List<FollowedPrefix> follows) {}

  /** Who hears of the client's calls. */
  record Listeners(ClientMetrics metrics, TracedAnswers traces, ClientObserver observer) {}

  ClientMetrics metrics() {
    return listeners.metrics();
  }
}
