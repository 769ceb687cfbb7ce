package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame.Place;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class UpdateApplierTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.LWW_SET_ADD_BIAS);

  private final ReceivedVector knowledge =
      new ReceivedVector(EU, List.of("us", "ap"), TestSurroundings.recovered(1, true, 0), () -> 0);
  private final TestSurroundings.Kept kept = new TestSurroundings.Kept();
  private final UpdateApplier applier =
      new UpdateApplier(knowledge, kept, update -> {}, UpdateObserver.NONE);

  private static CrdtState add(CrdtState to, String element, long predecessor, long number) {
    return to.prepare(
        new Operation.Add(List.of(Value.of(element))), US, number, predecessor, 100 + number, 0);
  }

  /**
   * The origin's object was joined with a state of another datacenter, whose context includes
   * numbers of other objects' updates, and its next update builds on that. With a gap in its
   * context the object was not given to a third datacenter, which was told that it had everything:
   * simulator, 5 datacenters, seed 81.
   */
  @Test
  void update_thatReplacesSomething_andBuildsOnWhatTheObjectForgot_leavesNoGap() {
    CrdtState bottom = CrdtState.bottom(OBJECT.type());
    CrdtState first = add(bottom, "a", 0, 1);
    CrdtState second = add(first, "b", 1, 2);
    CrdtState state = bottom.join(first).join(second);
    applier.apply(new Shipment(OBJECT, US, 0, VersionVector.EMPTY, 2, 2, 0, state));
    knowledge.complete(US, 5);
    Place before = knowledge.place(US);

    CrdtState atOrigin = state.seen(CausalContext.EMPTY.withRange(US, 0, 5));
    CrdtState update = add(atOrigin, "a", 5, 6);
    assertThat(update.context().rangeCount(0)).as("%s", update.context()).isEqualTo(2);
    Shipment shipment = new Shipment(OBJECT, US, 5, VersionVector.EMPTY, 6, 1, 0, update);
    assertThat(applier.isReady(shipment)).isTrue();
    applier.apply(shipment);

    assertThat(requireNonNull(kept.objects.get(OBJECT)).context())
        .isEqualTo(CausalContext.range(US, 0, 6));
    assertThat(knowledge.changedAfter(US, before, 10))
        .extracting(ReceivedVector.Changed::object)
        .containsExactly(OBJECT);
  }

  /**
   * The clearing of a large set is a state that lacks the updates which its transaction had not
   * seen: the origin's updates of the set from before that must be here first, or there would be a
   * gap.
   */
  @Test
  void clearing_isNext_afterWhatItsTransactionHadNotSeen() {
    ObjectId set = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    CrdtState seen = CrdtState.bottom(set.type());
    seen = seen.join(add(seen, "a", 0, 1));
    CrdtState meanwhile = add(seen, "b", 1, 2);
    CrdtState clear = Decomposition.of(seen).prepare(new Operation.Clear(), US, 3, 2, 103, 0);
    assertThat(clear.isFull()).isTrue();
    kept.objects.put(set, seen);

    Shipment clearing = new Shipment(set, US, 2, VersionVector.EMPTY, 3, 1, 0, clear);
    Shipment before = new Shipment(set, US, 1, VersionVector.EMPTY, 2, 1, 0, meanwhile);
    assertThat(applier.isNext(clearing)).isFalse();
    applier.applyInOrder(new ArrayList<>(List.of(clearing, before)));
    CrdtState after = requireNonNull(kept.objects.get(set));
    assertThat(after.context()).isEqualTo(CausalContext.range(US, 0, 3));
    assertThat(after.read(new Query.Whole())).hasToString("Many[values=[b]]");
  }
}
