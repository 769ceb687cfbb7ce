package io.osier.bench.sim.transport;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Frames of those kinds and sizes that partitions send most, each of which is like no other. */
final class DrawnFrames {
  private static final int SHIPMENTS_MAX = 6;
  private static final int TEXT_BYTES_MAX = 2_000;

  /** Of a frame that a thread apart decodes. */
  private static final int LARGE_BYTES_MIN = 1_100_000;

  private static final int LARGE_ONE_IN = 40;

  private final Random random;
  private final boolean isLarge;
  private long number;

  DrawnFrames(Random random, boolean isLarge) {
    this.random = random;
    this.isLarge = isLarge;
  }

  Frame next(ReplicaId from) {
    number++;
    return switch (random.nextInt(6)) {
      case 0 -> new Frame.Ack(1 + random.nextInt(100), number);
      case 1 ->
          new Frame.Status(
              random.nextBoolean(), 1, number, seen(from), 7, seen(from), number, false, number);
      default -> updates(from);
    };
  }

  private VersionVector seen(ReplicaId from) {
    return VersionVector.of(from, 1 + random.nextInt(1_000));
  }

  private Frame updates(ReplicaId from) {
    List<Shipment> shipments = new ArrayList<>();
    if (isLarge && random.nextInt(LARGE_ONE_IN) == 0) {
      shipments.add(shipment(from, LARGE_BYTES_MIN));
    }
    int count = random.nextInt(SHIPMENTS_MAX);
    for (int i = 0; i < count; i++) {
      shipments.add(shipment(from, random.nextInt(random.nextInt(4) == 0 ? TEXT_BYTES_MAX : 40)));
    }
    return new Frame.Updates(
        Frame.Kind.OPS,
        1,
        number,
        number,
        VersionVector.EMPTY,
        Optional.empty(),
        false,
        number,
        shipments);
  }

  private Shipment shipment(ReplicaId from, int bytes) {
    byte[] text = new byte[bytes];
    random.nextBytes(text);
    boolean isSet = random.nextBoolean();
    CrdtType type = isSet ? CrdtType.AW_SET : CrdtType.LWW_REGISTER;
    Operation operation =
        isSet ? new Operation.Add(Value.of(text)) : new Operation.Assign(Value.of(text));
    CrdtState content = CrdtState.bottom(type).prepare(operation, from, number, 0, number, 0);
    return new Shipment(
        new ObjectId(Key.of("key " + random.nextInt(100)), type),
        from,
        0,
        VersionVector.EMPTY,
        number,
        1,
        0,
        content);
  }
}
