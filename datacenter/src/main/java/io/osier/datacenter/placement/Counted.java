package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementPauses;
import io.osier.adaptation.PlacementPolicy.Kind;
import java.util.List;

/**
 * A keyspace whose load is counted, and what placement found of it here; of one creation of it.
 * Used by the control plane's thread.
 */
public final class Counted {
  public final String creation;
  public final PlacementPauses pauses;
  public Load load = Load.NONE;
  public long sinceMillis;
  private Measured measured;

  /** The holders as they were seen last: each datacenter sees moves, whoever made them. */
  public List<String> held;

  /** What came of the last decision here; empty before the first. */
  public String said = "";

  /** Why the last move was refused, so that it is noted once. */
  public String refused = "";

  /**
   * @param held the holders as they are now
   * @param now in milliseconds since 1970, as all times here
   */
  public Counted(
      String creation, PlacementSettings settings, Measured measured, List<String> held, long now) {
    this.creation = creation;
    this.pauses =
        new PlacementPauses(
            settings.periodMillis(), (long) (1000 * settings.policy().horizonSeconds()));
    this.measured = measured;
    this.held = held;
    this.sinceMillis = now;
  }

  /** The load since the last measurement is {@link #load} from now on. */
  public void measure(Measured now, long nowMillis) {
    load = now.since(measured, load, nowMillis - sinceMillis);
    measured = now;
    sinceMillis = nowMillis;
  }

  /** Takes note of who holds it now, and whether that is about to change. */
  public void see(List<String> holders, boolean isMoving, long now) {
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
