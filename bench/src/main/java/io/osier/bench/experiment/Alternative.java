package io.osier.bench.experiment;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A way of propagation that is compared with others, in a keyspace of its own.
 *
 * @param name of the alternative and of its keyspace
 */
public record Alternative(String name, Propagation propagation, StatePayload payload) {
  /** Operations, states as the thesis ships them, states as Osier does, and its choice of both. */
  public static final List<Alternative> ALL =
      List.of(
          new Alternative("op", Propagation.OP, StatePayload.DELTA),
          new Alternative("state-full", Propagation.STATE, StatePayload.FULL),
          new Alternative("state-delta", Propagation.STATE, StatePayload.DELTA),
          new Alternative("adaptive", Propagation.ADAPTIVE, StatePayload.DELTA));

  /** The session keyspace with one partition. */
  public KeyspacePolicy policy(Duration sla) {
    return KeyspacePolicy.session(name, sla).withPartitions(1).with(propagation).with(payload);
  }

  /** The content of osier.keyspaces with a keyspace for each alternative. */
  static String keyspaces(Duration sla) {
    return ALL.stream().map(a -> a.keyspace(a.name, sla)).collect(Collectors.joining());
  }

  /** A line of osier.keyspaces: a keyspace of this name that works so. */
  String keyspace(String keyspace, Duration sla) {
    return String.format(
        Locale.ROOT,
        "    %s { sla = %dms, partitions = 1, propagation = %s, payload = %s }%n",
        keyspace,
        sla.toMillis(),
        propagation.name().toLowerCase(Locale.ROOT),
        payload.name().toLowerCase(Locale.ROOT));
  }

  /** The keyspace of each alternative, if it has its name. */
  static Map<String, String> names() {
    Map<String, String> names = new LinkedHashMap<>();
    ALL.forEach(a -> names.put(a.name, a.name));
    return names;
  }
}
