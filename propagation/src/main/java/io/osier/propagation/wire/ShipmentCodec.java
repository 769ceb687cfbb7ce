package io.osier.propagation.wire;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.state.StateCodec;
import java.util.ArrayList;
import java.util.List;

/** Encodes shipments, as {@link FrameCodec} describes. Thread-safe. */
final class ShipmentCodec {
  private static final int FLAG_FULL = 1 << ObjectForm.BITS;
  private static final int FLAG_FOREIGN = FLAG_FULL << 1;
  private static final int FLAG_NEEDS = FLAG_FULL << 2;

  /** The fewest bytes that a shipment takes. */
  private static final int SHIPMENT_BYTES_MIN = 8;

  /** The fewest bytes that a replica takes in a context: its number, and one range. */
  private static final int CONTEXT_BYTES_MIN = 4;

  private ShipmentCodec() {}

  static void writeShipments(WireOutput out, ReplicaId sender, List<Shipment> shipments) {
    out.writeCount(shipments.size());
    for (Shipment s : shipments) {
      writeShipment(out, sender, s);
    }
  }

  static List<Shipment> readShipments(WireInput in, ReplicaId sender) {
    int n = in.readCount(SHIPMENT_BYTES_MIN);
    List<Shipment> shipments = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      shipments.add(readShipment(in, sender));
    }
    return shipments;
  }

  static void writeShipment(WireOutput out, ReplicaId sender, Shipment s) {
    writeHead(out, sender, s);
    out.writeBytes(s.packed());
  }

  /** Writes the fields before {@link Shipment#packed}. */
  static void writeHead(WireOutput out, ReplicaId sender, Shipment s) {
    boolean foreign = !s.origin().equals(sender);
    boolean needs = !s.needs().isEmpty();
    out.writeKey(s.object().key());
    int form = s.content().form();
    out.writeByte(
        ObjectForm.bits(form)
            | (s.content().isFull() ? FLAG_FULL : 0)
            | (foreign ? FLAG_FOREIGN : 0)
            | (needs ? FLAG_NEEDS : 0));
    ObjectForm.writeRest(out, form);
    if (foreign) {
      out.writeReplica(s.origin());
    }
    out.writeNumber(s.last());
    out.writeNumber(s.last() - s.predecessor());
    if (needs) {
      out.writeVector(s.needs());
    }
    out.writeNumber(s.updates());
    out.writeNumber(s.ageMillis());
    CausalContext context = s.content().context();
    out.writeCount(context.size());
    for (int i = 0; i < context.size(); i++) {
      out.writeReplica(context.replica(i));
    }
  }

  static Shipment readShipment(WireInput in, ReplicaId sender) {
    Key key = in.readKey();
    int head = in.readByteUnsigned();
    int form = ObjectForm.read(head, in);
    ReplicaId origin = (head & FLAG_FOREIGN) != 0 ? in.readReplica() : sender;
    long last = in.readNumber();
    long step = in.readNumber();
    if (step > last) {
      throw new MalformedException("a shipment's predecessor is negative");
    }
    VersionVector needs = (head & FLAG_NEEDS) != 0 ? in.readVector() : VersionVector.EMPTY;
    long updates = in.readNumber();
    if (updates > Integer.MAX_VALUE) {
      throw new MalformedException("a shipment of " + updates + " updates is out of range");
    }
    long age = in.readNumber();
    int n = in.readCount(CONTEXT_BYTES_MIN);
    List<ReplicaId> replicas = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      replicas.add(in.readReplica());
    }
    CrdtState content = StateCodec.unpack(form, (head & FLAG_FULL) != 0, replicas, in);
    return new Shipment(
        new ObjectId(key, content.type()),
        origin,
        last - step,
        needs,
        last,
        (int) updates,
        age,
        content);
  }
}
