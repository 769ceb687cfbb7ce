package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.TestSurroundings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** All other datacenters give a keyspace up, while updates are held. */
final class LastPeerTest {
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);
  private static final long SLA_NANOS = 1_000_000_000;

  /** Finds no objects: they were forgotten, since no datacenter is left that lacks a removal. */
  private final Outbound outbound =
      new Outbound(
          TestSurroundings.of(
              KeyspacePolicy.session("k", Duration.ofNanos(SLA_NANOS)),
              RecoveredState.NOTHING,
              new TestSurroundings.Objects()),
          () -> VersionVector.EMPTY,
          0);

  @Test
  void whatIsHeld_needsNoStateAnyMore() {
    CrdtState delta =
        CrdtState.bottom(OBJECT.type())
            .prepare(new Operation.Increment(1), TestSurroundings.SELF, 1, 0, 1, 0);
    outbound.commit(
        OBJECT,
        new Outbound.Update(CausalContext.EMPTY, VersionVector.EMPTY, 1, 1, 0, delta),
        1,
        true,
        0);
    outbound.remove("us", 0);
    outbound.tick(2 * SLA_NANOS, 0);
    assertThat(outbound.dirtyObjects()).isZero();
    assertThat(outbound.through()).isEqualTo(1);
    assertThat(outbound.memory().used()).isZero();
  }
}
