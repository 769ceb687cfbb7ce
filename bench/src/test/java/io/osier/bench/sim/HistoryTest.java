package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.store.MemoryStore;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Shipment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The checks must see what they are there for. */
final class HistoryTest {
  private static final ReplicaId A = new ReplicaId("a", 1);
  private static final ReplicaId B = new ReplicaId("b", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);

  private final History history = new History();
  private Causal state = Causal.bottom(CrdtType.PN_COUNTER);

  private Causal made(ReplicaId origin, long number, long amount) {
    Causal delta =
        state.prepare(
            new Operation.Increment(amount),
            origin,
            number,
            state.context().through(origin),
            number);
    history.made(
        new Shipment(OBJECT, origin, 0, VersionVector.EMPTY, number, 1, 0, delta), state.context());
    state = state.join(delta);
    return delta;
  }

  private static MemoryStore store(Causal state) {
    MemoryStore store = new MemoryStore();
    store.put(OBJECT, state);
    return store;
  }

  @Test
  void lostUpdate_isSeen() {
    Causal first = made(A, 1, 5);
    Causal before = state;
    made(A, 2, 7);
    MemoryStore one = store(before);
    assertThatThrownBy(() -> history.checkEnd(Map.of("a", one, "b", one), List.of()))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("missing or twice");
    MemoryStore delta = store(Causal.bottom(CrdtType.PN_COUNTER).join(first));
    assertThatThrownBy(() -> history.checkEnd(Map.of("a", delta, "b", delta), List.of()))
        .isInstanceOf(Violation.class);
  }

  @Test
  void updateThatWasNeverMade_isSeen() {
    made(A, 1, 5);
    Causal more = state.join(state.prepare(new Operation.Increment(1), A, 2, 1, 2));
    assertThatThrownBy(
            () -> history.checkEnd(Map.of("a", store(more), "b", store(more)), List.of()))
        .isInstanceOf(Violation.class);
  }

  @Test
  void difference_isSeen() {
    made(A, 1, 5);
    Causal before = state;
    made(B, 1, 5);
    assertThatThrownBy(
            () -> history.checkEnd(Map.of("a", store(before), "b", store(state)), List.of()))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("differs");
  }

  @Test
  void updateBeforeWhatItHadSeen_isSeen() {
    made(A, 1, 5);
    Causal second = made(B, 1, 7);
    assertThatThrownBy(() -> history.checkOrder("c", OBJECT, CausalContext.EMPTY, second.context()))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("without all that it had seen");
  }
}
