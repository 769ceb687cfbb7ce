package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.wire.Frame.Place;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ReceivedVectorTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);

  private static ReceivedVector knowledge(long life, Set<ReplicaId> recovered, long firstChange) {
    return new ReceivedVector(
        EU,
        List.of("us", "ap"),
        new RecoveredState(
            life,
            true,
            0,
            0,
            0,
            VersionVector.EMPTY,
            recovered,
            Map.of(),
            false,
            Forgetting.NOTHING,
            firstChange),
        () -> 0);
  }

  private static void changed(ReceivedVector knowledge, long number) {
    change(knowledge, number, CrdtState.bottom(OBJECT.type()));
  }

  /** Receives an update of us, or a state that reaches up to it. */
  private static void change(ReceivedVector knowledge, long number, CrdtState content) {
    CausalContext after = CausalContext.EMPTY.withRange(US, 0, number);
    knowledge.changed(
        new Shipment(OBJECT, US, 0, VersionVector.EMPTY, number, 1, 0, content),
        CausalContext.EMPTY,
        after);
  }

  /** A state may reach up to an update of another object, which is not here: seed 308. */
  @Test
  void besides_areUpdatesOnly_notHowFarAStateReaches() {
    CrdtState update =
        CrdtState.bottom(OBJECT.type()).prepare(new Operation.Increment(1), US, 9, 0, 1, 0);
    ReceivedVector byUpdate = knowledge(1, Set.of(US), 1);
    change(byUpdate, 9, update);
    assertThat(byUpdate.besides(US, 10)).isEqualTo(CausalContext.range(US, 8, 9));

    ReceivedVector byState = knowledge(1, Set.of(US), 1);
    change(byState, 9, CrdtState.bottom(OBJECT.type()));
    assertThat(byState.besides(US, 10).isEmpty()).isTrue();
  }

  /** With 2^24 changes, a place of one life was as large as those of the next life. */
  @Test
  void isPruned_placeOfAFormerLifeWithManyChanges_isBeforeAllOfThisLife() {
    ReceivedVector former = knowledge(1, Set.of(US), 1L << 24);
    changed(former, 7);
    Place place = former.place(US);

    ReceivedVector knowledge = knowledge(2, Set.of(US), 1);
    changed(knowledge, 8);

    assertThat(knowledge.isPruned(US, place, 7)).isTrue();
    assertThat(knowledge.changedAfter(US, place, 10))
        .extracting(ReceivedVector.Changed::object)
        .containsExactly(OBJECT);
  }

  @Test
  void changedAfter_placeOfThisLife_isWhatCameSince() {
    ReceivedVector knowledge = knowledge(2, Set.of(), 1);
    changed(knowledge, 1);
    Place place = knowledge.place(US);
    assertThat(knowledge.isPruned(US, place, 0)).isFalse();
    assertThat(knowledge.changedAfter(US, place, 10)).isEmpty();

    changed(knowledge, 2);
    assertThat(knowledge.changedAfter(US, place, 10))
        .containsExactly(new ReceivedVector.Changed(new Place(2, 3), OBJECT));
  }
}
