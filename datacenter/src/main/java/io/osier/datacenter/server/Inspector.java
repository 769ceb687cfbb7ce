package io.osier.datacenter.server;

import io.osier.core.Budget;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.transport.PeerTransport;
import io.osier.protocol.Request;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** Tells as JSON what a datacenter is doing. docs/OPERATIONS.md explains the fields. */
final class Inspector {
  private static final int DIGEST_BATCH = 1_000;
  private static final int LISTED_MAX = 100_000;

  private final ReplicaId self;
  private final long startMillis;
  private final Map<String, KeyspaceShard> keyspaces;
  private final PeerTransport transport;
  private final Optional<StoreService> store;
  private final Readiness readiness;

  Inspector(
      ReplicaId self,
      long startMillis,
      Map<String, KeyspaceShard> keyspaces,
      PeerTransport transport,
      Optional<StoreService> store,
      Readiness readiness) {
    this.readiness = readiness;
    this.store = store;
    this.transport = transport;
    this.self = self;
    this.startMillis = startMillis;
    this.keyspaces = keyspaces;
  }

  /** Answers an inspection, later. */
  CompletableFuture<String> inspect(Request.Inspect request) {
    Collection<KeyspaceShard> wanted =
        request.keyspace().isEmpty()
            ? keyspaces.values()
            : List.of(keyspace(keyspaces, request.keyspace().get()));
    if (request.topic() == Request.Topic.DIGEST) {
      return CompletableFuture.supplyAsync(() -> digest(wanted, request.limit()).toString());
    }
    int hot = request.topic() == Request.Topic.HOT ? Math.max(1, request.limit()) : 0;
    List<CompletableFuture<PartitionReport>> reports = new ArrayList<>();
    for (KeyspaceShard k : wanted) {
      k.partitions().forEach(p -> reports.add(p.inspect(hot)));
    }
    return CompletableFuture.allOf(reports.toArray(new CompletableFuture<?>[0]))
        .thenApplyAsync(
            done -> {
              JsonObject root = root();
              if (request.topic() == Request.Topic.PEERS) {
                links(root.putObject("links"));
              }
              if (request.topic() == Request.Topic.STAT) {
                readiness.obstacles().forEach(root.putArray("not_ready_because")::add);
                readiness.warnings().forEach(root.putArray("warnings")::add);
                store.ifPresent(s -> store(root.putObject("store"), s));
              }
              int i = 0;
              for (KeyspaceShard k : wanted) {
                List<PartitionReport> own = new ArrayList<>();
                for (int p = 0; p < k.partitions().size(); p++) {
                  own.add(reports.get(i++).join());
                }
                JsonObject node = root.object("keyspaces").putObject(k.policy().name());
                switch (request.topic()) {
                  case STAT -> stat(node, k, own);
                  case HOT -> hot(node, own, request.limit());
                  case PEERS -> peers(node, own);
                  case DIGEST -> throw new IllegalStateException("answered above");
                }
              }
              return root.toString();
            });
  }

  /** Makes a backup, later. */
  CompletableFuture<String> backup(Request.Backup request) {
    if (store.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "this datacenter keeps data in memory only (osier.store.dir is empty): there is nothing"
              + " to back up");
    }
    return store
        .get()
        .backup(request.name())
        .thenApply(
            made ->
                root().put("backup", made.path().toString()).put("bytes", made.bytes()).toString());
  }

  static KeyspaceShard keyspace(Map<String, KeyspaceShard> keyspaces, String name) {
    KeyspaceShard keyspace = keyspaces.get(name);
    if (keyspace == null) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE,
          "there is no keyspace '" + name + "'; there are " + keyspaces.keySet());
    }
    return keyspace;
  }

  private JsonObject root() {
    JsonObject root = new JsonObject();
    root.put("dc", self.dc());
    root.put("incarnation", self.incarnation());
    root.put("uptime_ms", System.currentTimeMillis() - startMillis);
    return root;
  }

  private static void stat(JsonObject node, KeyspaceShard keyspace, List<PartitionReport> all) {
    node.put("sla_ms", keyspace.policy().sla().toMillis());
    node.put(
        "propagation", keyspace.policy().propagation().name().toLowerCase(java.util.Locale.ROOT));
    node.put("partitions", all.size());
    node.put("ready", keyspace.partitions().stream().allMatch(PartitionRunner::isReady));
    keyspace.gate().refusals().forEach(node.putObject("refused_by")::put);
    node.put("updates", sum(all, PartitionReport::committed));
    node.put("objects", sum(all, PartitionReport::objects));
    node.put("removed_objects", sum(all, PartitionReport::removedObjects));
    node.put("forgotten_objects", sum(all, PartitionReport::forgottenObjects));
    node.put("dirty_objects", sum(all, PartitionReport::dirtyObjects));
    node.put("consistency", keyspace.policy().consistency().name().toLowerCase(Locale.ROOT));
    node.put("waiting_updates", sum(all, PartitionReport::waitingUpdates));
    node.put("open_transactions", sum(all, PartitionReport::openTransactions));
    node.put("former_versions", sum(all, PartitionReport::formerVersions));
    node.put("rights_waiting", sum(all, PartitionReport::rightsWaiting));
    node.put("rights_denied", sum(all, PartitionReport::rightsDenied));
    node.put("state_mode_objects", sum(all, PartitionReport::stateObjects));
    node.put("mode_switches", sum(all, PartitionReport::modeSwitches));
    node.put(
        "shipment_cost_bytes",
        Math.round(all.stream().mapToDouble(PartitionReport::shipmentCost).average().orElse(0)));
    node.put("applied_remote", sum(all, PartitionReport::appliedRemote));
    node.put("shipped_bytes", sum(all, PartitionReport::shippedBytes));
    node.put("op_bytes", sum(all, PartitionReport::opBytes));
    node.put("ops_shipped", sum(all, PartitionReport::opsShipped));
    node.put("states_shipped", sum(all, PartitionReport::statesShipped));
    node.put("catch_ups_shipped", sum(all, PartitionReport::catchUpsShipped));
    node.put("gaps_seen", sum(all, PartitionReport::gapsSeen));
    node.put("healed", sum(all, PartitionReport::healed));
    node.put("sla_violations", sum(all, PartitionReport::slaViolations));
    node.put("late_after_outage", sum(all, r -> r.late().outage()));
    node.putObject("violations_by_reason")
        .put("origin", sum(all, r -> r.late().origin()))
        .put("way", sum(all, r -> r.late().way()))
        .put("dependency", sum(all, r -> r.late().dependency()));
    node.put(
        "coordination_ms",
        all.stream().mapToLong(PartitionReport::coordinationMicros).max().orElse(0) / 1e3);
    node.put("queued", keyspace.partitions().stream().mapToInt(PartitionRunner::queued).sum());
    node.put(
        "overloads", keyspace.partitions().stream().mapToInt(PartitionRunner::overloads).sum());
    JsonObject memory = node.putObject("memory");
    memory(keyspace, all)
        .forEach(
            usage ->
                memory
                    .putObject(usage.name())
                    .put("used_bytes", usage.used())
                    .put("limit_bytes", usage.limit())
                    .put("spent", usage.spent()));
    node.put("cached_keys", figure(keyspace, ObjectStore.Figures::cachedKeys));
    node.put("cache_misses", figure(keyspace, ObjectStore.Figures::misses));
    node.put("cache_misses_waited_for", figure(keyspace, ObjectStore.Figures::slowMisses));
    node.put("log_entries", figure(keyspace, ObjectStore.Figures::logEntries));
    node.put(
        "log_held_back_by",
        all.stream()
            .flatMap(r -> r.heldBackBy().stream())
            .distinct()
            .sorted()
            .collect(Collectors.joining(", ")));
    Histogram visibility = new Histogram(3_600_000_000L, 2);
    all.forEach(r -> visibility.add(r.visibilityMicros()));
    JsonObject v = node.putObject("visibility_ms");
    v.put("count", visibility.getTotalCount());
    v.put("p50", visibility.getValueAtPercentile(50) / 1e3);
    v.put("p99", visibility.getValueAtPercentile(99) / 1e3);
    v.put("p9999", visibility.getValueAtPercentile(99.99) / 1e3);
    v.put("max", visibility.getMaxValue() / 1e3);
    java.nio.ByteBuffer encoded =
        java.nio.ByteBuffer.allocate(visibility.getNeededByteBufferCapacity());
    int length = visibility.encodeIntoCompressedByteBuffer(encoded);
    v.put(
        "histogram",
        Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(encoded.array(), length)));
    JsonObject.Array through = node.putArray("through");
    all.forEach(r -> vector(through.addObject(), r.through()));
  }

  /** What a keyspace's partitions use of each budget, together. */
  private static Collection<Budget.Usage> memory(
      KeyspaceShard keyspace, List<PartitionReport> all) {
    Map<String, Budget.Usage> sums = new LinkedHashMap<>();
    keyspace.partitions().forEach(p -> sums.merge("commands", p.memory(), Budget.Usage::plus));
    all.forEach(r -> r.memory().forEach(u -> sums.merge(u.name(), u, Budget.Usage::plus)));
    return sums.values();
  }

  private static void store(JsonObject node, StoreService store) {
    node.put("durability", store.durability());
    node.put("disk_full", store.isFull());
    node.put("file_bytes", store.fileBytes());
    node.put("writes", store.writes());
    node.put("groups", store.groupsWritten());
    node.put("versions_dropped", store.pruned());
    Histogram took = store.writeMicros();
    node.putObject("write_ms")
        .put("p50", took.getValueAtPercentile(50) / 1e3)
        .put("p99", took.getValueAtPercentile(99) / 1e3)
        .put("max", took.getMaxValue() / 1e3);
  }

  private static long figure(
      KeyspaceShard keyspace, java.util.function.ToLongFunction<ObjectStore.Figures> of) {
    return keyspace.partitions().stream().mapToLong(p -> of.applyAsLong(p.store().figures())).sum();
  }

  private static long sum(
      List<PartitionReport> all, java.util.function.ToLongFunction<PartitionReport> of) {
    return all.stream().mapToLong(of).sum();
  }

  private static void vector(JsonObject node, VersionVector vector) {
    for (int i = 0; i < vector.size(); i++) {
      node.put(vector.replica(i).toString(), vector.number(i));
    }
  }

  private static void hot(JsonObject node, List<PartitionReport> all, int limit) {
    JsonObject.Array hot = node.putArray("hot");
    all.stream()
        .flatMap(r -> r.hot().stream())
        .sorted(Comparator.comparingDouble(PartitionReport.Hot::updatesPerSecond).reversed())
        .limit(Math.max(1, limit))
        .forEach(
            h -> {
              JsonObject o = hot.addObject();
              o.put("key", h.object().key().toString());
              o.put("type", h.object().type().label());
              o.put("mode", h.mode());
              o.put("updates_per_s", Math.round(h.updatesPerSecond() * 10) / 10.0);
              o.put("object_bytes", h.objectBytes());
              o.put("op_bytes", Math.round(h.opBytes()));
              o.put("count", h.count());
              o.put("error", h.error());
            });
  }

  private void links(JsonObject node) {
    transport
        .traffic()
        .forEach(
            (dc, traffic) ->
                node.putObject(dc)
                    .put("sent_bytes", traffic.sentBytes())
                    .put("received_bytes", traffic.receivedBytes()));
  }

  private static void peers(JsonObject node, List<PartitionReport> all) {
    JsonObject.Array peers = node.putArray("peers");
    for (PartitionReport report : all) {
      for (PartitionReport.Peer p : report.peers()) {
        JsonObject o = peers.addObject();
        o.put("partition", report.partition());
        o.put("dc", p.dc());
        o.put("incarnation", p.incarnation());
        o.put("connected", p.connected());
        o.put("stream", p.stream());
        o.put("lag_updates", p.lagUpdates());
        o.put("in_flight_bytes", p.inFlightBytes());
        o.put("behind_updates", p.behindUpdates());
      }
    }
  }

  /**
   * For each partition a hash over all objects with their states, in order, and of the first ones
   * each object's own.
   */
  private JsonObject digest(Collection<KeyspaceShard> wanted, int listed) {
    JsonObject root = root();
    for (KeyspaceShard k : wanted) {
      JsonObject.Array partitions =
          root.object("keyspaces").putObject(k.policy().name()).putArray("partitions");
      for (PartitionRunner p : k.partitions()) {
        digest(partitions.addObject(), p.store(), listed);
      }
    }
    return root;
  }

  private static void digest(JsonObject node, ObjectStore store, int listed) {
    MessageDigest sha = sha256();
    JsonObject.Array list = listed > 0 ? node.putArray("list") : null;
    long objects = 0;
    Optional<ObjectId> after = Optional.empty();
    List<ObjectStore.Entry> batch;
    do {
      batch = store.scanDurable(after, DIGEST_BATCH);
      for (ObjectStore.Entry entry : batch) {
        after = Optional.of(entry.object());
        if (entry.state().isSpent()) {
          continue; // only remembers removals: some have forgotten it already
        }
        WireOutput out = new WireOutput();
        out.writeKey(entry.object().key());
        out.writeByte(entry.object().type().number());
        entry.state().trimmed().write(out);
        sha.update(out.getBuffer(), 0, out.position());
        if (list != null && objects < Math.min(listed, LISTED_MAX)) {
          list.addObject()
              .put("key", entry.object().key().toString())
              .put("type", entry.object().type().label())
              .put("sha256", HexFormat.of().formatHex(sha256().digest(out.toBytes())));
        }
        objects++;
      }
    } while (batch.size() == DIGEST_BATCH);
    node.put("objects", objects);
    node.put("sha256", HexFormat.of().formatHex(sha.digest()));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
