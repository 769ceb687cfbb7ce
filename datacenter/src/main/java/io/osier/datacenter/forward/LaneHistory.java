package io.osier.datacenter.forward;

import io.osier.core.ReplicaId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers, for each connection and keyspace, which holders have answered and at which holder
 * requests are in flight: the next requests go there, too, so that their order holds. A connection
 * that is gone is forgotten with its lane. Pure; used under its owner's lock.
 */
final class LaneHistory {
  /** One connection's requests in one keyspace. */
  private static final class Dealings {
    int underWay;
    @Nullable String at;

    /** The holder that has answered; empty before the first answer. */
    Optional<ReplicaId> by = Optional.empty();

    /** Whether several holders have answered. */
    boolean mixed;
  }

  private static final class Lane {
    final long number;
    final Map<String, Dealings> keyspaces = new HashMap<>();

    Lane(long number) {
      this.number = number;
    }
  }

  private final Map<Object, Lane> lanes = new WeakHashMap<>();
  private long last;

  private Lane of(Object lane) {
    return lanes.computeIfAbsent(lane, l -> new Lane(++last));
  }

  private Dealings of(Object lane, String keyspace) {
    return of(lane).keyspaces.computeIfAbsent(keyspace, k -> new Dealings());
  }

  /** Returns the number by which other datacenters know a connection: from 1 on, each once. */
  long number(Object lane) {
    return of(lane).number;
  }

  /** Returns the holder at which a connection has requests in flight; null if it has none. */
  @Nullable String at(Object lane, String keyspace) {
    Dealings with = of(lane, keyspace);
    return with.underWay == 0 ? null : with.at;
  }

  /** Notes one more request in flight. */
  void begins(Object lane, String keyspace, String dc) {
    Dealings with = of(lane, keyspace);
    with.underWay++;
    with.at = dc;
  }

  /** Notes the end of a request in flight. */
  void ends(Object lane, String keyspace) {
    of(lane, keyspace).underWay--;
  }

  /** Notes that this replica has answered a connection. */
  void answered(Object lane, String keyspace, ReplicaId by) {
    Dealings with = of(lane, keyspace);
    with.mixed |= with.by.isPresent() && !with.by.get().equals(by);
    with.by = Optional.of(by);
  }

  /**
   * Returns whether a connection was answered by another replica than this, or by an earlier
   * incarnation of it.
   */
  boolean hasSeenMore(Object lane, String keyspace, Optional<ReplicaId> than) {
    Dealings with = of(lane, keyspace);
    return with.mixed || (with.by.isPresent() && !with.by.equals(than));
  }
}
