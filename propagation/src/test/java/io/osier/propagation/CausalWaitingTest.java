package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Updates that wait in a causal keyspace while repairs and streams are interrupted: received ones
 * are not requested again, and those of a cut that will never be closed are not kept.
 */
final class CausalWaitingTest {
  private static final ReplicaId SELF = TestSurroundings.SELF;
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ReplicaId AWAY = new ReplicaId("ap", 1);
  private static final StreamSettings SETTINGS = StreamSettings.DEFAULT;
  private static final int STEP_MILLIS = 100;
  private static final int HEALED = 20;

  private final TestSurroundings.Kept kept = new TestSurroundings.Kept();
  private final List<ReplicaId> answered = new ArrayList<>();
  private final Solo solo =
      new Solo(
          Solo.CAUSAL, SETTINGS, RecoveredState.NOTHING, kept, this::note, PEER.dc(), AWAY.dc());
  private final Propagation propagation = solo.propagation;

  private void note(ReplicaId to, Frame frame) {
    if (frame instanceof Frame.States) {
      answered.add(to);
    }
  }

  private List<Frame.Heal> heals() {
    return solo.sent(Frame.Heal.class);
  }

  private void receive(ReplicaId from, Frame frame) {
    solo.receive(from, frame);
    solo.tick();
  }

  /**
   * Lets time pass in which the peer is heard; the peer reports updates of the datacenter that is
   * away.
   */
  private void hears(long millis) {
    hears(PEER, millis);
  }

  private void hears(ReplicaId peer, long millis) {
    VersionVector changes = VersionVector.EMPTY.with(AWAY, HEALED);
    for (long until = solo.nowMillis + millis;
        solo.nowMillis < until;
        solo.nowMillis += STEP_MILLIS) {
      receive(peer, Frames.status(false, VersionVector.EMPTY, changes, solo.nowMillis));
    }
  }

  private void passes(long millis) {
    for (long until = solo.nowMillis + millis;
        solo.nowMillis < until;
        solo.nowMillis += STEP_MILLIS) {
      solo.tick();
    }
  }

  private void up() {
    solo.up(PEER);
    solo.tick();
  }

  private void down() {
    solo.down(PEER);
  }

  /** Returns the state of an object that the origin wrote once, with this number. */
  private static Shipment whole(ReplicaId origin, int number) {
    ObjectId object = new ObjectId(Key.of(origin + "/" + number), CrdtType.PN_COUNTER);
    CrdtState bottom = CrdtState.bottom(object.type());
    CrdtState state =
        bottom.join(bottom.prepare(new Operation.Increment(1), origin, number, 0, 1, 0));
    return new Shipment(object, origin, 0, VersionVector.EMPTY, number, 0, 0, state);
  }

  /** Has the peer answer the last request with a page of the objects after one. */
  private void page(int after, int last) {
    List<Shipment> shipments = new ArrayList<>();
    for (int i = after + 1; i <= last; i++) {
      shipments.add(whole(AWAY, i));
    }
    Frame.Place place = new Frame.Place(1, last);
    boolean end = last == HEALED;
    receive(
        PEER,
        new Frame.States(
            heals().getLast().request(),
            Optional.of(AWAY),
            end ? Optional.empty() : Optional.of(new Frame.Page(place, Optional.empty())),
            end ? HEALED : 0,
            place,
            end ? VersionVector.EMPTY.with(AWAY, HEALED) : VersionVector.EMPTY,
            shipments));
  }

  /** Starts a repair that has received its first page. */
  private void beginsHealing() {
    up();
    hears(2L * SETTINGS.healMillis() + SETTINGS.retryMillis());
    assertThat(heals()).isNotEmpty();
    page(0, 10);
    assertThat(propagation.waitingUpdates()).isEqualTo(10);
  }

  @Test
  void repair_goesOnWhereItWas_howeverOftenTheLinkBreaks() {
    beginsHealing();
    for (int last = 11; last <= HEALED; last++) {
      down();
      passes(SETTINGS.healMillis() / 2);
      int before = heals().size();
      up();
      assertThat(heals()).as("asked at once").hasSize(before + 1);
      assertThat(heals().getLast().page().place().change()).isEqualTo(last - 1);
      page(last - 1, last);
    }
    assertThat(propagation.waitingUpdates()).isZero();
    assertThat(kept.objects).hasSize(HEALED);
    assertThat(propagation.here().get(AWAY)).isEqualTo(HEALED);
  }

  @Test
  void healingThatIsGivenUp_leavesNothing_andBeginsAnew() {
    beginsHealing();
    down();
    passes(2L * SETTINGS.healMillis());
    assertThat(propagation.waitingUpdates()).isZero();
    up();
    hears(2L * SETTINGS.healMillis() + SETTINGS.retryMillis());
    assertThat(heals().getLast().page().place()).isEqualTo(Frame.Place.NONE);
    page(0, HEALED);
    assertThat(kept.objects).hasSize(HEALED);
  }

  /** The peer's former incarnation was asked, and will not answer. */
  @Test
  void peerThatWasStartedAgain_isAskedAnew() {
    beginsHealing();
    solo.sent.clear();
    ReplicaId anew = new ReplicaId(PEER.dc(), 2);
    solo.up(anew);
    hears(anew, STEP_MILLIS);
    assertThat(heals()).hasSize(1);
  }

  /** Has the peer ask while an update committed here is held, so that the answer waits. */
  private void asksWhileSomethingIsHeld() {
    up();
    CrdtState delta =
        CrdtState.bottom(CrdtType.PN_COUNTER).prepare(new Operation.Increment(1), SELF, 1, 0, 1, 0);
    ObjectId object = new ObjectId(Key.of("held"), CrdtType.PN_COUNTER);
    kept.objects.put(object, CrdtState.bottom(object.type()).join(delta));
    long now = solo.nowMillis * 1_000_000;
    propagation.commit(object, CausalContext.EMPTY, 1, 1, delta, 1, true, now, now);
    receive(
        PEER,
        new Frame.Heal(
            1, AWAY, 0, CausalContext.EMPTY, new Frame.Page(Frame.Place.NONE, Optional.empty())));
    assertThat(answered).isEmpty();
  }

  private void nothingIsHeld() {
    propagation.outbound().flush(solo.nowMillis * 1_000_000, solo.nowMillis);
    solo.tick();
  }

  @Test
  void healingThatIsAskedFor_isAnsweredWhenNothingIsHeld() {
    asksWhileSomethingIsHeld();
    nothingIsHeld();
    assertThat(answered).containsExactly(PEER);
  }

  /** The peer's next incarnation may give its own request the same number. */
  @Test
  void healingThatIsAskedFor_endsWithWhoAsked() {
    asksWhileSomethingIsHeld();
    receive(
        new ReplicaId(PEER.dc(), PEER.incarnation() + 1),
        Frames.status(false, 0, 0, solo.nowMillis));
    nothingIsHeld();
    assertThat(answered).isEmpty();
  }

  @Test
  void healingThatIsAskedFor_endsWhenTheAskerIsNoPeerAnyMore() {
    asksWhileSomethingIsHeld();
    propagation.setPeers(List.of(AWAY.dc()), solo.nowMillis * 1_000_000);
    nothingIsHeld();
    assertThat(answered).isEmpty();
  }

  /**
   * A cut that the former incarnation had not closed will never be closed, even if others reported
   * the incarnation's end first.
   */
  @Test
  void incarnationOfWhichOthersSpokeFirst_endsTheFormerOne() {
    up();
    receive(
        PEER,
        new Frame.Updates(
            Frame.Kind.CATCH_UP,
            1,
            1,
            0,
            VersionVector.EMPTY,
            Optional.of(new Frame.Cursor(1, 5, 5, 0, Optional.of(whole(PEER, 1).object()))),
            true,
            solo.nowMillis,
            List.of(whole(PEER, 1))));
    assertThat(propagation.waitingUpdates()).isEqualTo(1);
    ReplicaId next = new ReplicaId(PEER.dc(), PEER.incarnation() + 1);
    receive(AWAY, Frames.status(false, VersionVector.EMPTY.with(next, 1), VersionVector.EMPTY, 0));
    receive(next, Frames.status(false, 0, 0, solo.nowMillis));
    assertThat(propagation.waitingUpdates()).isZero();
  }

  /**
   * The newest incarnation may lack what the former one had: otherwise more would count as present
   * everywhere.
   */
  @Test
  void statusOfAFormerIncarnation_saysNothingOfTheNewest() {
    up();
    ReplicaId next = new ReplicaId(PEER.dc(), PEER.incarnation() + 1);
    receive(AWAY, Frames.status(false, VersionVector.EMPTY.with(next, 1), VersionVector.EMPTY, 0));
    receive(
        PEER,
        new Frame.Status(
            false, 0, 0, VersionVector.EMPTY, 1, VersionVector.EMPTY, 7, false, solo.nowMillis));
    assertThat(propagation.status().committedElsewhere().get(next)).isZero();
  }
}
