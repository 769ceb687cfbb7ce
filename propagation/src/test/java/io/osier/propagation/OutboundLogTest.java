package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.propagation.OutboundLog.Segment;
import org.junit.jupiter.api.Test;

final class OutboundLogTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
  }

  private static Segment segment(long number, long firstNanos) {
    Causal delta =
        Causal.bottom(CrdtType.PN_COUNTER)
            .prepare(new Operation.Increment(1), SELF, number, 0, number, 0);
    return new Segment(0, VersionVector.EMPTY, number, 1, firstNanos, 0, delta);
  }

  @Test
  void heldObjects_areDueByAgeNotByNumber() {
    OutboundLog log = new OutboundLog(0);
    log.commit(object("a"), segment(1, 500), 1, true);
    log.commit(object("b"), segment(2, 100), 2, true); // was acknowledged before it was committed
    log.commit(object("c"), segment(3, 300), 3, true);
    assertThat(log.oldestDirtyNanos()).isEqualTo(100);
    log.commit(object("a"), segment(4, 50), 4, true);
    assertThat(log.oldestDirtyNanos()).isEqualTo(50);
    assertThat(log.through()).isZero();

    assertThat(log.takeDirty(60).log().object).isEqualTo(object("a"));
    assertThat(log.through()).isEqualTo(1);
    assertThat(log.takeDirty(60)).isNull();
    assertThat(log.takeDirty(400).log().object).isEqualTo(object("b"));
    assertThat(log.takeDirty(400).log().object).isEqualTo(object("c"));
    assertThat(log.takeDirty(400)).isNull();
    assertThat(log.oldestDirtyNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(log.through()).isEqualTo(4);
  }
}
