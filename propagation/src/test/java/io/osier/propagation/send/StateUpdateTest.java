package io.osier.propagation.send;

import static io.osier.propagation.host.TestSurroundings.SELF;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An update that is a state, such as the clearing of a large set, and later updates. Joined they
 * are a state that lacks what the later ones had seen: a receiver that took it for a full state
 * would show them without that (simulator, seed 544003 of three datacenters).
 */
final class StateUpdateTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ReplicaId OTHER = new ReplicaId("ap", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.AW_SET);
  private static final long SLA_NANOS = 1_000_000_000;

  private CrdtState state = Decomposition.of(CrdtState.bottom(OBJECT.type()));
  private final List<Frame.Updates> sent = new ArrayList<>();

  private final Outbound outbound =
      new Outbound(
          TestSurroundings.of(
              KeyspacePolicy.session("k", Duration.ofNanos(SLA_NANOS)),
              StreamSettings.DEFAULT,
              RecoveredState.NOTHING,
              new TestSurroundings.Objects() {
                @Override
                public CrdtState state(ObjectId object) {
                  return state;
                }
              },
              (to, frame) -> sent.add((Frame.Updates) frame)),
          () -> VersionVector.EMPTY,
          0);

  private CrdtState made(Operation operation, ReplicaId origin, long number, long predecessor) {
    CrdtState update = state.prepare(operation, origin, number, predecessor, number, 0);
    state = state.join(update);
    return update;
  }

  private void commit(Operation operation, VersionVector needs, boolean hold) {
    long number = outbound.committed() + 1;
    CausalContext before = state.context();
    CrdtState delta = made(operation, SELF, number, number - 1);
    outbound.commit(
        OBJECT, new Outbound.Update(before, needs, number, 1, 0, delta), number, hold, 0);
  }

  private static Operation add(String element) {
    return new Operation.Add(List.of(Value.of(element)));
  }

  private void resume(Optional<Frame.Cursor> from) {
    PeerStream stream = requireNonNull(outbound.stream("us"));
    stream.up(PEER, 0);
    outbound.resume(stream, PEER, new Frame.Resume(1, 0, from), 0, 0);
  }

  /** Commits a clearing, and an addition that had seen another datacenter's later addition. */
  private void clearAndAdd(boolean hold) {
    made(add("a"), OTHER, 1, 0);
    commit(new Operation.Clear(), VersionVector.EMPTY, hold);
    made(add("b"), OTHER, 2, 1);
    commit(add("c"), VersionVector.of(OTHER, 2), hold);
  }

  private List<Shipment> shipments() {
    return sent.stream().flatMap(frame -> frame.shipments().stream()).toList();
  }

  /** Everything that is shown with the clearing is in its shipment. */
  private void assertNothingIsMissing() {
    CrdtState there = CrdtState.bottom(OBJECT.type());
    for (Shipment shipment : shipments()) {
      there = there.join(shipment.content());
      for (int i = 0; i < shipment.needs().size(); i++) {
        ReplicaId replica = shipment.needs().replica(i);
        assertThat(there.context().through(replica))
            .isGreaterThanOrEqualTo(shipment.needs().number(i));
      }
    }
    assertThat(there).isEqualTo(Decomposition.whole(state));
  }

  /** With a round, or at once where they left one by one. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void clearing_andLaterUpdates_leaveWithAllThatTheyHadSeen(boolean hold) {
    resume(Optional.empty());
    outbound.tick(0, 0);
    sent.clear();
    clearAndAdd(hold);
    outbound.tick(SLA_NANOS, 0);
    assertThat(shipments()).hasSize(hold ? 1 : 2);
    assertNothingIsMissing();
  }

  @Test
  void clearing_joinedWithLaterUpdates_isCaughtUpByTheWholeState() {
    clearAndAdd(true);
    outbound.tick(SLA_NANOS, 0); // to nobody
    resume(Optional.of(new Frame.Cursor(RecoveredState.NOTHING.life(), 0, 0, 0, Optional.empty())));
    assertThat(shipments()).hasSize(1);
    assertNothingIsMissing();
  }
}
