package io.osier.datacenter.metrics.report;

import io.osier.core.VersionVector;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoreStatistics;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.Timeliness;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Request;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * Renders a snapshot as JSON, according to the request's topic. docs/MONITORING.md explains the
 * fields.
 */
final class SnapshotJson {
  private SnapshotJson() {}

  /** Returns the answer to an inspection of any topic except digests. */
  static JsonObject of(Snapshot snapshot, AdminRequest.Inspect request) {
    JsonObject root = root(snapshot);
    if (request.topic() == Request.Topic.PEERS) {
      JsonObject links = root.putObject("links");
      snapshot
          .links()
          .forEach(
              (dc, link) ->
                  links
                      .putObject(dc)
                      .put("connected", link.connected())
                      .put("protocol", link.protocol())
                      .put("sent_bytes", link.sentBytes())
                      .put("received_bytes", link.receivedBytes())
                      .put("saved_bytes", link.savedBytes()));
    }
    if (request.topic() == Request.Topic.STAT) {
      snapshot.obstacles().forEach(root.putArray("not_ready_because")::add);
      snapshot.warnings().forEach(root.putArray("warnings")::add);
      if (!snapshot.certificates().isEmpty()) {
        JsonObject certificates = root.putObject("certificates");
        snapshot
            .certificates()
            .forEach(
                (subject, at) -> certificates.put(subject, Instant.ofEpochSecond(at).toString()));
      }
      clients(root.putObject("clients"), snapshot.clients());
      copies(root.putObject("copies"), snapshot.clients().elsewhere());
      root.put(
          "saved_bytes",
          snapshot.links().values().stream().mapToLong(Snapshot.Link::savedBytes).sum());
      JsonObject lost = root.putObject("audit_lost");
      snapshot.auditLost().forEach((reason, count) -> lost.put(reason, count));
      JsonObject failed = root.putObject("failed_attempts");
      snapshot.failedAttempts().forEach((what, count) -> failed.put(what, count));
      snapshot.store().ifPresent(s -> store(root.putObject("store"), s));
    }
    for (Snapshot.Keyspace keyspace : snapshot.keyspaces()) {
      if (request.keyspace().isPresent()
          && !Inspector.isPartOf(keyspace.name(), request.keyspace().get())) {
        continue;
      }
      JsonObject node = root.object("keyspaces").putObject(keyspace.name());
      switch (request.topic()) {
        case STAT -> stat(node, snapshot, keyspace);
        case HOT -> hot(node, keyspace.hot(Math.max(1, request.limit())));
        case PEERS -> peers(node, keyspace);
        case DIGEST -> throw new IllegalArgumentException("a digest is made of the objects");
      }
    }
    return root;
  }

  /** Begins a report with the datacenter's name, incarnation and uptime. */
  static JsonObject root(Snapshot snapshot) {
    JsonObject root = new JsonObject();
    root.put("dc", snapshot.self().dc());
    root.put("incarnation", snapshot.self().incarnation());
    root.put("uptime_ms", snapshot.atMillis() - snapshot.startMillis());
    return root;
  }

  private static void clients(JsonObject node, Snapshot.Clients clients) {
    node.put("connections", clients.connections());
    node.put("answered", clients.answered());
    node.put("malformed", clients.malformed());
    JsonObject failures = node.putObject("failed");
    clients.failures().forEach((code, count) -> failures.put(code.name(), count));
    JsonObject limited = node.putObject("limited");
    clients.limited().forEach((limit, count) -> limited.put(limit, count));
    JsonObject users = node.putObject("users");
    clients
        .users()
        .forEach(
            u ->
                users
                    .putObject(u.user())
                    .put("connections", u.connections())
                    .put("requests", u.requests())
                    .put("bytes", u.bytes()));
  }

  /** Copies here of what others hold, and what others copy of what is held here. */
  private static void copies(JsonObject node, Snapshot.Elsewhere elsewhere) {
    Snapshot.Copies copies = elsewhere.copies();
    node.put("objects", copies.objects());
    node.put("hits", copies.hits());
    node.put("misses", copies.misses().values().stream().mapToLong(n -> n).sum());
    node.put("versions", copies.versions());
    Snapshot.Followed followed = elsewhere.followed();
    node.put("followed_objects", followed.objects());
    node.put("followed_states", followed.states());
    node.put("followed_bytes", followed.bytes());
    node.put("followed_untold_ms", followed.untoldMillis());
  }

  private static void store(JsonObject node, Snapshot.Store store) {
    StoreStatistics database = store.database();
    node.put("durability", store.durability());
    var damaged = node.putArray("damaged");
    node.put("disk_full", store.full());
    store.damaged().forEach(range -> damaged.add(range.toString()));
    node.put("damaged_reads", store.failedReads());
    node.put("file_bytes", database.tableBytes());
    node.put("writes", store.writes());
    node.put("groups", store.groups());
    node.put("versions_dropped", store.versionsDropped());
    node.put("compaction_pending_bytes", database.compactionPendingBytes());
    node.put("stalled_ms", database.stallMicros() / 1_000);
    Histogram took = store.writeMicros();
    node.putObject("write_ms")
        .put("p50", millis(took, 50))
        .put("p99", millis(took, 99))
        .put("max", millis(took, 100));
  }

  private static void stat(JsonObject node, Snapshot snapshot, Snapshot.Keyspace k) {
    node.put("sla_ms", k.slaMillis());
    node.put("propagation", k.policy().propagation().name().toLowerCase(Locale.ROOT));
    node.put("partitions", k.policy().partitions());
    node.put("ready", k.ready() == k.policy().partitions());
    k.refusedBy().forEach(node.putObject("refused_by")::put);
    node.put("age_ms", k.ageMillis(snapshot.atMillis()));
    node.put("updates", k.sum(r -> r.content().committed()));
    node.put("objects", k.sum(r -> r.content().objects()));
    node.put("removed_objects", k.sum(r -> r.content().removedObjects()));
    node.put("forgotten_objects", k.sum(r -> r.content().forgottenObjects()));
    node.put("dirty_objects", k.sum(r -> r.shipped().dirtyObjects()));
    node.put("consistency", k.policy().consistency().name().toLowerCase(Locale.ROOT));
    node.put("waiting_updates", k.sum(r -> r.arrived().waitingUpdates()));
    node.put(
        "cut_held_back_by",
        names(k.partitions().stream().flatMap(p -> p.report().cutHeldBackBy().stream()).toList()));
    node.put("open_transactions", k.sum(r -> r.snapshots().openTransactions()));
    node.put("former_versions", k.sum(r -> r.snapshots().formerVersions()));
    node.put("rights_waiting", k.sum(r -> r.rights().waiting()));
    node.put("rights_denied", k.sum(r -> r.rights().denied()));
    node.put("watchers", k.watching().watchers());
    node.put("watchers_told", k.watching().told());
    node.put("watchers_cut_off", k.watching().cutOff());
    node.put("watch_kept_bytes", k.watching().keptBytes());
    modes(node, k);
    traffic(node, k);
    late(node, k);
    double coordination = k.max(r -> r.shipped().coordinationMicros()) / 1e3;
    node.put("coordination_ms", coordination == 0 ? Double.NaN : coordination); // 0 without a peer
    node.put("queued", k.queued());
    node.put("overloads", k.overloads());
    JsonObject memory = node.putObject("memory");
    k.memory()
        .values()
        .forEach(
            usage ->
                memory
                    .putObject(usage.name())
                    .put("used_bytes", usage.used())
                    .put("limit_bytes", usage.limit())
                    .put("spent", usage.spent()));
    node.put("cached_keys", k.stored(ObjectStore.Figures::cachedKeys));
    node.put("cached_bytes", k.stored(ObjectStore.Figures::cachedBytes));
    node.put("cache_limit_bytes", k.stored(ObjectStore.Figures::cacheBytesMax));
    node.put("cache_misses", k.stored(ObjectStore.Figures::misses));
    node.put("cache_misses_waited_for", k.stored(ObjectStore.Figures::slowMisses));
    node.put("log_entries", k.stored(ObjectStore.Figures::logEntries));
    node.put(
        "log_held_back_by",
        names(k.partitions().stream().flatMap(p -> p.report().heldBackBy().stream()).toList()));
    visibility(node.putObject("visibility_ms"), k.visibilityMicros());
    JsonObject.Array through = node.putArray("through");
    k.partitions().forEach(p -> vector(through.addObject(), p.report().content().through()));
  }

  private static void modes(JsonObject node, Snapshot.Keyspace k) {
    node.put("state_mode_objects", k.sum(r -> r.modes().stateObjects()));
    node.put("mode_switches", k.sum(r -> r.modes().switched()));
    node.put(
        "shipment_cost_bytes",
        Math.round(
            k.partitions().stream()
                .mapToDouble(p -> p.report().modes().shipmentCost())
                .average()
                .orElse(0)));
  }

  private static void traffic(JsonObject node, Snapshot.Keyspace k) {
    node.put("applied_remote", k.sum(r -> r.arrived().applied()));
    node.put("shipped_bytes", k.sum(r -> r.shipped().bytes()));
    node.put("arrived_bytes", k.sum(r -> r.shipped().arrivedBytes()));
    node.put("op_bytes", k.sum(r -> r.shipped().opBytes()));
    node.put("ops_shipped", k.sum(r -> r.shipped().ops()));
    node.put("states_shipped", k.sum(r -> r.shipped().states()));
    node.put("catch_ups_shipped", k.sum(r -> r.shipped().catchUps()));
    node.put("gaps_seen", k.sum(r -> r.arrived().gapsSeen()));
    node.put("healed", k.sum(r -> r.arrived().healed()));
    node.put("pulled", k.sum(r -> r.arrived().pulled()));
  }

  private static void late(JsonObject node, Snapshot.Keyspace k) {
    LateCounts late =
        k.partitions().stream()
            .map(p -> p.report().arrived().late())
            .reduce(LateCounts.NONE, LateCounts::plus);
    Timeliness timeliness = k.timeliness();
    node.put("confirmed_updates", timeliness.confirmed());
    node.put("confirmed_late", timeliness.late());
    node.put("overdue_updates", timeliness.overdue());
    node.put("sla_violations", late.violations());
    node.put("late_after_outage", late.outage());
    node.putObject("violations_by_reason")
        .put("origin", late.origin())
        .put("way", late.way())
        .put("dependency", late.dependency());
  }

  private static void visibility(JsonObject node, Histogram all) {
    node.put("count", all.getTotalCount());
    node.put("p50", millis(all, 50));
    node.put("p99", millis(all, 99));
    node.put("p9999", millis(all, 99.99));
    node.put("max", millis(all, 100));
    ByteBuffer encoded = ByteBuffer.allocate(all.getNeededByteBufferCapacity());
    int length = all.encodeIntoCompressedByteBuffer(encoded);
    node.put(
        "histogram", Base64.getEncoder().encodeToString(Arrays.copyOf(encoded.array(), length)));
  }

  /** Returns a percentile in milliseconds; NaN if nothing was measured. */
  private static double millis(Histogram micros, double percentile) {
    return micros.getTotalCount() == 0 ? Double.NaN : micros.getValueAtPercentile(percentile) / 1e3;
  }

  private static String names(Collection<String> dcs) {
    return dcs.stream().distinct().sorted().collect(Collectors.joining(", "));
  }

  private static void vector(JsonObject node, VersionVector vector) {
    for (int i = 0; i < vector.size(); i++) {
      node.put(vector.replica(i).toString(), vector.number(i));
    }
  }

  private static void hot(JsonObject node, List<PartitionReport.Hot> objects) {
    JsonObject.Array hot = node.putArray("hot");
    for (PartitionReport.Hot h : objects) {
      JsonObject o = hot.addObject();
      o.put("key", h.object().key().toString());
      o.put("type", h.object().type().label());
      o.put("mode", h.mode());
      o.put("updates_per_s", Math.round(h.updatesPerSecond() * 10) / 10.0);
      o.put("object_bytes", h.objectBytes());
      o.put("op_bytes", Math.round(h.opBytes()));
      o.put("count", h.count());
      o.put("error", h.error());
    }
  }

  private static void peers(JsonObject node, Snapshot.Keyspace k) {
    JsonObject.Array peers = node.putArray("peers");
    for (Snapshot.Partition partition : k.partitions()) {
      for (PartitionReport.Peer p : partition.report().peers()) {
        JsonObject o = peers.addObject();
        o.put("partition", partition.report().partition());
        o.put("dc", p.dc());
        o.put("incarnation", p.incarnation());
        o.put("connected", p.connected());
        o.put("stream", p.stream());
        o.put("lag_updates", p.to().lagUpdates());
        o.put("lag_bytes", p.to().lagBytes());
        o.put("lag_ms", p.to().lagNanos() / 1_000_000);
        o.put("overdue_updates", p.to().timeliness().overdue());
        o.put("in_flight_bytes", p.to().inFlightBytes());
        o.put("behind_updates", p.from().behindUpdates());
        o.put("unheard_ms", p.from().unheardNanos() / 1_000_000);
      }
    }
  }
}
