package io.osier.datacenter.metrics.report;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.ObjectProgress;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Reports what a datacenter knows of one key, to explain why its updates are late or how they are
 * shipped. docs/MONITORING.md explains the fields.
 */
final class KeyReport {
  /** Larger objects are not hashed for a comparison, as that would take as long as reading them. */
  private static final long COMPARED_BYTES_MAX = 1 << 20;

  /** How long to wait for the partition; after that the report says that it is too busy. */
  private static final long PARTITION_MILLIS = 1_000;

  private static final int NEEDS_MAX = 8;

  private final KeyspaceShard keyspace;
  private final Key key;
  private final PartitionRunner partition;
  private final Set<PartitionRunner> silent;
  private final Supplier<MessageDigest> digests;

  /**
   * Makes a report.
   *
   * @param silent the partitions that have not answered an earlier report yet; shared by all
   *     reports
   */
  KeyReport(
      KeyspaceShard keyspace,
      Key key,
      Set<PartitionRunner> silent,
      Supplier<MessageDigest> digests) {
    this.silent = silent;
    this.keyspace = keyspace;
    this.key = key;
    keyspace.policy().partitioning().homes().check(keyspace.policy().name(), key);
    this.partition = keyspace.of(key);
    this.digests = digests;
  }

  CompletableFuture<JsonObject> into(JsonObject root) {
    List<ObjectId> all = new ArrayList<>();
    for (CrdtType type : CrdtType.values()) {
      all.add(new ObjectId(key, type));
    }
    return inspect(all)
        .thenApplyAsync(
            report -> {
              root.put("key", key.toString());
              root.put("keyspace", keyspace.policy().name());
              root.put("sla_ms", keyspace.policy().sla().toMillis());
              root.put(
                  "propagation", keyspace.policy().propagation().name().toLowerCase(Locale.ROOT));
              root.put(
                  "consistency", keyspace.policy().consistency().name().toLowerCase(Locale.ROOT));
              root.put("ready", partition.isReady());
              root.put("queued", partition.queued());
              held(root.putArray("holds"), all);
              report.ifPresentOrElse(
                  r -> tell(root, r), () -> root.put("silent", "its partition is too busy"));
              return root;
            });
  }

  /**
   * Asks the partition, unless it has not answered an earlier report yet, so that no requests pile
   * up in front of a busy partition.
   */
  private CompletableFuture<Optional<PartitionReport>> inspect(List<ObjectId> about) {
    if (silent.contains(partition)) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    CompletableFuture<PartitionReport> asked = partition.inspect(0, about);
    return asked
        .thenApply(Optional::of)
        .orTimeout(PARTITION_MILLIS, TimeUnit.MILLISECONDS)
        .exceptionally(
            late -> {
              silent.add(partition);
              asked.whenComplete((report, error) -> silent.remove(partition));
              return Optional.empty();
            });
  }

  private void held(JsonObject.Array list, List<ObjectId> all) {
    ObjectStore store = partition.store();
    for (ObjectId object : all) {
      CrdtState state = store.getDurable(object);
      if (state == null || state.isSpent()) {
        continue;
      }
      JsonObject held = list.addObject();
      held.put("type", object.type().label()).put("bytes", state.sizeBytes());
      if (state.sizeBytes() <= COMPARED_BYTES_MAX) {
        WireOutput out = new WireOutput();
        StateCodec.writeContent(out, state.trimmed());
        MessageDigest sha = digests.get();
        sha.update(out.getBuffer(), 0, out.position());
        held.put("sha256", HexFormat.of().formatHex(sha.digest()));
      }
    }
  }

  private static void tell(JsonObject root, PartitionReport report) {
    root.put("parked", report.about().parked());
    root.put("waiting_updates", report.arrived().waitingUpdates());
    root.put("cut_held_back_by", report.cutHeldBackBy());
    root.put("objects", report.about().objects(), KeyReport::tell);
    root.put("peers", report.peers(), KeyReport::tell);
  }

  private static void tell(PartitionReport.Peer p, JsonObject node) {
    node.put("dc", p.dc())
        .put("connected", p.connected())
        .put("stream", p.stream())
        .put("lag_updates", p.to().lagUpdates())
        .put("lag_ms", p.to().lagNanos() / 1_000_000)
        .put("overdue_updates", p.to().timeliness().overdue())
        .put("behind_updates", p.from().behindUpdates());
  }

  private static void tell(PartitionReport.OneObject o, JsonObject node) {
    node.put("type", o.object().type().label())
        .put("mode", o.mode())
        .put("counted", o.why())
        .put("rights_waiting", o.rightsWaiting());
    ObjectProgress progress = o.progress();
    if (progress.held().updates() != 0) {
      count(node.putObject("held"), progress.held())
          .put("leaves_in_ms", progress.leavesNanos() / 1_000_000);
    }
    JsonObject.Array missing = node.putArray("missing");
    for (ObjectProgress.Missing m : progress.missing()) {
      count(missing.addObject().put("dc", m.dc()), m.count())
          .put("cut_ms", m.downNanos() == 0 ? 0 : Math.max(1, m.downNanos() / 1_000_000));
    }
    JsonObject.Array waiting = node.putArray("waiting");
    for (ObjectProgress.Waiting w : progress.waiting()) {
      count(waiting.addObject().put("from", w.from()), w.count()).put("needs", needs(w.needs()));
    }
  }

  private static JsonObject count(JsonObject node, ObjectProgress.Count count) {
    return node.put("updates", count.updates()).put("ms", count.nanos() / 1_000_000);
  }

  private static String needs(VersionVector needs) {
    List<String> origins = new ArrayList<>();
    for (int i = 0; i < Math.min(NEEDS_MAX, needs.size()); i++) {
      origins.add("update " + needs.number(i) + " of " + needs.replica(i).dc());
    }
    return String.join(", ", origins) + (needs.size() > NEEDS_MAX ? ", …" : "");
  }
}
