package io.osier.datacenter.forward;

import io.osier.core.ReplicaId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Of each connection, by whom it was answered about which keyspace, and where it has something
 * under way: what follows goes there, too, so that the order of its requests holds. Connections
 * that are gone are forgotten with their lanes. Pure; used under its owner's lock.
 */
final class LaneHistory {
  /** One connection and one keyspace. */
  private static final class Dealings {
    int underWay;
    @Nullable String at;

    /** Who has answered; empty before. */
    Optional<ReplicaId> by = Optional.empty();

    /** Whether several have. */
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

  /** By what number others know a connection: from 1 on, each once. */
  long number(Object lane) {
    return of(lane).number;
  }

  /** Where a connection has something under way; null if nothing is. */
  @Nullable String at(Object lane, String keyspace) {
    Dealings with = of(lane, keyspace);
    return with.underWay == 0 ? null : with.at;
  }

  /** One more is under way. */
  void begins(Object lane, String keyspace, String dc) {
    Dealings with = of(lane, keyspace);
    with.underWay++;
    with.at = dc;
  }

  /** One is under way no more. */
  void ends(Object lane, String keyspace) {
    of(lane, keyspace).underWay--;
  }

  /** A connection was shown something by this one. */
  void answered(Object lane, String keyspace, ReplicaId by) {
    Dealings with = of(lane, keyspace);
    with.mixed |= with.by.isPresent() && !with.by.get().equals(by);
    with.by = Optional.of(by);
  }

  /**
   * Whether a connection was shown something by another one than this, or than its present life.
   */
  boolean hasSeenMore(Object lane, String keyspace, Optional<ReplicaId> than) {
    Dealings with = of(lane, keyspace);
    return with.mixed || (with.by.isPresent() && !with.by.equals(than));
  }
}
