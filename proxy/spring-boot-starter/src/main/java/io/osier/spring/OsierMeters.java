package io.osier.spring;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.osier.core.ErrorCode;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.OsierClient;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * Publishes a client's metrics as meters of Micrometer: {@code osier.client.requests} (a timer of
 * answered requests, by {@code datacenter}), {@code osier.client.failures} (by {@code datacenter}
 * and {@code code}), {@code osier.client.moves} (of sessions, by {@code from} and {@code to}) and
 * {@code osier.client.cache.hits}. For each endpoint there are gauges: {@code
 * osier.client.connected} (1 or 0), {@code osier.client.round.trip} (NaN while not measured) and
 * {@code osier.client.requests.active}. A request is one try at one datacenter. Thread-safe.
 */
public final class OsierMeters implements ClientMetrics {
  private static final String DATACENTER = "datacenter";

  private final MeterRegistry registry;
  private final Map<String, Timer> answered = new ConcurrentHashMap<>();
  private final Counter hits;

  /** Makes meters in a registry. */
  public OsierMeters(MeterRegistry registry) {
    this.registry = registry;
    this.hits =
        Counter.builder("osier.client.cache.hits")
            .description("Reads that the client answered from what it had read before")
            .register(registry);
  }

  @Override
  public void answered(String dc, long nanos) {
    answered.computeIfAbsent(dc, this::timer).record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(String dc) {
    return Timer.builder("osier.client.requests")
        .description("Requests that the datacenter answered")
        .tag(DATACENTER, dc)
        .register(registry);
  }

  @Override
  public void failed(String dc, ErrorCode code) {
    Counter.builder("osier.client.failures")
        .description("Requests that failed")
        .tag(DATACENTER, dc)
        .tag("code", code.name())
        .register(registry)
        .increment();
  }

  @Override
  public void moved(String from, String to) {
    Counter.builder("osier.client.moves")
        .description("Sessions that went on at another datacenter")
        .tag("from", from)
        .tag("to", to)
        .register(registry)
        .increment();
  }

  @Override
  public void cacheHit() {
    hits.increment();
  }

  /** Adds the gauges of a client's connections. */
  public static void bindConnections(OsierClient client, MeterRegistry registry) {
    for (OsierClient.Status status : client.status()) {
      String dc = status.dc();
      Gauge.builder("osier.client.connected", client, of(dc, s -> s.connected() ? 1 : 0))
          .description("Whether the datacenter is connected")
          .tag(DATACENTER, dc)
          .register(registry);
      Gauge.builder("osier.client.requests.active", client, of(dc, OsierClient.Status::inFlight))
          .description("Requests that wait for their answers")
          .tag(DATACENTER, dc)
          .register(registry);
      TimeGauge.builder(
              "osier.client.round.trip",
              client,
              TimeUnit.MILLISECONDS,
              of(dc, OsierClient.Status::roundTripMillis))
          .description("Round-trip time to the datacenter")
          .tag(DATACENTER, dc)
          .register(registry);
    }
  }

  private static ToDoubleFunction<OsierClient> of(
      String dc, ToDoubleFunction<OsierClient.Status> figure) {
    return client ->
        client.status().stream()
            .filter(status -> status.dc().equals(dc))
            .mapToDouble(figure)
            .findFirst()
            .orElse(Double.NaN);
  }
}
