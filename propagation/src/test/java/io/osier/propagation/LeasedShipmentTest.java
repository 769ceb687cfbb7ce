package io.osier.propagation;

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
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A frame leaves when everything before it is durable, and a disk may stand still for longer than
 * the version lives by which a state is read. The frame's content was fixed when the frame was
 * made.
 */
final class LeasedShipmentTest {
  private static final ReplicaId SELF = TestSurroundings.SELF;
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);

  private final LeasedEntries leases = new LeasedEntries();
  private CrdtState set = CrdtState.bottom(SET.type()).join(added("e", 1));

  private final class Leased extends TestSurroundings.Objects {
    @Override
    public @Nullable CrdtState state(ObjectId object) {
      return object.equals(SET) ? leases.of(set) : null;
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      boolean isNext = after.isEmpty() || after.get().compareTo(SET) < 0;
      return isNext ? List.of(new Entry(SET, leases.of(set))) : List.of();
    }
  }

  private final Solo solo =
      new Solo(
          Solo.SESSION.with(KeyspacePolicy.StatePayload.FULL),
          TestSurroundings.recovered(1, true, 2),
          new Leased(),
          PEER.dc());

  private static CrdtState added(String element, long number) {
    Operation adds = new Operation.Add(Value.of(element));
    return CrdtState.bottom(SET.type()).prepare(adds, SELF, number, number - 1, 0, 0);
  }

  /** Returns the frames of a class as they are after the end of all leases. */
  private <T extends Frame> List<T> late(Class<T> type) {
    leases.end();
    return solo.sent.stream()
        .map(frame -> FrameCodec.decode(SELF, FrameCodec.encode(SELF, frame)))
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private List<Shipment> lateUpdates(Frame.Kind kind) {
    return late(Frame.Updates.class).stream()
        .filter(frame -> frame.kind() == kind)
        .flatMap(frame -> frame.shipments().stream())
        .toList();
  }

  private void streams() {
    solo.up(PEER);
    solo.receive(PEER, new Frame.Resume(1, 0, Optional.empty()));
  }

  @Test
  void stateThatCatchesUp_isAsItWas() {
    streams();
    assertThat(lateUpdates(Frame.Kind.CATCH_UP)).extracting(Shipment::content).containsOnly(set);
  }

  @Test
  void stateOfARound_isAsItWas() {
    streams();
    CausalContext before = set.context();
    CrdtState delta = added("f", 3);
    set = set.join(delta);
    solo.propagation.commit(SET, before, 3, 3, delta, 1, true, 0, 0);
    solo.propagation.outbound().flush(0, 0);
    assertThat(lateUpdates(Frame.Kind.ROUND)).extracting(Shipment::content).containsOnly(set);
  }

  @Test
  void stateThatHeals_isAsItWas() {
    solo.up(PEER);
    Optional<ObjectId> scanned = Optional.of(new ObjectId(Key.of("a"), SET.type()));
    Frame.Page all = new Frame.Page(Frame.Place.NONE, scanned);
    solo.receive(PEER, new Frame.Heal(1, SELF, 0, CausalContext.EMPTY, all));
    assertThat(late(Frame.States.class))
        .flatExtracting(Frame.States::shipments)
        .extracting(Shipment::content)
        .containsOnly(set);
  }

  @Test
  void stateThatIsFetched_isAsItWas() {
    solo.up(PEER);
    solo.receive(PEER, new Frame.Fetch(1, List.of(SET)));
    assertThat(late(Frame.States.class))
        .flatExtracting(Frame.States::shipments)
        .extracting(Shipment::content)
        .containsOnly(set);
  }

  @Test
  void stateThatIsCompared_isAsItWas() {
    solo.up(PEER);
    solo.receive(
        PEER, new Frame.Verify(1, List.of(new Frame.Known(SET, VersionVector.of(SELF, 2)))));
    assertThat(late(Frame.Verified.class))
        .flatExtracting(Frame.Verified::shipments)
        .extracting(Shipment::content)
        .containsOnly(set.seen(CausalContext.range(SELF, 0, 2)));
  }
}
