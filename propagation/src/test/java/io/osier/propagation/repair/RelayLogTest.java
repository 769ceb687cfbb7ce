package io.osier.propagation.repair;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RelayLogTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ObjectId X = new ObjectId(Key.of("x"), CrdtType.AW_SET);

  private final Budget budget = new Budget("relays", 16 << 20);
  private final RelayLog log = new RelayLog(budget);

  private CrdtState state = CrdtState.bottom(X.type());

  /** Applies an update that adds an element; each update takes two numbers. */
  private void apply(String element, boolean toLog) {
    long before = state.context().through(EU);
    CrdtState delta =
        state.prepare(
            new Operation.Add(List.of(Value.of(element))), EU, before + 1, before, before, 0);
    state = state.join(delta);
    if (toLog) {
      long last = delta.context().last(EU);
      log.applied(new Shipment(X, EU, before, VersionVector.EMPTY, last, 1, 0, delta));
    }
  }

  @Test
  void whatWasMissed_isGivenJoined_alsoWhenItWasMuch() {
    apply("old", true);
    long has = state.context().through(EU);
    CrdtState there = state;
    for (int i = 0; i < 100; i++) {
      apply("new " + i, true);
    }
    Shipment missed = requireNonNull(log.missing(X, EU, n -> n <= has, state));
    assertThat(missed.predecessor()).isLessThanOrEqualTo(has);
    assertThat(missed.last()).isEqualTo(state.context().through(EU));
    assertThat(there.join(missed.content())).isEqualTo(state);
  }

  @Test
  void whereSomethingIsNotKept_thereIsNothing() {
    apply("a", false);
    apply("b", true);
    assertThat(log.missing(X, EU, n -> n <= 0, state)).as("a is not kept").isNull();
    apply("c", false);
    long has = state.context().through(EU);
    assertThat(log.missing(X, EU, n -> n <= 1, state)).as("c is not kept").isNull();
    apply("d", true);
    assertThat(log.missing(X, EU, n -> n <= 1, state)).as("b does not lead to d").isNull();
    assertThat(log.missing(X, EU, n -> n <= has, state)).as("d alone").isNotNull();
  }

  @Test
  void whatEverybodyHas_isForgotten() {
    apply("a", true);
    assertThat(budget.used()).isPositive();
    log.prune(VersionVector.EMPTY.with(EU, state.context().through(EU)));
    assertThat(budget.used()).isZero();
    assertThat(log.missing(X, EU, n -> n <= 0, state)).isNull();
  }

  @Test
  void beyondItsBudget_itForgetsEverything() {
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 40; i++) {
      apply(large + i, true);
      assertThat(budget.used()).isLessThanOrEqualTo(budget.limit());
    }
  }

  /** Each of many small objects takes far more than its update's encoded bytes. */
  @Test
  void manySmallObjects_areForgottenInTime() {
    int most = 0;
    int kept = 0;
    for (int i = 0; i < 400_000; i++) {
      ObjectId object = new ObjectId(Key.of("k" + i), CrdtType.PN_COUNTER);
      CrdtState empty = CrdtState.bottom(object.type());
      CrdtState delta = empty.prepare(new Operation.Increment(1), EU, i + 1, 0, 0, 0);
      long before = budget.used();
      log.applied(new Shipment(object, EU, 0, VersionVector.EMPTY, i + 1, 1, 0, delta));
      kept = budget.used() < before ? 0 : kept + 1;
      most = Math.max(most, kept);
    }
    assertThat(most).isLessThan(100_000);
  }
}
