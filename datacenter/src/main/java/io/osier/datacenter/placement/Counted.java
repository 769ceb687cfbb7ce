package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementPauses;
import io.osier.adaptation.PlacementPolicy.Kind;
import java.util.List;

/**
 * The counted load of one creation of a keyspace, and the last decision that placement made about
 * it here. Used by the control plane's thread.
 */
public final class Counted {
  public final String creation;
  public final PlacementPauses pauses;
  public Load load = Load.NONE;
  public long sinceMillis;
  private Measured measured;

  /** The holders at the last call of {@link #see}, whichever datacenter has moved them. */
  public List<String> held;

  /** The outcome of the last decision here, in words; empty before the first. */
  public String said = "";

  /** The error of the last move if it was refused, so that it is noted once; otherwise empty. */
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

  /** Sets {@link #load} to the load since the last measurement. */
  public void measure(Measured now, long nowMillis) {
    load = now.since(measured, load, nowMillis - sinceMillis);
    measured = now;
    sinceMillis = nowMillis;
  }

  /** Notes the present holders, and whether a holder is being added or removed. */
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
