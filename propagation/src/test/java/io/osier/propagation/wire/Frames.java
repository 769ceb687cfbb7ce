package io.osier.propagation.wire;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.Optional;

/** Makes frames of a peer, for which a test gives only the parts that matter to it. */
public final class Frames {
  private Frames() {}

  /** Returns a frame of shipments that need nothing, without an outage. */
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

  /** Returns a peer's status in its first life, before it has sent anything. */
  public static Frame.Status status(
      boolean wantResume, VersionVector through, VersionVector changes, long sentMillis) {
    return new Frame.Status(wantResume, 0, 0, through, 1, changes, 0, false, sentMillis);
  }

  /** Returns the status of a peer that has nothing of other origins, with its stream's position. */
  public static Frame.Status status(
      boolean wantResume, long epoch, long sequence, long sentMillis) {
    VersionVector none = VersionVector.EMPTY;
    return new Frame.Status(wantResume, epoch, sequence, none, 1, none, 0, false, sentMillis);
  }

  /** Returns the last page of an answer: the state of one set, which the peer wrote itself. */
  public static Frame.States states(ReplicaId from, CrdtState state) {
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.AW_SET);
    VersionVector none = VersionVector.EMPTY;
    return new Frame.States(
        1,
        Optional.empty(),
        Optional.empty(),
        0,
        new Frame.Place(0, 0),
        none,
        List.of(new Shipment(object, from, 0, none, 6, 0, 0, state)));
  }
}
