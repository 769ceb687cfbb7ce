package io.osier.datacenter.server;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.osier.core.Budget;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.transport.PeerTransport;
import io.osier.propagation.transport.PortLimits;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Serves /metrics in Prometheus' form and /health, for operators. */
final class AdminServer implements AutoCloseable {
  /** What a partition's memory is divided into; 0 where a keyspace has no use for one. */
  private static final List<String> SHARES =
      List.of("commands", "trails", "relays", "waiting", "history", "transactions", "ended");

  private static final long REPORT_NANOS_MAX = 1_000_000_000;

  private final Map<String, KeyspaceShard> keyspaces;
  private final Set<String> peers;
  private final Readiness readiness;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<PartitionRunner, PartitionReport> reports = new ConcurrentHashMap<>();
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          r -> {
            Thread thread = new Thread(r, "osier-admin");
            thread.setDaemon(true);
            return thread;
          });
  private final HttpEndpoint http;

  AdminServer(
      InetSocketAddress listen,
      PortLimits limits,
      Map<String, KeyspaceShard> keyspaces,
      ClientServer clients,
      PeerTransport transport,
      Optional<StoreService> store,
      Readiness readiness) {
    this.readiness = readiness;
    this.keyspaces = keyspaces;
    this.peers = transport.traffic().keySet();
    new JvmMemoryMetrics().bindTo(registry);
    gc.bindTo(registry);
    Gauge.builder("osier.client.requests", clients, ClientServer::requests).register(registry);
    Gauge.builder("osier.client.failures", clients, ClientServer::failures).register(registry);
    Gauge.builder("osier.client.malformed", clients, ClientServer::malformed).register(registry);
    Gauge.builder("osier.peers.connected", transport, PeerTransport::connected).register(registry);
    transport
        .traffic()
        .forEach(
            (dc, traffic) -> {
              Tags peer = Tags.of("peer", dc);
              Gauge.builder("osier.peer.sent.bytes", traffic, t -> t.sentBytes())
                  .tags(peer)
                  .register(registry);
              Gauge.builder("osier.peer.received.bytes", traffic, t -> t.receivedBytes())
                  .tags(peer)
                  .register(registry);
            });
    Gauge.builder("osier.ready", readiness, r -> r.obstacles().isEmpty() ? 1 : 0)
        .register(registry);
    store.ifPresent(this::register);
    keyspaces.values().forEach(this::register);
    http =
        new HttpEndpoint(
            listen,
            limits,
            Map.of(
                "/metrics",
                () -> CompletableFuture.supplyAsync(this::metrics, executor),
                "/health",
                () -> CompletableFuture.completedFuture(health())));
  }

  private void register(StoreService store) {
    Gauge.builder("osier.store.writes", store, StoreService::writes).register(registry);
    Gauge.builder("osier.store.groups", store, StoreService::groupsWritten).register(registry);
    Gauge.builder("osier.store.versions.dropped", store, StoreService::pruned).register(registry);
    Gauge.builder("osier.store.file.bytes", store, StoreService::fileBytes).register(registry);
    Gauge.builder("osier.store.full", store, s -> s.isFull() ? 1 : 0).register(registry);
    Gauge.builder(
            "osier.store.write.p99.seconds",
            store,
            s -> s.writeMicros().getValueAtPercentile(99) / 1e6)
        .register(registry);
    Gauge.builder("osier.store.write.max.seconds", store, s -> s.writeMicros().getMaxValue() / 1e6)
        .register(registry);
  }

  private void register(KeyspaceShard keyspace) {
    for (String dc : peers) {
      Gauge.builder(
              "osier.keyspace.refused", keyspace.gate(), g -> g.refusals().containsKey(dc) ? 1 : 0)
          .tags(Tags.of("keyspace", keyspace.policy().name(), "peer", dc))
          .register(registry);
    }
    int number = 0;
    for (PartitionRunner runner : keyspace.partitions()) {
      Tags tags =
          Tags.of("keyspace", keyspace.policy().name(), "partition", Integer.toString(number++));
      gauge("osier.updates", tags, runner, PartitionReport::committed);
      gauge("osier.objects", tags, runner, PartitionReport::objects);
      gauge("osier.removed.objects", tags, runner, PartitionReport::removedObjects);
      gauge("osier.forgotten.objects", tags, runner, PartitionReport::forgottenObjects);
      gauge("osier.dirty.objects", tags, runner, PartitionReport::dirtyObjects);
      gauge("osier.waiting.updates", tags, runner, PartitionReport::waitingUpdates);
      gauge("osier.open.transactions", tags, runner, PartitionReport::openTransactions);
      gauge("osier.former.versions", tags, runner, PartitionReport::formerVersions);
      gauge("osier.rights.waiting", tags, runner, PartitionReport::rightsWaiting);
      gauge("osier.rights.denied", tags, runner, PartitionReport::rightsDenied);
      gauge("osier.state.objects", tags, runner, PartitionReport::stateObjects);
      gauge("osier.mode.switches", tags, runner, PartitionReport::modeSwitches);
      gauge("osier.shipped.bytes", tags, runner, PartitionReport::shippedBytes);
      gauge("osier.op.bytes", tags, runner, PartitionReport::opBytes);
      gauge("osier.gaps", tags, runner, PartitionReport::gapsSeen);
      gauge("osier.healed", tags, runner, PartitionReport::healed);
      gauge("osier.sla.violations", tags, runner, PartitionReport::slaViolations);
      gauge("osier.late.after.outage", tags, runner, r -> r.late().outage());
      gauge("osier.late", tags.and("reason", "origin"), runner, r -> r.late().origin());
      gauge("osier.late", tags.and("reason", "way"), runner, r -> r.late().way());
      gauge("osier.late", tags.and("reason", "dependency"), runner, r -> r.late().dependency());
      gauge(
          "osier.visibility.p99.seconds",
          tags,
          runner,
          r -> r.visibilityMicros().getValueAtPercentile(99) / 1e6);
      gauge(
          "osier.visibility.max.seconds",
          tags,
          runner,
          r -> r.visibilityMicros().getMaxValue() / 1e6);
      gauge(
          "osier.lag.updates",
          tags,
          runner,
          r -> r.peers().stream().mapToLong(PartitionReport.Peer::lagUpdates).max().orElse(0));
      for (String dc : peers) {
        gauge("osier.peer.lag.updates", tags.and("peer", dc), runner, r -> lagOf(r, dc));
      }
      figure("osier.cached.keys", tags, runner, ObjectStore.Figures::cachedKeys);
      figure("osier.cache.misses", tags, runner, ObjectStore.Figures::misses);
      figure("osier.cache.misses.waited.for", tags, runner, ObjectStore.Figures::slowMisses);
      figure("osier.log.entries", tags, runner, ObjectStore.Figures::logEntries);
      for (String share : SHARES) {
        Tags of = tags.and("share", share);
        gauge("osier.memory.used.bytes", of, runner, r -> usage(runner, r, share).used());
        gauge("osier.memory.limit.bytes", of, runner, r -> usage(runner, r, share).limit());
        gauge("osier.memory.spent", of, runner, r -> usage(runner, r, share).spent());
      }
      Gauge.builder("osier.queue", runner, PartitionRunner::queued).tags(tags).register(registry);
      Gauge.builder("osier.overloads", runner, PartitionRunner::overloads)
          .tags(tags)
          .register(registry);
    }
  }

  private void figure(
      String name, Tags tags, PartitionRunner runner, ToDoubleFunction<ObjectStore.Figures> of) {
    Gauge.builder(name, runner, r -> of.applyAsDouble(r.store().figures()))
        .tags(tags)
        .register(registry);
  }

  private void gauge(
      String name, Tags tags, PartitionRunner runner, ToDoubleFunction<PartitionReport> of) {
    Gauge.builder(
            name,
            runner,
            r -> {
              PartitionReport report = reports.get(r);
              return report == null ? Double.NaN : of.applyAsDouble(report);
            })
        .tags(tags)
        .register(registry);
  }

  private static Budget.Usage usage(PartitionRunner runner, PartitionReport report, String share) {
    return Stream.concat(Stream.of(runner.memory()), report.memory().stream())
        .filter(u -> u.name().equals(share))
        .findFirst()
        .orElse(new Budget.Usage(share, 0, 0, 0));
  }

  private static double lagOf(PartitionReport report, String dc) {
    return report.peers().stream()
        .filter(p -> p.dc().equals(dc))
        .mapToLong(PartitionReport.Peer::lagUpdates)
        .sum();
  }

  private HttpEndpoint.Answer metrics() {
    Map<PartitionRunner, CompletableFuture<PartitionReport>> asked = new HashMap<>();
    for (KeyspaceShard keyspace : keyspaces.values()) {
      keyspace.partitions().forEach(p -> asked.put(p, p.inspect(0)));
    }
    long deadline = System.nanoTime() + REPORT_NANOS_MAX; // for all of them together
    asked.forEach((partition, answer) -> take(partition, answer, deadline - System.nanoTime()));
    return new HttpEndpoint.Answer(200, registry.scrape());
  }

  private void take(
      PartitionRunner partition, CompletableFuture<PartitionReport> answer, long nanos) {
    try {
      reports.put(partition, answer.get(Math.max(0, nanos), TimeUnit.NANOSECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      reports.remove(partition); // shown as NaN: a partition that does not answer is a finding
    }
  }

  private HttpEndpoint.Answer health() {
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
