package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.testing.Refused;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * A store from before the last updates, which the peers have: a copied volume, or a snapshot of a
 * machine. Its incarnation goes on, and its new commits get numbers that were given before.
 */
final class CopiedStoreTest {
  private static final ReplicaId SELF = TestSurroundings.SELF;
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ReplicaId THIRD = new ReplicaId("ap", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("c"), CrdtType.PN_COUNTER);

  private CrdtState state = CrdtState.bottom(OBJECT.type());

  /** The store has committed 5 updates in former lives. */
  private final Solo solo =
      new Solo(Solo.SESSION, TestSurroundings.recovered(2, true, 5), new OneObject(), "us", "ap");

  private final class OneObject extends TestSurroundings.Objects {
    @Override
    public CrdtState state(ObjectId object) {
      return state;
    }
  }

  private void commit(long number) {
    CausalContext before = state.context();
    CrdtState delta = state.prepare(new Operation.Increment(1), SELF, number, 0, 1_000, 0);
    state = state.join(delta);
    solo.propagation.commit(OBJECT, before, number, number, delta, 1, false, 0, 0);
    solo.tick();
  }

  private void says(ReplicaId peer, long has) {
    VersionVector through = VersionVector.EMPTY.with(SELF, has);
    solo.receive(peer, Frames.status(false, through, VersionVector.EMPTY, 0));
  }

  private void asks(ReplicaId peer, long has) {
    solo.receive(peer, new Frame.Resume(1, has, Optional.empty()));
  }

  private static void assertStops(ThrowingCallable what) {
    assertThatThrownBy(what)
        .hasMessageContainingAll("us/1 has update 6", "a copy", "osier rebuild")
        .is(Refused.with(ErrorCode.STORE_DAMAGED));
  }

  @Test
  void peerThatHasMoreThanTheStore_stopsIt() {
    solo.up(PEER);
    assertThatCode(() -> says(PEER, 5)).doesNotThrowAnyException();
    assertStops(() -> says(PEER, 6));
  }

  /**
   * The copy had given the number once more by then; no datacenter saw a difference, and the update
   * was lost.
   */
  @Test
  void peerThatHasMore_stopsIt_alsoWhereAsMuchWasCommittedSince() {
    commit(6);
    commit(7);
    solo.up(PEER);
    assertStops(() -> says(PEER, 6));
  }

  @Test
  void peerThatAsksForWhatComesLater_stopsIt_beforeAnythingIsSent() {
    commit(6);
    solo.up(PEER);
    assertStops(() -> asks(PEER, 6));
  }

  @Test
  void whatWasSentToOne_anotherOneMayHave() {
    solo.up(PEER);
    asks(PEER, 5);
    commit(6);
    solo.up(THIRD);
    assertThatCode(() -> says(THIRD, 6)).doesNotThrowAnyException();
    assertThatCode(() -> asks(THIRD, 6)).doesNotThrowAnyException();
  }
}
