package io.osier.propagation.out;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.Replica;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An update that is a state, as the clearing of a large set is, and what came after it. */
final class StateUpdateTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.AW_SET);

  private Causal state = Decomposition.of(Causal.bottom(OBJECT.type()));

  private final Replica replica =
      new Replica() {
        @Override
        public Causal state(ObjectId object) {
          return state;
        }

        @Override
        public void apply(Shipment update, Causal joined) {
          throw new AssertionError("nothing is applied");
        }

        @Override
        public List<Entry> scan(Optional<ObjectId> after, int limit) {
          return List.of();
        }

        @Override
        public List<Logged> logged(long after, int limit) {
          return List.of();
        }
      };

  private Causal made(Operation operation, ReplicaId origin, long number, long predecessor) {
    Causal update = state.prepare(operation, origin, number, predecessor, number, 0);
    state = state.join(update);
    return update;
  }

  private static Operation add(String element) {
    return new Operation.Add(List.of(Value.of(element)));
  }

  /**
   * Joined they are a state that has not what the later ones had seen: whoever took it for one
   * would show them without that (simulator, seed 544003 of three datacenters).
   */
  @Test
  void clearing_joinedWithLaterUpdates_isCaughtUpByTheWholeState() {
    made(add("a"), OTHER, 1, 0);
    Causal clear = made(new Operation.Clear(), SELF, 1, 0);
    assertThat(clear.isFull()).isTrue();
    made(add("b"), OTHER, 2, 1);
    Causal later = made(add("c"), SELF, 2, 1);
    OutboundLog log = new OutboundLog(0, new Budget("trails", 1 << 20));
    Segment joined = new Segment(0, VersionVector.EMPTY, 1, 1, 0, 0, clear);
    VersionVector needs = VersionVector.of(OTHER, 2);
    joined = joined.joined(new Segment(1, needs, 2, 1, 0, 0, later));
    assertThat(joined.delta().context().last(OTHER)).as("of the other").isEqualTo(1);
    Backlog backlog =
        new Backlog(
            new Surroundings(
                SELF,
                List.of("us"),
                KeyspacePolicy.session("k", Duration.ofSeconds(1)),
                StreamSettings.DEFAULT,
                Recovered.NOTHING,
                replica,
                (dc, frame) -> {},
                new PropagationStats(),
                UpdateObserver.NONE),
            log);
    log.commit(OBJECT, joined, 1, false);
    var unused = log.shipped(requireNonNull(log.takeOp()), 1 << 20);
    backlog.goTo(
        new Frame.Resume(1, 0, Optional.of(new Frame.Cursor(1, 0, 0, 0, Optional.empty()))));
    List<Shipment> shipments = new ArrayList<>();
    assertThat(backlog.read(shipments, 0)).isTrue();
    assertThat(shipments).hasSize(1);
    assertThat(shipments.getFirst().content().context().last(OTHER)).isEqualTo(2);
  }
}
