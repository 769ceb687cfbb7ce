package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Shipment;
import java.util.List;

/** Keeps updates that repairs bring before the updates on which they build. */
public interface RepairBuffer {
  void keepEarly(ReplicaId peer, ReplicaId origin, Shipment update);

  /** Returns the kept updates of an object, one list for each origin. */
  List<List<Shipment>> early(ObjectId object);

  /** Returns about how many bytes the kept updates take in the heap. */
  long earlyBytes();
}
