package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementPolicy;

/**
 * How holders follow the load.
 *
 * @param policy says who should hold a keyspace
 * @param periodMillis how often the load is recorded and holders may move, in milliseconds
 */
public record PlacementSettings(PlacementPolicy policy, long periodMillis) {
  /** The configuration's defaults. */
  public static final PlacementSettings DEFAULT =
      new PlacementSettings(new PlacementPolicy(100, 600), 10_000);
}
