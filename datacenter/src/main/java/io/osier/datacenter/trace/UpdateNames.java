package io.osier.datacenter.trace;

import io.opentelemetry.api.common.AttributesBuilder;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.trace.TraceStream;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.config.TraceSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes the trace ids of a partition's updates, and the attributes of their spans. Thread-safe,
 * except the methods for other datacenters' updates.
 */
final class UpdateNames {
  /** Most incarnations whose streams are kept. */
  private static final int STREAMS_MAX = 64;

  private final TraceSettings settings;
  private volatile KeyspacePolicy policy;
  private final int partition;
  private final TraceStream own;
  private final Map<ReplicaId, TraceStream> streams = new HashMap<>();

  UpdateNames(TraceSettings settings, KeyspacePolicy policy, int partition, ReplicaId self) {
    this.settings = settings;
    this.policy = policy;
    this.partition = partition;
    this.own = new TraceStream(policy.name(), partition, self);
  }

  void configured(KeyspacePolicy changed) {
    policy = changed;
  }

  /** Returns the keyspace's partitioning. */
  Partitioning partitioning() {
    return policy.partitioning();
  }

  /** Returns whether an own update is traced. */
  boolean follows(long number) {
    return settings.sample().takes(own, number);
  }

  TraceId ownId(long number) {
    return own.id(number);
  }

  /** Returns whether any origin's update is traced. Only for the thread that runs the partition. */
  boolean follows(ReplicaId origin, long number) {
    return settings.sample().takes(stream(origin), number);
  }

  /** Returns the trace id of any origin's update. Only for the thread that runs the partition. */
  TraceId id(ReplicaId origin, long number) {
    return stream(origin).id(number);
  }

  private TraceStream stream(ReplicaId origin) {
    if (streams.size() > STREAMS_MAX) {
      streams.clear(); // most are of ended incarnations
    }
    return streams.computeIfAbsent(origin, o -> new TraceStream(policy.name(), partition, origin));
  }

  AttributesBuilder says(ReplicaId origin, long number) {
    return SpanAttributes.of(policy, partition, origin, number);
  }

  /** Returns the attributes of an update, including its object's type and perhaps key. */
  AttributesBuilder says(ReplicaId origin, long number, ObjectId object) {
    AttributesBuilder says =
        says(origin, number).put(SpanAttributes.TYPE, object.type().toString());
    sayKey(says, object.key());
    return says;
  }

  /** Adds a key if the settings ask for keys. */
  void sayKey(AttributesBuilder says, Key key) {
    if (settings.keys()) {
      says.put(SpanAttributes.KEY, SpanAttributes.shown(key));
    }
  }

  /** Makes the note that tells a peer of joined updates. */
  TraceNote note(List<TraceNote.Joined> joined) {
    return new TraceNote(policy.name(), partition, joined);
  }

  /** Returns whether a delay exceeds the keyspace's staleness bound. */
  boolean isLate(long delayMillis) {
    return policy.sla().isPositive() && delayMillis > policy.sla().toMillis();
  }
}
