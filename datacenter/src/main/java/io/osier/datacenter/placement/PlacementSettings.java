package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementPolicy;

/**
 * How holders follow the load.
 *
 * @param policy says who should hold a keyspace
 * @param periodMillis so often the load is told, and something may move
 */
public record PlacementSettings(PlacementPolicy policy, long periodMillis) {
  /** As the configuration's defaults. */
  public static final PlacementSettings DEFAULT =
      new PlacementSettings(new PlacementPolicy(100, 600), 10_000);
}
