package io.osier.propagation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * In a session keyspace, ap made an update, us saw it and made another one on the object, and only
 * the latter was received and acknowledged here. Then us loses its memory.
 */
final class LeftByFormerTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId US_ANEW = new ReplicaId("us", 2);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ReplicaId AP_ANEW = new ReplicaId("ap", 2);
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.PN_COUNTER);

  private final TestSurroundings.Kept kept = new TestSurroundings.Kept();

  /** The last frame of each kind that was sent, by receiver. */
  private final Map<String, Frame.Resume> resumes = new HashMap<>();

  private final Map<String, Frame.Status> statuses = new HashMap<>();
  private final CrdtState first = increment(CrdtState.bottom(OBJECT.type()), AP);
  private final CrdtState second = increment(CrdtState.bottom(OBJECT.type()).join(first), US);
  private final Solo solo =
      new Solo(
          Solo.SESSION,
          StreamSettings.DEFAULT,
          RecoveredState.NOTHING,
          kept,
          this::sent,
          "us",
          "ap");
  private final Propagation propagation = solo.propagation;

  private void sent(ReplicaId to, Frame frame) {
    switch (frame) {
      case Frame.Resume f -> resumes.put(to.dc(), f);
      case Frame.Status f -> statuses.put(to.dc(), f);
      default -> {}
    }
  }

  private static CrdtState increment(CrdtState state, ReplicaId origin) {
    return state.prepare(new Operation.Increment(1), origin, 1, 0, 1, 0);
  }

  private long value() {
    CrdtState state = kept.objects.get(OBJECT);
    return state == null ? 0 : ((Reading.Count) state.read(new Query.Whole())).value();
  }

  /** Has the peer ship its only update. */
  private void ships(ReplicaId from, VersionVector needs, CrdtState delta) {
    ships(from, 1, List.of(new Shipment(OBJECT, from, 0, needs, 1, 1, 0, delta)));
  }

  private void ships(ReplicaId from, long through, List<Shipment> updates) {
    solo.receive(
        from,
        Frames.updates(
            Frame.Kind.OPS,
            requireNonNull(resumes.get(from.dc())).epoch(),
            1,
            through,
            Optional.empty(),
            solo.nowMillis,
            updates));
  }

  /** Has the peer report that it has no updates of anybody. */
  private void hasNothing(ReplicaId peer) {
    hadNothing(peer, 0);
  }

  /** As {@link #hasNothing}, but the report left some time ago. */
  private void hadNothing(ReplicaId peer, long agoMillis) {
    VersionVector none = VersionVector.EMPTY;
    solo.receive(peer, Frames.status(false, none, none, solo.nowMillis - agoMillis));
  }

  private void tick() {
    solo.tick(StreamSettings.DEFAULT.retryMillis());
  }

  private void usShipsAndIsGone() {
    solo.up(US);
    ships(US, VersionVector.of(AP, 1), second);
    assertThat(value()).isZero();
    solo.up(US_ANEW);
  }

  @Test
  void whatHasComeOfAFormerIncarnation_isVisible_whenWhatItBuildsOnIsHere() {
    usShipsAndIsGone();
    solo.up(AP);
    ships(AP, VersionVector.EMPTY, first);
    assertThat(value()).isEqualTo(2);
    assertThat(propagation.progress().through().get(US)).isEqualTo(1);
  }

  /**
   * A datacenter that wants to know what its own former incarnation did must wait for such updates.
   */
  @Test
  void whatWaits_isToldAsWaiting_andCounted() {
    usShipsAndIsGone();
    tick();
    assertThat(requireNonNull(statuses.get("us")).waiting()).isTrue();
    assertThat(propagation.waitingUpdates()).isEqualTo(1);
    assertThat(propagation.memory().getLast().used()).isPositive();
    assertThat(propagation.coverage(VersionVector.of(US, 1))).isEqualTo(Coverage.NOT_YET);
    solo.up(AP);
    ships(AP, VersionVector.EMPTY, first);
    tick();
    assertThat(requireNonNull(statuses.get("us")).waiting()).isFalse();
    assertThat(propagation.waitingUpdates()).isZero();
    assertThat(propagation.memory().getLast().used()).isZero();
  }

  /** The update was received in another way, and nothing arrived for its object after that. */
  @Test
  void whatIsKnownMeanwhile_waitsNoLonger() {
    usShipsAndIsGone();
    solo.up(AP);
    kept.objects.put(OBJECT, CrdtState.bottom(OBJECT.type()).join(first).join(second));
    tick();
    assertThat(propagation.waitingUpdates()).isZero();
  }

  @Test
  void whatBuildsOnWhatNobodyHas_isGivenUp() {
    usShipsAndIsGone();
    solo.up(AP);
    for (int i = 0; i < 10; i++) {
      hasNothing(US_ANEW);
      hasNothing(AP);
      tick();
    }
    assertThat(propagation.waitingUpdates()).as("ap may still ship it").isEqualTo(1);
    solo.up(AP_ANEW);
    tick();
    assertThat(propagation.waitingUpdates()).as("ap may still have it").isEqualTo(1);
    for (int i = 0; i < 4; i++) {
      hasNothing(US_ANEW);
      hasNothing(AP_ANEW);
      tick();
      boolean isCertain = i == 3;
      assertThat(propagation.waitingUpdates()).isEqualTo(isCertain ? 0 : 1);
    }
    assertThat(value()).isZero();
    assertThat(propagation.progress().through().get(US)).isZero();
    assertThat(propagation.coverage(VersionVector.of(US, 1))).isEqualTo(Coverage.LOST);
  }

  /** It is unknown what the peers have received since their reports left. */
  @Test
  void whatBuildsOnWhatNobodyHadLongAgo_isKept() {
    usShipsAndIsGone();
    solo.up(AP_ANEW);
    for (ReplicaId peer : List.of(US_ANEW, AP_ANEW)) {
      ships(peer, 0, List.of());
    }
    for (int i = 0; i < 10; i++) {
      hadNothing(US_ANEW, 60_000);
      hadNothing(AP_ANEW, 60_000);
      tick();
    }
    assertThat(propagation.waitingUpdates()).isEqualTo(1);
    for (int i = 0; i < 4; i++) {
      hasNothing(US_ANEW);
      hasNothing(AP_ANEW);
      tick();
    }
    assertThat(propagation.waitingUpdates()).isZero();
  }
}
