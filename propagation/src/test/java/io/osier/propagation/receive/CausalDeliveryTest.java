package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.LeasedEntries;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A waiting update is held once, however often it is received. */
final class CausalDeliveryTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final CausalDelivery.Source STREAM = CausalDelivery.Source.stream(EU);
  private static final CausalDelivery.Source US_STREAM = CausalDelivery.Source.stream(US);
  private static final CausalDelivery.Source HEALED = CausalDelivery.Source.states(US, EU);
  private static final int OBJECTS = 100;

  private final CausalDelivery admission = new CausalDelivery();

  private static ObjectId object(int i) {
    return new ObjectId(Key.of("k" + i), CrdtType.PN_COUNTER);
  }

  private static CrdtState delta(long number) {
    return CrdtState.bottom(CrdtType.PN_COUNTER)
        .prepare(new Operation.Increment(number), EU, number, number - 1, number, 0);
  }

  /** Returns a counter that was incremented with each number up to this one. */
  private static CrdtState state(long last) {
    CrdtState state = CrdtState.bottom(CrdtType.PN_COUNTER);
    for (long number = 1; number <= last; number++) {
      state = state.join(delta(number));
    }
    return state;
  }

  private static CutQueue.Arrived whole(int i, long last) {
    Shipment shipment =
        new Shipment(object(i), EU, 0, VersionVector.EMPTY, last, 0, 0, state(last));
    assertThat(shipment.content().isFull()).isTrue();
    return new CutQueue.Arrived(shipment, true, 0);
  }

  private static CutQueue.Arrived operation(int i, long number) {
    Shipment shipment =
        new Shipment(object(i), EU, number - 1, VersionVector.EMPTY, number, 1, 0, delta(number));
    return new CutQueue.Arrived(shipment, false, 0);
  }

  private void close(long through) {
    admission.close(STREAM, through, VersionVector.EMPTY, Optional.empty(), 0);
  }

  private List<Shipment> take() {
    List<Shipment> taken = new ArrayList<>();
    for (CutQueue.Cut cut : admission.take(VersionVector.EMPTY)) {
      cut.updates().forEach(a -> taken.add(a.shipment()));
    }
    return taken;
  }

  @Test
  void statesThatComeAgain_areHeldOnce() {
    for (CausalDelivery.Source source : List.of(STREAM, HEALED)) {
      long before = admission.heapBytes();
      long once = 0;
      for (int again = 0; again < 5; again++) {
        for (int i = 0; i < OBJECTS; i++) {
          admission.add(source, whole(i, 3));
        }
        once = again == 0 ? admission.heapBytes() : once;
      }
      assertThat(admission.open(source)).isEqualTo(OBJECTS);
      assertThat(once).isGreaterThan(before);
      assertThat(admission.heapBytes()).isEqualTo(once);
    }
    close(3);
    admission.closeRepaired(HEALED, 3, VersionVector.EMPTY, 0);
    assertThat(take()).hasSize(2 * OBJECTS);
    assertThat(admission.heapBytes()).isZero();
  }

  /**
   * While a peer's stream stands still, its own updates may be requested like those of another
   * origin: the updates received in the stream were dropped with a repair that was given up, while
   * the place in the stream stayed (simulator, seed 54 of three datacenters).
   */
  @Test
  void healingByTheOriginItself_isGivenUp_andWhatItsStreamBroughtStays() {
    CausalDelivery.Source repaired = CausalDelivery.Source.states(EU, EU);
    admission.add(STREAM, operation(1, 1));
    admission.add(repaired, whole(2, 1));
    admission.drop(repaired);
    close(1);
    assertThat(take()).extracting(Shipment::object).containsExactly(object(1));
  }

  @Test
  void healingByTheOriginItself_closesNothingOfItsStream() {
    CausalDelivery.Source repaired = CausalDelivery.Source.states(EU, EU);
    admission.add(STREAM, operation(1, 2));
    admission.add(repaired, whole(2, 1));
    admission.closeRepaired(repaired, 1, VersionVector.EMPTY, 0);
    assertThat(take()).extracting(Shipment::object).containsExactly(object(2));
    close(2);
    assertThat(take()).extracting(Shipment::object).containsExactly(object(1));
  }

  @Test
  void stateThatKnowsMore_takesTheFormersPlace() {
    admission.add(STREAM, whole(1, 2));
    admission.add(STREAM, operation(1, 3));
    admission.add(STREAM, whole(1, 4));
    admission.add(STREAM, operation(1, 5));
    close(5);
    assertThat(take()).extracting(Shipment::last).containsExactly(4L, 3L, 5L);
  }

  /** The sender may have lost updates of others, and sends its own part again. */
  @Test
  void stateThatKnowsLess_isHeldBesides() {
    admission.add(STREAM, whole(1, 4));
    admission.add(STREAM, whole(1, 2));
    close(4);
    assertThat(take()).extracting(Shipment::last).containsExactly(4L, 2L);
  }

  /**
   * A sender that was started again begins after the updates that are visible here, and may commit
   * no more.
   */
  @Test
  void whatAClosedCutHas_isNotOpenWhenItComesAgain() {
    admission.add(STREAM, operation(1, 1));
    admission.add(STREAM, operation(2, 2));
    VersionVector needs = VersionVector.EMPTY.with(US, 1);
    admission.close(STREAM, 2, needs, Optional.empty(), 0);
    assertThat(take()).isEmpty();
    admission.add(STREAM, whole(1, 1));
    admission.add(STREAM, whole(2, 2));
    admission.add(STREAM, operation(1, 3));
    assertThat(admission.isNew(STREAM, 2)).isFalse();
    assertThat(admission.open(STREAM)).isEqualTo(1);
    assertThat(admission.take(needs)).extracting(CutQueue.Cut::through).containsExactly(2L);
    assertThat(admission.waiting()).isEqualTo(1);
  }

  @Test
  void stateThatIsLaterThanACut_isReplacedBehindIt() {
    admission.add(STREAM, whole(1, 1));
    admission.add(STREAM, whole(2, 3));
    close(2);
    admission.add(STREAM, whole(1, 4));
    admission.add(STREAM, whole(2, 3));
    close(4);
    assertThat(take()).extracting(Shipment::last).containsExactly(1L, 3L, 4L);
    assertThat(admission.heapBytes()).isZero();
  }

  @Test
  void whatIsDropped_takesNothing() {
    admission.add(HEALED, whole(1, 1));
    admission.drop(HEALED);
    assertThat(admission.heapBytes()).isZero();
    assertThat(admission.waiting()).isZero();
    admission.add(HEALED, whole(1, 1));
    admission.closeRepaired(HEALED, 1, VersionVector.EMPTY, 0);
    assertThat(take()).hasSize(1);
  }

  /**
   * Closes a cut of us that depends on ap, and one of eu that depends on it; no update of ap is
   * here.
   */
  private void cutsOfWhatIsLost() {
    admission.add(US_STREAM, operation(1, 1));
    admission.close(US_STREAM, 1, VersionVector.EMPTY.with(EU, 1), Optional.empty(), 0);
    admission.add(US_STREAM, operation(1, 2));
    admission.close(US_STREAM, 2, VersionVector.EMPTY.with(EU, 1).with(AP, 1), Optional.empty(), 0);
    admission.add(STREAM, operation(2, 2));
    admission.close(STREAM, 2, VersionVector.EMPTY.with(US, 2), Optional.empty(), 0);
  }

  @Test
  void whatDependsOnWhatIsLost_isGivenUp_oneAfterTheOther() {
    cutsOfWhatIsLost();
    admission.ended(US);
    admission.ended(EU);
    admission.giveUp(VersionVector.EMPTY, r -> false);
    assertThat(admission.waiting()).isEqualTo(3);
    List<ReplicaId> asked = new ArrayList<>();
    admission.giveUp(
        VersionVector.EMPTY,
        r -> {
          asked.add(r);
          return true;
        });
    assertThat(asked).as("what waits is not lost").containsExactly(AP);
    assertThat(admission.waiting()).as("not what depends on others").isEqualTo(2);
    admission.giveUp(VersionVector.EMPTY, US::equals);
    assertThat(admission.waiting()).isEqualTo(1);
    VersionVector here = VersionVector.EMPTY.with(EU, 1);
    assertThat(admission.take(here)).extracting(CutQueue.Cut::through).containsExactly(1L);
    assertThat(admission.heapBytes()).isZero();
  }

  /** The peer has everything that its cut depends on, though it may not have reported that yet. */
  @Test
  void whatAPeerHasShippedThatRuns_isNotGivenUp() {
    cutsOfWhatIsLost();
    admission.ended(EU);
    admission.giveUp(VersionVector.EMPTY, r -> true);
    assertThat(admission.waiting()).isEqualTo(3);
  }

  /** A datacenter that was removed from a keyspace's replicas may be one of them again. */
  @Test
  void whatWasGivenUp_comesAgain() {
    cutsOfWhatIsLost();
    admission.ended(US);
    admission.giveUp(VersionVector.EMPTY, AP::equals);
    admission.add(US_STREAM, operation(1, 1));
    admission.add(US_STREAM, operation(1, 2));
    assertThat(admission.open(US_STREAM)).as("not what waits").isEqualTo(1);
    assertThat(admission.isNew(US_STREAM, 2)).isTrue();
  }

  private static final CrdtType SETS = CrdtType.AW_SET;

  private static CrdtState set(int elements) {
    CrdtState set = CrdtState.bottom(SETS);
    for (int i = 1; i <= elements; i++) {
      Operation add = new Operation.Add(List.of(Value.of("e" + i)));
      set = set.join(set.prepare(add, EU, i, i - 1, 0, 0));
    }
    return set;
  }

  private void pulled(LeasedEntries leases, int i) {
    Shipment shipment =
        new Shipment(
            new ObjectId(Key.of("s" + i), SETS),
            EU,
            0,
            VersionVector.EMPTY,
            i,
            0,
            0,
            leases.of(set(i)));
    admission.addPulled(STREAM, new CutQueue.Arrived(shipment, true, 0));
  }

  /**
   * After the sender has ended, no datacenter sends the state again: only the part that cannot be
   * read any more is dropped.
   */
  @Test
  void leaseThatIsOver_ofOneThatHasEnded_costsWhatBuildsOnIt() {
    LeasedEntries leases = new LeasedEntries();
    LeasedEntries over = new LeasedEntries();
    pulled(leases, 1);
    close(1);
    pulled(over, 2);
    close(2);
    pulled(leases, 3);
    close(3);
    admission.ended(EU);
    assertThat(admission.holdPulled()).isEmpty();
    assertThat(admission.waiting()).isEqualTo(3);
    over.end();
    assertThat(admission.holdPulled()).isEmpty();
    assertThat(take()).extracting(Shipment::last).containsExactly(1L);
    assertThat(admission.hasPulled()).isFalse();
  }

  @Test
  void leaseThatIsOver_ofAStreamThatGoesOn_costsAllThatWaits() {
    LeasedEntries leases = new LeasedEntries();
    pulled(leases, 1);
    close(1);
    leases.end();
    assertThat(admission.holdPulled()).containsExactly(STREAM);
    assertThat(admission.waiting()).isZero();
  }

  /** Updates that an ended peer has left hold no stream back; those that it brings as a peer do. */
  @Test
  void oneThatIsAPeerAgain_hasLeftNothing() {
    admission.add(STREAM, operation(1, 1));
    close(1);
    admission.ended(EU);
    assertThat(admission.leftBytes()).isEqualTo(admission.heapBytes());
    admission.returned(EU);
    assertThat(admission.leftBytes()).isZero();
  }

  private static CutQueue.Arrived pulledState(int i, int last) {
    Shipment shipment =
        new Shipment(
            new ObjectId(Key.of("s" + i), SETS), EU, 0, VersionVector.EMPTY, last, 0, 0, set(last));
    return new CutQueue.Arrived(shipment, true, 0);
  }

  private Optional<CrdtState> pulledOf(int i) {
    ObjectId object = new ObjectId(Key.of("s" + i), SETS);
    return admission.pulled(EU, object, CausalContext.EMPTY);
  }

  /** A round's state also stands for updates, each of which is counted when it becomes visible. */
  @Test
  void stateThatTellsOfUpdates_isHeldBesides() {
    for (long last : new long[] {2, 4}) {
      Shipment round = new Shipment(object(1), EU, 0, VersionVector.EMPTY, last, 1, 0, state(last));
      admission.add(STREAM, new CutQueue.Arrived(round, false, 0));
    }
    close(4);
    assertThat(take()).extracting(Shipment::last).containsExactly(2L, 4L);
  }

  @Test
  void pulledState_isKnownUntilItIsReplaced_dropped_orTaken() {
    admission.addPulled(STREAM, pulledState(1, 1));
    assertThat(pulledOf(1)).contains(set(1));
    admission.add(STREAM, pulledState(1, 2));
    assertThat(admission.hasPulled()).as("replaced").isFalse();
    admission.addPulled(HEALED, pulledState(1, 1));
    admission.drop(HEALED);
    assertThat(admission.hasPulled()).as("dropped").isFalse();
    admission.addPulled(STREAM, pulledState(2, 3));
    close(3);
    assertThat(pulledOf(2)).contains(set(3));
    assertThat(take()).hasSize(2);
    assertThat(admission.hasPulled()).as("taken").isFalse();
  }

  @Test
  void ofSeveralPulledStates_theLastIsKnown_orTheOneOfTheVersionThatIsAskedFor() {
    for (int last = 1; last <= 9; last++) {
      admission.addPulled(STREAM, pulledState(1, last));
      close(last);
    }
    assertThat(pulledOf(1)).contains(set(9));
    ObjectId object = new ObjectId(Key.of("s1"), SETS);
    assertThat(admission.pulled(EU, object, set(4).context())).contains(set(4));
  }

  /** The repair depends on no more than it brings. */
  @Test
  void repair_mayNameItsOwn() {
    admission.add(HEALED, whole(1, 3));
    admission.closeRepaired(HEALED, 3, VersionVector.of(EU, 3), 0);
    assertThat(take()).hasSize(1);
  }

  /** Repaired states come in any order: a cut that was closed before says nothing of them. */
  @Test
  void healingThatWasGivenUp_inPart_comesAgain() {
    for (int last = 1; last <= 2; last++) {
      admission.add(HEALED, whole(last, 5L * last));
      VersionVector deps = last == 1 ? VersionVector.EMPTY : VersionVector.of(AP, 1);
      admission.closeRepaired(HEALED, 5L * last, deps, 0);
    }
    admission.ended(US);
    admission.giveUp(VersionVector.EMPTY, AP::equals);
    assertThat(admission.waiting()).isEqualTo(1);
    admission.returned(US);
    admission.add(HEALED, whole(3, 4));
    assertThat(admission.open(HEALED)).isEqualTo(1);
  }

  @Test
  void placesOfStates_countToo() {
    CutQueue.Arrived state = whole(1, 1);
    CutQueue.Arrived operation = operation(1, 1);
    admission.add(STREAM, operation);
    assertThat(admission.heapBytes()).isEqualTo(operation.heapBytes());
    admission.add(STREAM, state);
    assertThat(admission.heapBytes()).isGreaterThan(operation.heapBytes() + state.heapBytes());
  }
}
