package io.osier.datacenter.trace;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** The attributes of spans; docs/MONITORING.md explains each. */
final class SpanAttributes {
  static final AttributeKey<String> KEYSPACE = AttributeKey.stringKey("osier.keyspace");
  static final AttributeKey<Long> PARTITION = AttributeKey.longKey("osier.partition");
  static final AttributeKey<String> ORIGIN = AttributeKey.stringKey("osier.origin");
  static final AttributeKey<Long> INCARNATION = AttributeKey.longKey("osier.incarnation");
  static final AttributeKey<Long> NUMBER = AttributeKey.longKey("osier.number");
  static final AttributeKey<Long> SLA_MILLIS = AttributeKey.longKey("osier.sla_ms");
  static final AttributeKey<String> KEY = AttributeKey.stringKey("osier.key");
  static final AttributeKey<String> TYPE = AttributeKey.stringKey("osier.type");
  static final AttributeKey<String> REQUEST = AttributeKey.stringKey("osier.request");
  static final AttributeKey<String> MODE = AttributeKey.stringKey("osier.mode");
  static final AttributeKey<String> WHY = AttributeKey.stringKey("osier.mode.why");
  static final AttributeKey<Long> JOINED = AttributeKey.longKey("osier.joined");
  static final AttributeKey<Double> COORDINATION_MILLIS =
      AttributeKey.doubleKey("osier.coordination_ms");
  static final AttributeKey<String> PEER = AttributeKey.stringKey("osier.peer");
  static final AttributeKey<String> VIA = AttributeKey.stringKey("osier.via");
  static final AttributeKey<Boolean> OUTAGE = AttributeKey.booleanKey("osier.outage");
  static final AttributeKey<Long> DELAY_MILLIS = AttributeKey.longKey("osier.delay_ms");
  static final AttributeKey<Boolean> LATE = AttributeKey.booleanKey("osier.late");
  static final AttributeKey<String> WAITS_FOR = AttributeKey.stringKey("osier.waits_for");
  static final AttributeKey<List<String>> HELD_BACK_BY =
      AttributeKey.stringArrayKey("osier.held_back_by");

  /** Longest text of a key in a span, in characters. */
  static final int KEY_LENGTH_MAX = 64;

  private SpanAttributes() {}

  /** Returns the attributes that every span has. */
  static AttributesBuilder of(KeyspacePolicy policy, int partition, ReplicaId origin, long number) {
    return Attributes.builder()
        .put(KEYSPACE, policy.name())
        .put(PARTITION, (long) partition)
        .put(ORIGIN, origin.dc())
        .put(INCARNATION, origin.incarnation())
        .put(NUMBER, number)
        .put(SLA_MILLIS, policy.sla().toMillis());
  }

  /** Returns a key's text, shortened to the limit. */
  static String shown(Key key) {
    String text = key.toString();
    return text.length() <= KEY_LENGTH_MAX ? text : text.substring(0, KEY_LENGTH_MAX) + "…";
  }

  /** Returns the missing updates of other datacenters, in words. */
  static String words(VersionVector missing) {
    StringJoiner words = new StringJoiner(", ");
    for (int i = 0; i < missing.size(); i++) {
      words.add("update " + missing.number(i) + " of " + missing.replica(i).dc());
    }
    return words.toString();
  }

  static List<String> origins(VersionVector missing) {
    List<String> origins = new ArrayList<>(missing.size());
    for (int i = 0; i < missing.size(); i++) {
      origins.add(missing.replica(i).dc());
    }
    return origins;
  }

  /** Returns one word for the kind of a frame. */
  static String word(Frame.Kind kind) {
    return switch (kind) {
      case OPS -> "operations";
      case ROUND -> "round";
      case CATCH_UP -> "catch-up";
    };
  }
}
