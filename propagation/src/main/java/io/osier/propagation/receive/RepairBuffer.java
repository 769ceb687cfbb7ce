package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/** Keeps what repairs bring before that on which it builds. */
public interface RepairBuffer {
  void keepEarly(ReplicaId peer, ReplicaId origin, Shipment update);

  /** What is kept of an object: of each origin by itself. */
  List<List<Shipment>> early(ObjectId object);

  /** What is kept takes so much in the heap, about, in bytes. */
  long earlyBytes();
}
