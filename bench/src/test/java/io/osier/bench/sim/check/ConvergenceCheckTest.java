package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.objects.MemoryStore;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Datacenters that differ in the end, and some that only seem to. */
final class ConvergenceCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId SET = new ObjectId(Key.of("s"), CrdtType.AW_SET);
  private static final CrdtState NOTHING = CrdtState.bottom(CrdtType.AW_SET);

  private final MemoryStore eu = new MemoryStore();
  private final MemoryStore us = new MemoryStore();

  private static CrdtState with(CrdtState before, int number, Operation operation) {
    return before.join(before.prepare(operation, EU, number, number - 1, number, 0));
  }

  private static CrdtState added(CrdtState before, int number, String element) {
    return with(before, number, new Operation.Add(Value.of(element)));
  }

  private void ended() {
    Map<ReplicaId, Map<ObjectId, CrdtState>> contents = new TreeMap<>();
    contents.put(EU, ConvergenceCheck.content(eu));
    contents.put(US, ConvergenceCheck.content(us));
    ConvergenceCheck.ended(Unit.pair().getFirst(), contents);
  }

  private boolean isAtRest() {
    return ConvergenceCheck.isAtRest(List.of(eu, us));
  }

  private void differ() {
    assertThat(isAtRest()).isFalse();
    assertThatThrownBy(this::ended)
        .isInstanceOf(Violation.class)
        .hasMessageContaining(SET + " differs: eu/1 has")
        .hasMessageContaining("us/1 has");
  }

  @Test
  void equalObjects_areFine() {
    assertThat(isAtRest()).isTrue();
    eu.put(SET, added(NOTHING, 1, "a"));
    us.put(SET, added(NOTHING, 1, "a"));
    assertThat(isAtRest()).isTrue();
    ended();
  }

  @Test
  void objectThatOneLacks_isNoticed_atEither() {
    eu.put(SET, added(NOTHING, 1, "a"));
    differ();
    us.put(SET, added(NOTHING, 1, "a"));
    ended();
    eu.put(SET, with(added(NOTHING, 1, "a"), 2, new Operation.Clear()));
    differ();
  }

  @Test
  void updateThatOneLacks_isNoticed() {
    CrdtState one = added(NOTHING, 1, "a");
    eu.put(SET, added(one, 2, "b"));
    us.put(SET, one);
    differ();
  }

  /** Elements that read alike, and were added by other updates: a removal would leave one. */
  @Test
  void equalReadings_ofOtherUpdates_areNoticed() {
    eu.put(SET, added(NOTHING, 1, "a"));
    us.put(SET, added(NOTHING, 2, "a"));
    differ();
  }

  @Test
  void removal_thatOneHasForgotten_isFine() {
    eu.put(SET, with(added(NOTHING, 1, "a"), 2, new Operation.Clear()));
    assertThat(isAtRest()).isTrue();
    ended();
  }
}
