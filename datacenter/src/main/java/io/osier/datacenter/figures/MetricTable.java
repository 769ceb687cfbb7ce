package io.osier.datacenter.figures;

import io.osier.core.Budget;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoreFigures;
import io.osier.propagation.host.Delays;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * Every metric of a datacenter, in the order of docs/OPERATIONS.md, whose table is made of this
 * one. Partitions are added up: what matters for an alert is a keyspace's, and `stat` knows more.
 */
public final class MetricTable {
  private static final String K = "keyspace";
  private static final String P = "peer";
  private static final long[] WRITE_BOUNDS_MICROS = {
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000
  };

  private final List<Metric> metrics = new ArrayList<>();

  private MetricTable() {
    datacenter();
    joining();
    certificates();
    clients();
    audit();
    links();
    contents();
    modes();
    shipping();
    arriving();
    peers();
    queues();
    store();
    traces();
  }

  /** All of them. */
  public static List<Metric> all() {
    return List.copyOf(new MetricTable().metrics);
  }

  private void add(
      Metric.Type type, String name, List<String> labels, String help, Metric.Values values) {
    metrics.add(new Metric("osier_" + name, type, labels, help, values));
  }

  private void one(Metric.Type type, String name, String help, ToDoubleFunction<Snapshot> of) {
    add(type, name, List.of(), help, (s, to) -> to.number(of.applyAsDouble(s)));
  }

  private void perKeyspace(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Keyspace> of) {
    add(
        type,
        name,
        List.of(K),
        help,
        (s, to) -> s.published().forEach(k -> to.number(of.applyAsDouble(k), k.name())));
  }

  private void counted(String name, String help, ToLongFunction<PartitionReport> of) {
    perKeyspace(Metric.Type.COUNTER, name, help, k -> k.sum(of));
  }

  private void gauged(String name, String help, ToLongFunction<PartitionReport> of) {
    perKeyspace(Metric.Type.GAUGE, name, help, k -> k.sum(of));
  }

  /** A figure of a keyspace's partitions for one peer, from what each of them says of it. */
  private void perPeer(
      Metric.Type type, String name, String help, ToDoubleFunction<List<PartitionReport.Peer>> of) {
    add(
        type,
        name,
        List.of(K, P),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach((dc, all) -> to.number(of.applyAsDouble(all), k.name(), dc))));
  }

  private void timesPerPeer(String name, String help, Function<PartitionReport.Peer, Delays> of) {
    add(
        Metric.Type.HISTOGRAM,
        name,
        List.of(K, P),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach(
                                (dc, all) ->
                                    to.times(
                                        all.stream().map(of).reduce(Delays::plus).orElseThrow(),
                                        k.name(),
                                        dc))));
  }

  private static double sum(
      List<PartitionReport.Peer> peers, ToLongFunction<PartitionReport.Peer> of) {
    return peers.stream().mapToLong(of).sum();
  }

  // ---------------------------------------------------------------- the datacenter

  private void datacenter() {
    add(
        Metric.Type.GAUGE,
        "build_info",
        List.of("version"),
        "Always 1; the label says which version runs",
        (s, to) -> to.number(1, s.version()));
    one(
        Metric.Type.GAUGE,
        "start_time_seconds",
        "When the datacenter started, since 1970",
        s -> s.startMillis() / 1e3);
    one(
        Metric.Type.GAUGE,
        "ready",
        "1 if it serves; 0 if /readyz names what keeps it",
        s -> s.obstacles().isEmpty() ? 1 : 0);
    one(
        Metric.Type.GAUGE,
        "warnings",
        "How many things do not work although it serves; /readyz names them",
        s -> s.warnings().size());
    add(
        Metric.Type.GAUGE,
        "figures_age_seconds",
        List.of(K),
        "How old the oldest of the partitions' figures is: over 5 s a partition does not answer",
        (s, to) ->
            s.published().forEach(k -> to.number(k.ageMillis(s.atMillis()) / 1e3, k.name())));
  }

  private void certificates() {
    add(
        Metric.Type.GAUGE,
        "certificate_expiry_time_seconds",
        List.of("certificate"),
        "Until when a certificate that was read is valid, since 1970, by its subject",
        (s, to) -> s.certificates().forEach((subject, at) -> to.number(at.doubleValue(), subject)));
  }

  private void joining() {
    joining(
        "joining_partitions_complete",
        "Only while it joins: partitions that have what the others have",
        j -> j.complete());
    joining("joining_partitions", "Only while it joins: its partitions", j -> j.partitions());
    joining("joining_objects", "Only while it joins: objects that it holds", j -> j.objects());
    joining(
        "joining_objects_there",
        "Only while it joins: objects that the others hold, as they say",
        j -> j.objectsThere().orElse(0));
    joining(
        "joining_bytes",
        "Only while it joins: bytes that have come from the others since its start",
        j -> j.bytes());
    add(
        Metric.Type.GAUGE,
        "joining_left_seconds",
        List.of(),
        "Only while it joins: until it has as many objects as the others, as fast as they came"
            + " in the last 10 s; absent where that is not known",
        (s, to) ->
            s.joining()
                .ifPresent(j -> j.secondsLeft().ifPresent(seconds -> to.number((double) seconds))));
  }

  private void joining(String name, String help, ToDoubleFunction<Snapshot.Joining> of) {
    add(
        Metric.Type.GAUGE,
        name,
        List.of(),
        help,
        (s, to) -> s.joining().ifPresent(j -> to.number(of.applyAsDouble(j))));
  }

  private void clients() {
    add(
        Metric.Type.HISTOGRAM,
        "client_request_seconds",
        List.of("kind"),
        "From a request's arrival until its answer is handed over to be sent",
        (s, to) -> s.clients().requests().forEach((kind, times) -> to.times(times, kind)));
    add(
        Metric.Type.COUNTER,
        "client_failures",
        List.of("reason"),
        "Requests that were refused or failed, by the error that the client got",
        (s, to) -> s.clients().failures().forEach((code, count) -> to.number(count, code.name())));
    one(
        Metric.Type.COUNTER,
        "client_malformed",
        "Requests that could not be read",
        s -> s.clients().malformed());
    one(
        Metric.Type.GAUGE,
        "client_connections",
        "Connections of clients that are open",
        s -> s.clients().connections());
    add(
        Metric.Type.COUNTER,
        "client_limited",
        List.of("limit"),
        "What was refused because a user had as much as one may have: connections, requests, bytes",
        (s, to) -> s.clients().limited().forEach((limit, count) -> to.number(count, limit)));
  }

  private void audit() {
    add(
        Metric.Type.COUNTER,
        "audit_lost",
        List.of("reason"),
        "Lines of the audit log that were not written: flood: strangers caused too many; queue: the"
            + " disk is too slow; disk: it did not take them",
        (s, to) -> s.auditLost().forEach((reason, count) -> to.number(count, reason)));
  }

  private void links() {
    perLink(
        Metric.Type.GAUGE,
        "peer_connected",
        "1 if frames can be sent to the peer",
        l -> l.connected() ? 1 : 0);
    perLink(
        Metric.Type.COUNTER,
        "peer_sent_bytes",
        "Bytes sent to the peer, framing included",
        Snapshot.Link::sentBytes);
    perLink(
        Metric.Type.COUNTER,
        "peer_received_bytes",
        "Bytes received from the peer, framing included",
        Snapshot.Link::receivedBytes);
    add(
        Metric.Type.GAUGE,
        "keyspace_refused",
        List.of(K, P),
        "1 if the peer does not take the keyspace's updates; /readyz says why",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        s.links()
                            .keySet()
                            .forEach(
                                dc ->
                                    to.number(
                                        k.refusedBy().containsKey(dc) ? 1 : 0, k.name(), dc))));
  }

  private void perLink(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Link> of) {
    add(
        type,
        name,
        List.of(P),
        help,
        (s, to) -> s.links().forEach((dc, link) -> to.number(of.applyAsDouble(link), dc)));
  }

  // ---------------------------------------------------------------- keyspaces

  private void contents() {
    counted("updates", "Updates committed here", r -> r.content().committed());
    gauged("objects", "Objects held here", r -> r.content().objects());
    gauged(
        "removed_objects",
        "Removed objects that wait until every datacenter has seen it",
        r -> r.content().removedObjects());
    counted(
        "forgotten_objects",
        "Removed objects of which nothing is left here",
        r -> r.content().forgottenObjects());
    gauged(
        "open_transactions",
        "Transactions that are open and hold a snapshot",
        r -> r.snapshots().openTransactions());
    gauged(
        "former_versions",
        "Former values kept for snapshots and the history",
        r -> r.snapshots().formerVersions());
    gauged(
        "rights_waiting",
        "Updates of bounded counters that wait for rights",
        r -> r.rights().waiting());
    counted(
        "rights_denied",
        "Updates of bounded counters that failed for lack of rights",
        r -> r.rights().denied());
  }

  private void modes() {
    gauged(
        "state_mode_objects",
        "Objects whose updates are joined and shipped as states now",
        r -> r.modes().stateObjects());
    add(
        Metric.Type.COUNTER,
        "mode_switches",
        List.of(K, "reason"),
        "How often objects changed their modes, by why",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        switches(k)
                            .forEach((reason, count) -> to.number(count, k.name(), reason))));
    perKeyspace(
        Metric.Type.GAUGE,
        "hottest_object_updates_per_second",
        "The rate of the hottest object; `osier cli hot` names it",
        k -> k.hot(1).stream().mapToDouble(PartitionReport.Hot::updatesPerSecond).sum());
    perKeyspace(
        Metric.Type.GAUGE,
        "shipment_cost_bytes",
        "What handling a shipment costs each receiver, in bytes on the links worth as much",
        k -> k.max(r -> r.modes().shipmentCost()));
  }

  private static Map<String, Long> switches(Snapshot.Keyspace keyspace) {
    return keyspace.partitions().stream()
        .flatMap(p -> p.report().modes().switches().entrySet().stream())
        .collect(
            Collectors.groupingBy(
                e -> e.getKey().label(), Collectors.summingLong(Map.Entry::getValue)));
  }

  private void shipping() {
    gauged(
        "dirty_objects",
        "Objects with updates that are held for a round now",
        r -> r.shipped().dirtyObjects());
    add(
        Metric.Type.COUNTER,
        "shipments",
        List.of(K, "mode"),
        "Operations, states and catch-ups shipped, counted once for all peers",
        (s, to) ->
            s.published()
                .forEach(
                    k -> {
                      to.number((double) k.sum(r -> r.shipped().ops()), k.name(), "op");
                      to.number((double) k.sum(r -> r.shipped().states()), k.name(), "state");
                      to.number((double) k.sum(r -> r.shipped().catchUps()), k.name(), "catch-up");
                    }));
    add(
        Metric.Type.COUNTER,
        "shipped_bytes",
        List.of(K, P, "mode"),
        "Bytes of updates shipped to the peer, by how they were shipped",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach(
                                (dc, all) -> {
                                  String[] labels = {k.name(), dc, "op"};
                                  to.number(sum(all, p -> p.to().opBytes()), labels);
                                  to.number(
                                      sum(all, p -> p.to().stateBytes()), k.name(), dc, "state");
                                  to.number(
                                      sum(all, p -> p.to().catchUpBytes()),
                                      k.name(),
                                      dc,
                                      "catch-up");
                                })));
    counted(
        "op_bytes",
        "Bytes that the same updates take as single operations, to all peers",
        r -> r.shipped().opBytes());
    gauged(
        "saved_bytes",
        "Bytes that shipping operations alone would have cost more, since the start",
        r -> r.shipped().opBytes() - r.shipped().bytes());
    perKeyspace(
        Metric.Type.GAUGE,
        "coordination_seconds",
        "μ: the time set aside for a round's acknowledgement; the largest of the partitions",
        k -> k.max(r -> r.shipped().coordinationMicros() / 1e6));
    timesPerPeer(
        "round_seconds",
        "From a round's sending until the peer has acknowledged it",
        p -> p.to().roundTimes());
  }

  private void arriving() {
    counted(
        "applied_updates", "Updates of other datacenters applied here", r -> r.arrived().applied());
    gauged(
        "waiting_updates",
        "Updates that have come and wait for the rest of their cut or what they build on",
        r -> r.arrived().waitingUpdates());
    counted(
        "gaps",
        "Missing frames or predecessors that were seen, and healed",
        r -> r.arrived().gapsSeen());
    counted(
        "healed_objects",
        "Objects received from a third datacenter, or after a gap",
        r -> r.arrived().healed());
    perKeyspace(
        Metric.Type.GAUGE, "sla_seconds", "δ: the staleness bound", k -> k.slaMillis() / 1e3);
    timesPerPeer(
        "visibility_seconds",
        "From the commit of a shipment's oldest update at the peer until visible here, outages out",
        p -> p.from().visibility());
    add(
        Metric.Type.COUNTER,
        "late_shipments",
        List.of(K, P, "reason"),
        "Shipments of the peer visible here later than the bound; outage: a link was down",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach(
                                (dc, all) -> {
                                  to.number(
                                      sum(all, p -> p.from().late().origin()),
                                      k.name(),
                                      dc,
                                      "origin");
                                  to.number(
                                      sum(all, p -> p.from().late().way()), k.name(), dc, "way");
                                  to.number(
                                      sum(all, p -> p.from().late().dependency()),
                                      k.name(),
                                      dc,
                                      "dependency");
                                  to.number(
                                      sum(all, p -> p.from().late().outage()),
                                      k.name(),
                                      dc,
                                      "outage");
                                })));
  }

  private void peers() {
    perPeer(
        Metric.Type.GAUGE,
        "lag_updates",
        "Updates of this datacenter that the peer has not confirmed",
        all -> sum(all, p -> p.to().lagUpdates()));
    perPeer(
        Metric.Type.GAUGE,
        "lag_bytes",
        "What they take as single operations, at most, as far as they are of this life",
        all -> sum(all, p -> p.to().lagBytes()));
    perPeer(
        Metric.Type.GAUGE,
        "lag_seconds",
        "For how long the peer lacks the oldest of them, at most",
        all -> all.stream().mapToLong(p -> p.to().lagNanos()).max().orElse(0) / 1e9);
    perPeer(
        Metric.Type.GAUGE,
        "behind_updates",
        "Updates of the peer that have not come here, as far as it tells",
        all -> sum(all, p -> p.from().behindUpdates()));
    perPeer(
        Metric.Type.GAUGE,
        "in_flight_bytes",
        "Bytes of updates sent to the peer and not acknowledged",
        all -> sum(all, p -> p.to().inFlightBytes()));
    perPeer(
        Metric.Type.GAUGE,
        "streaming_partitions",
        "Partitions whose stream to the peer is up to date; the others wait or catch up",
        all -> all.stream().filter(p -> p.stream().equals("streaming")).count());
    heldBack(
        "horizon_held_back",
        "Partitions whose log is kept for the peer, which has confirmed least",
        (r, dc) -> r.heldBackBy().filter(dc::equals).isPresent());
    heldBack(
        "cut_held_back",
        "Partitions where updates wait for their cut while some of the peer's are missing",
        (r, dc) -> r.cutHeldBackBy().contains(dc));
  }

  private void heldBack(
      String name, String help, BiFunction<PartitionReport, String, Boolean> isHeldBackBy) {
    add(
        Metric.Type.GAUGE,
        name,
        List.of(K, P),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .keySet()
                            .forEach(
                                dc ->
                                    to.number(
                                        (double) k.sum(r -> isHeldBackBy.apply(r, dc) ? 1 : 0),
                                        k.name(),
                                        dc))));
  }

  private void queues() {
    perKeyspace(
        Metric.Type.GAUGE,
        "partitions",
        "Partitions of the keyspace",
        k -> k.policy().partitions());
    perKeyspace(
        Metric.Type.GAUGE,
        "ready_partitions",
        "Partitions that serve: they have caught up",
        Snapshot.Keyspace::ready);
    perKeyspace(
        Metric.Type.GAUGE,
        "queued_commands",
        "Commands that wait for their partition",
        Snapshot.Keyspace::queued);
    perKeyspace(
        Metric.Type.COUNTER,
        "overloads",
        "Commands refused because a queue was full or took too much memory",
        Snapshot.Keyspace::overloads);
    perShare(
        Metric.Type.GAUGE,
        "memory_used_bytes",
        "Used of the share of the heap",
        Budget.Usage::used);
    perShare(Metric.Type.GAUGE, "memory_limit_bytes", "The share's size", Budget.Usage::limit);
    perShare(
        Metric.Type.COUNTER,
        "memory_spent",
        "How often something was refused, dropped or had to wait because the share was spent",
        Budget.Usage::spent);
    perKeyspace(
        Metric.Type.GAUGE,
        "cached_keys",
        "Keys in memory",
        k -> k.stored(ObjectStore.Figures::cachedKeys));
    perKeyspace(
        Metric.Type.COUNTER,
        "cache_misses",
        "Keys read from the disk",
        k -> k.stored(ObjectStore.Figures::misses));
    perKeyspace(
        Metric.Type.COUNTER,
        "cache_slow_misses",
        "Keys read from the disk while the partition's thread waited",
        k -> k.stored(ObjectStore.Figures::slowMisses));
    perKeyspace(
        Metric.Type.GAUGE,
        "log_entries",
        "Own updates kept for datacenters that have not got them",
        k -> k.stored(ObjectStore.Figures::logEntries));
  }

  private void perShare(
      Metric.Type type, String name, String help, ToLongFunction<Budget.Usage> of) {
    add(
        type,
        name,
        List.of(K, "share"),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.memory()
                            .forEach(
                                (share, usage) ->
                                    to.number((double) of.applyAsLong(usage), k.name(), share))));
  }

  // ---------------------------------------------------------------- the store

  private void ofStore(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Store> of) {
    add(
        type,
        "store_" + name,
        List.of(),
        help,
        (s, to) -> s.store().ifPresent(store -> to.number(of.applyAsDouble(store))));
  }

  private void ofDatabase(
      Metric.Type type, String name, String help, ToDoubleFunction<StoreFigures> of) {
    ofStore(type, name, help, store -> of.applyAsDouble(store.database()));
  }

  private void store() {
    ofStore(
        Metric.Type.GAUGE,
        "full",
        "1 if updates are refused: the disk is full",
        s -> s.full() ? 1 : 0);
    ofStore(Metric.Type.COUNTER, "writes", "Writes of groups to the disk", Snapshot.Store::writes);
    ofStore(Metric.Type.COUNTER, "groups", "Partitions' groups in them", Snapshot.Store::groups);
    ofStore(
        Metric.Type.COUNTER,
        "versions_dropped",
        "Old versions dropped",
        Snapshot.Store::versionsDropped);
    add(
        Metric.Type.HISTOGRAM,
        "store_write_seconds",
        List.of(),
        "How long a write of groups took, fsync included",
        (s, to) -> s.store().ifPresent(store -> to.times(ranges(store.writeMicros()))));
    ofDatabase(Metric.Type.GAUGE, "table_bytes", "Bytes of the tables", StoreFigures::tableBytes);
    ofDatabase(
        Metric.Type.GAUGE,
        "memtable_bytes",
        "In memory, not in a table yet",
        StoreFigures::memtableBytes);
    ofDatabase(
        Metric.Type.GAUGE,
        "block_cache_bytes",
        "What the cache of tables' blocks holds",
        StoreFigures::blockCacheBytes);
    ofDatabase(
        Metric.Type.COUNTER,
        "block_cache_hits",
        "Blocks found in it",
        StoreFigures::blockCacheHits);
    ofDatabase(
        Metric.Type.COUNTER,
        "block_cache_misses",
        "Blocks read from files",
        StoreFigures::blockCacheMisses);
    ofDatabase(
        Metric.Type.GAUGE,
        "level_zero_files",
        "Tables that compaction has not merged yet",
        StoreFigures::levelZeroFiles);
    ofDatabase(
        Metric.Type.GAUGE,
        "compaction_pending_bytes",
        "What compaction has to rewrite until the tree is in shape",
        StoreFigures::compactionPendingBytes);
    ofDatabase(
        Metric.Type.GAUGE,
        "compactions_running",
        "Compactions now",
        StoreFigures::compactionsRunning);
    ofDatabase(
        Metric.Type.COUNTER,
        "compaction_read_bytes",
        "Bytes that compactions have read",
        StoreFigures::compactionReadBytes);
    ofDatabase(
        Metric.Type.COUNTER,
        "compaction_written_bytes",
        "Bytes that compactions have written",
        StoreFigures::compactionWrittenBytes);
    ofDatabase(
        Metric.Type.COUNTER,
        "flushed_bytes",
        "Bytes written from memory to tables",
        StoreFigures::flushedBytes);
    ofDatabase(
        Metric.Type.COUNTER,
        "log_bytes",
        "Bytes written to the write-ahead log",
        StoreFigures::logBytes);
    ofDatabase(
        Metric.Type.COUNTER,
        "log_syncs",
        "How often the log was synchronised",
        StoreFigures::logSyncs);
    ofDatabase(
        Metric.Type.COUNTER,
        "stall_seconds",
        "How long writes had to wait for compaction",
        d -> d.stallMicros() / 1e6);
    ofDatabase(
        Metric.Type.GAUGE,
        "writes_stopped",
        "1 while writes wait for compaction",
        d -> d.writesStopped() ? 1 : 0);
  }

  private static Delays ranges(Histogram micros) {
    long[] counts = new long[WRITE_BOUNDS_MICROS.length + 1];
    long above = 0;
    for (int i = 0; i < WRITE_BOUNDS_MICROS.length; i++) {
      counts[i] = micros.getCountBetweenValues(above, WRITE_BOUNDS_MICROS[i]);
      above = micros.nextNonEquivalentValue(WRITE_BOUNDS_MICROS[i]);
    }
    long counted = Arrays.stream(counts).sum();
    counts[WRITE_BOUNDS_MICROS.length] = micros.getTotalCount() - counted;
    return Delays.counted(
        WRITE_BOUNDS_MICROS, counts, Math.round(micros.getMean() * micros.getTotalCount()));
  }

  // ---------------------------------------------------------------- traces

  private void traces() {
    add(
        Metric.Type.COUNTER,
        "trace_spans",
        List.of(),
        "Spans of traces that their receiver has taken",
        (s, to) -> s.traces().ifPresent(t -> to.number((double) t.sent())));
    add(
        Metric.Type.COUNTER,
        "trace_dropped",
        List.of("reason"),
        "Spans that were not sent: full: too many wait; refused: the receiver does not take them;"
            + " updates: so many updates were not followed to their end, because too many are",
        (s, to) ->
            s.traces()
                .ifPresent(t -> t.dropped().forEach((reason, count) -> to.number(count, reason))));
  }
}
