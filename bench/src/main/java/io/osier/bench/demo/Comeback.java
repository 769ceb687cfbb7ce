package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures when a datacenter that was started again serves, and when no datacenter lacks an update
 * that is older than its staleness bound.
 */
final class Comeback {
  private static final long LOOK_NANOS = 100_000_000;

  private final LocalCluster cluster;
  private final String dc;
  private final long startedNanos = System.nanoTime();
  private final Thread looks;
  private volatile OptionalDouble served = OptionalDouble.empty();
  private volatile OptionalDouble fresh = OptionalDouble.empty();

  /** Begins to watch a datacenter that was started just now. */
  Comeback(LocalCluster cluster, String dc) {
    this.cluster = cluster;
    this.dc = dc;
    this.looks = Thread.ofPlatform().name("demo-comeback").daemon(true).start(this::look);
  }

  private void look() {
    while (!cluster.isReady(dc)) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    served = sinceStart();
    while (!isFresh()) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    fresh = sinceStart();
  }

  private OptionalDouble sinceStart() {
    return OptionalDouble.of((System.nanoTime() - startedNanos) / 1e9);
  }

  /** Returns whether no peer lags by more than its bound, as far as the senders know. */
  private boolean isFresh() {
    try {
      for (String from : cluster.dcs()) {
        JsonNode bounds = cluster.inspect(from, Request.Topic.STAT, 0).get("keyspaces");
        JsonNode keyspaces = cluster.inspect(from, Request.Topic.PEERS, 0).get("keyspaces");
        for (Map.Entry<String, JsonNode> keyspace : keyspaces.properties()) {
          long slaMillis = bounds.at("/" + keyspace.getKey() + "/sla_ms").asLong();
          for (JsonNode to : keyspace.getValue().get("peers")) {
            if (!to.get("connected").asBoolean() || to.get("lag_ms").asLong() > slaMillis) {
              return false;
            }
          }
        }
      }
      return true;
    } catch (OsierException e) {
      return false; // a datacenter is too busy to answer
    }
  }

  void await(Duration atMost) {
    try {
      looks.join(atMost.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the seconds from the start until the datacenter served; empty if it never did. */
  OptionalDouble served() {
    return served;
  }

  /** Returns the seconds from the start until no update was late; empty if one always was. */
  OptionalDouble fresh() {
    return fresh;
  }

  /** Returns the line of the datacenter's log on its start; empty if there is none. */
  String start() {
    return cluster.saysOfItsStart(dc).orElse("");
  }
}
