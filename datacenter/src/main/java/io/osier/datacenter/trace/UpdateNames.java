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
 * What the updates of a partition and their traces are called, and what every span says of them.
 * For any thread, but for what is of other datacenters' updates.
 */
final class UpdateNames {
  /** Streams of more incarnations are not kept. */
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

  /** Of their keyspace. */
  Partitioning partitioning() {
    return policy.partitioning();
  }

  /** Whether an own update is followed. */
  boolean follows(long number) {
    return settings.sample().takes(own, number);
  }

  TraceId ownId(long number) {
    return own.id(number);
  }

  /** Whether an update is followed. Only for whoever runs the partition. */
  boolean follows(ReplicaId origin, long number) {
    return settings.sample().takes(stream(origin), number);
  }

  /** The trace of an update. Only for whoever runs the partition. */
  TraceId id(ReplicaId origin, long number) {
    return stream(origin).id(number);
  }

  private TraceStream stream(ReplicaId origin) {
    if (streams.size() > STREAMS_MAX) {
      streams.clear(); // of incarnations that have ended
    }
    return streams.computeIfAbsent(origin, o -> new TraceStream(policy.name(), partition, origin));
  }

  AttributesBuilder says(ReplicaId origin, long number) {
    return SpanAttributes.of(policy, partition, origin, number);
  }

  /** The same, and of which object it is. */
  AttributesBuilder says(ReplicaId origin, long number, ObjectId object) {
    AttributesBuilder says =
        says(origin, number).put(SpanAttributes.TYPE, object.type().toString());
    sayKey(says, object.key());
    return says;
  }

  /** Names a key if that is wanted. */
  void sayKey(AttributesBuilder says, Key key) {
    if (settings.keys()) {
      says.put(SpanAttributes.KEY, SpanAttributes.shown(key));
    }
  }

  /** What a peer is told of joined updates. */
  TraceNote note(List<TraceNote.Joined> joined) {
    return new TraceNote(policy.name(), partition, joined);
  }

  /** Whether something was visible later than its keyspace's bound. */
  boolean isLate(long delayMillis) {
    return policy.sla().isPositive() && delayMillis > policy.sla().toMillis();
  }
}
