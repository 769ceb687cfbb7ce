package io.osier.datacenter.control;

import io.osier.adaptation.PlacementPauses;
import io.osier.adaptation.PlacementPolicy.Kind;
import io.osier.datacenter.placement.Load;
import io.osier.datacenter.placement.Measured;
import java.util.List;

/**
 * A keyspace whose load is counted, and what placement found of it here; of one creation of it.
 * Used by the control plane's thread.
 */
final class Counted {
  final String creation;
  final PlacementPauses pauses;
  Measured measured;
  Load load = Load.NONE;
  long sinceMillis;

  /** The holders as they were seen last: each datacenter sees moves, whoever made them. */
  List<String> held;

  /** What came of the last decision here; empty before the first. */
  String said = "";

  /** Why the last move was refused, so that it is noted once. */
  String refused = "";

  Counted(String creation, PlacementPauses pauses, Measured measured, List<String> held, long now) {
    this.creation = creation;
    this.pauses = pauses;
    this.measured = measured;
    this.held = held;
    this.sinceMillis = now;
  }

  void see(List<String> holders, boolean isMoving, long now) {
    holders.stream()
        .filter(dc -> !held.contains(dc))
        .forEach(dc -> pauses.moved(Kind.ADD, dc, now));
    held.stream()
        .filter(dc -> !holders.contains(dc))
        .forEach(dc -> pauses.moved(Kind.REMOVE, dc, now));
    held = holders;
    if (isMoving) {
      pauses.goesOn(now);
    }
  }
}
