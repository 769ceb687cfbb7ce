package io.osier.datacenter.admin;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.osier.core.tls.TlsContext;
import io.osier.datacenter.config.AdminSettings;
import io.osier.datacenter.config.ProtectedMode;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.metrics.MetricTable;
import io.osier.datacenter.metrics.report.Publisher;
import io.osier.datacenter.metrics.report.Readiness;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Serves the admin port: /metrics in Prometheus' format, /livez (the process answers), /readyz and
 * /health (whether the datacenter serves, or why it does not), and the dashboard. No request waits
 * for a partition. Thread-safe.
 */
public final class AdminServer implements AutoCloseable {
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final Readiness readiness;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics gc = new JvmGcMetrics();

  /** Renders metrics, which takes too long for a thread that serves connections. */
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          r -> Thread.ofPlatform().name("osier-admin").daemon(true).unstarted(r));

  private final HttpEndpoint http;
  private final String host;

  public AdminServer(
      InetSocketAddress listen,
      AdminSettings settings,
      Optional<TlsContext> tls,
      AccessControl access,
      Publisher publisher,
      Readiness readiness,
      Dashboard dashboard,
      HistoryKeeper history) {
    this.readiness = readiness;
    List<MeterBinder> process =
        List.of(
            new JvmMemoryMetrics(),
            gc,
            new JvmThreadMetrics(),
            new ClassLoaderMetrics(),
            new ProcessorMetrics(),
            new UptimeMetrics(),
            new FileDescriptorMetrics());
    process.forEach(binder -> binder.bindTo(registry));
    registry
        .getPrometheusRegistry()
        .register(new PrometheusMetrics(MetricTable.all(), publisher::latest));
    Map<String, Supplier<CompletableFuture<HttpEndpoint.Answer>>> paths = new LinkedHashMap<>();
    paths.put("/metrics", () -> CompletableFuture.supplyAsync(this::metrics, executor));
    paths.put("/livez", () -> now(new HttpEndpoint.Answer(200, "alive\n")));
    paths.put("/readyz", () -> now(ready()));
    paths.put("/health", () -> now(ready()));
    DashboardPages.addTo(paths, dashboard);
    paths.put(
        DashboardPages.PATH + "/history",
        () ->
            CompletableFuture.supplyAsync(
                () -> new HttpEndpoint.Answer(200, "application/json", history.json()), executor));
    http =
        new HttpEndpoint(
            listen,
            settings.limits(),
            tls,
            new HostNames(settings.names()),
            Optional.of(
                new AdminAccess(access, ProtectedMode.isLoopback(settings.host()), executor)),
            paths);
    host = settings.host();
  }

  /** Returns the configured host of the port. */
  public String host() {
    return host;
  }

  public int port() {
    return http.port();
  }

  private static CompletableFuture<HttpEndpoint.Answer> now(HttpEndpoint.Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private HttpEndpoint.Answer metrics() {
    return new HttpEndpoint.Answer(200, METRICS_TYPE, registry.scrape());
  }

  private HttpEndpoint.Answer ready() {
    List<String> obstacles = readiness.obstacles();
    List<String> lines = new ArrayList<>(obstacles);
    if (obstacles.isEmpty()) {
      lines.add("ready");
    }
    lines.addAll(readiness.warnings());
    return new HttpEndpoint.Answer(
        obstacles.isEmpty() ? 200 : 503, String.join("\n", lines) + "\n");
  }

  @Override
  public void close() {
    http.close();
    executor.shutdownNow();
    gc.close();
    registry.close();
  }
}
