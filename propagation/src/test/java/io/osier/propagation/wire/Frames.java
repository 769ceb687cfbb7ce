package io.osier.propagation.wire;

import io.osier.core.VersionVector;
import java.util.List;
import java.util.Optional;

/** Frames of a peer, of which a test says only what it is about. */
public final class Frames {
  private Frames() {}

  /** Shipments that need nothing, and tell of no outage. */
  public static Frame.Updates updates(
      Frame.Kind kind,
      long epoch,
      long sequence,
      long through,
      Optional<Frame.Cursor> cursor,
      long sentMillis,
      List<Shipment> shipments) {
    return new Frame.Updates(
        kind, epoch, sequence, through, VersionVector.EMPTY, cursor, false, sentMillis, shipments);
  }

  /** What a peer has, in its first life, before it has sent anything. */
  public static Frame.Status status(
      boolean wantResume, VersionVector through, VersionVector changes, long sentMillis) {
    return new Frame.Status(wantResume, 0, 0, through, 1, changes, 0, false, sentMillis);
  }

  /** How far its stream is, of one that has nothing of anybody. */
  public static Frame.Status status(
      boolean wantResume, long epoch, long sequence, long sentMillis) {
    VersionVector none = VersionVector.EMPTY;
    return new Frame.Status(wantResume, epoch, sequence, none, 1, none, 0, false, sentMillis);
  }
}
