package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DependencyCyclesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ObjectId X = new ObjectId(Key.of("x"), CrdtType.PN_COUNTER);

  /** Returns a waiting update: the numbers that it needs of its own origin, and of another one. */
  private static Shipment early(ReplicaId origin, long after, long last, ReplicaId of, long needs) {
    CrdtState delta =
        CrdtState.bottom(X.type()).prepare(new Operation.Increment(1), origin, last, after, 1, 0);
    return new Shipment(X, origin, after, VersionVector.EMPTY.with(of, needs), last, 1, 0, delta);
  }

  private static List<Shipment> closed(List<List<Shipment>> queues) {
    return DependencyCycles.closed(queues, r -> 0);
  }

  @Test
  void updatesThatNeedEachOther_areAppliedTogether() {
    Shipment eu = early(EU, 0, 9, US, 5);
    Shipment us = early(US, 0, 7, EU, 8);
    assertThat(closed(List.of(List.of(eu), List.of(us)))).containsExactlyInAnyOrder(eu, us);
  }

  @Test
  void whatNeedsAThird_waits_andWhatNeedsItWaits() {
    Shipment eu = early(EU, 0, 9, US, 5);
    Shipment us = early(US, 0, 7, AP, 1);
    assertThat(closed(List.of(List.of(eu), List.of(us)))).isEmpty();
  }

  @Test
  void laterOnesOfAStreamWait_whereTheyNeedMore() {
    Shipment eu1 = early(EU, 0, 9, US, 5);
    Shipment eu2 = early(EU, 9, 12, AP, 1);
    Shipment us1 = early(US, 0, 7, EU, 8);
    Shipment us2 = early(US, 7, 8, EU, 12);
    assertThat(closed(List.of(List.of(eu1, eu2), List.of(us1, us2))))
        .containsExactlyInAnyOrder(eu1, us1);
  }

  @Test
  void aGapInAStream_isNotPassedOver() {
    Shipment eu1 = early(EU, 0, 9, US, 5);
    Shipment us1 = early(US, 3, 7, EU, 8);
    assertThat(closed(List.of(List.of(eu1), List.of(us1)))).isEmpty();
    Shipment eu3 = early(EU, 10, 12, US, 5);
    Shipment us2 = early(US, 0, 7, EU, 8);
    assertThat(closed(List.of(List.of(eu1, eu3), List.of(us2))))
        .containsExactlyInAnyOrder(eu1, us2);
  }
}
