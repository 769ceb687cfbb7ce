package io.osier.datacenter.admin;

import io.osier.core.ErrorCode;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.DelayHistogram;
import io.osier.propagation.host.LateCounts;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Keeps a datacenter's last hour from the snapshots that are published each second. Thread-safe.
 */
public final class HistoryKeeper {
  /** The kinds of requests whose times count: others wait on purpose. */
  private static final Set<String> TIMED = Set.of("read", "write", "scan", "transact");

  /** Errors after which a client may try again, here or elsewhere: the datacenter is overloaded. */
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.OVERLOADED, ErrorCode.STORE_FULL, ErrorCode.REFUSED_BY_PEERS);

  private final String dc;
  private final History history = new History();

  public HistoryKeeper(String dc) {
    this.dc = dc;
  }

  /** Takes a published snapshot; ignores it while a partition has published nothing yet. */
  public void take(Snapshot now) {
    if (now.published().size() < now.keyspaces().size()) {
      return;
    }
    long processorNanos =
        ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    History.Moment moment = moment(now, processorNanos, heap);
    synchronized (history) {
      history.tick(moment, System.nanoTime(), now.atMillis());
    }
  }

  static History.Moment moment(Snapshot now, long processorNanos, long heapBytes) {
    Map<ErrorCode, Long> failures = now.clients().failures();
    long failed = failures.values().stream().mapToLong(n -> n).sum();
    long refused = REFUSALS.stream().mapToLong(code -> failures.getOrDefault(code, 0L)).sum();
    Map<String, History.Staleness> peers = new HashMap<>();
    for (Snapshot.Keyspace keyspace : now.keyspaces()) {
      keyspace
          .peers()
          .forEach((dc, all) -> all.forEach(p -> peers.merge(dc, of(p), History.Staleness::or)));
    }
    return new History.Moment(
        sum(now, r -> r.content().committed()),
        sum(now, r -> r.arrived().applied()),
        sum(now, r -> r.shipped().arrivedBytes()),
        sum(now, r -> r.shipped().opBytes()),
        sum(now, HistoryKeeper::late),
        now.keyspaces().stream().mapToLong(k -> k.timeliness().overdue()).sum(),
        refused,
        failed - refused,
        now.clients().requests().entrySet().stream()
            .filter(e -> TIMED.contains(e.getKey()))
            .map(Map.Entry::getValue)
            .reduce(DelayHistogram::plus)
            .orElseGet(DelayHistogram::of),
        processorNanos,
        heapBytes,
        now.store().map(s -> s.database().tableBytes()).orElse(0L),
        peers);
  }

  private static long sum(Snapshot now, ToLongFunction<PartitionReport> of) {
    return now.keyspaces().stream().mapToLong(k -> k.sum(of)).sum();
  }

  private static long late(PartitionReport report) {
    LateCounts here = report.arrived().late();
    return here.violations()
        + report.peers().stream().mapToLong(p -> p.to().timeliness().late()).sum();
  }

  private static History.Staleness of(PartitionReport.Peer peer) {
    return new History.Staleness(
        peer.to().lagNanos() / 1_000_000, peer.from().unheardNanos() / 1_000_000);
  }

  /** Returns the hour as JSON. */
  String json() {
    JsonObject hour;
    synchronized (history) {
      hour = history.json(dc);
    }
    return hour.toString(); // outside the lock, for which take() waits
  }
}
