package io.osier.bench.experiment;

import java.util.List;

/**
 * A way of propagation.
 *
 * @param name as it is shown
 * @param settings of a keyspace that works so
 */
record Way(String name, String settings) {
  /** The thesis's two ways, the state-based one with deltas, and the mission's. */
  static final List<Way> ALL =
      List.of(
          new Way("op", "propagation = op"),
          new Way("state-full", "propagation = state, payload = full"),
          new Way("state-delta", "propagation = state"),
          new Way("adaptive", "propagation = adaptive"));

  /** A line of configuration: a keyspace of one partition that works so. */
  String keyspace(String keyspace, String sla) {
    return "    " + keyspace + " { sla = " + sla + ", partitions = 1, " + settings + " }\n";
  }
}
