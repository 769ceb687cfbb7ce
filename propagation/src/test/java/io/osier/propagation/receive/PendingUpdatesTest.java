package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.pull.ObjectFetcher;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The waiting updates of a stream of us, the number up to which it is complete, and when a state is
 * fetched.
 */
final class PendingUpdatesTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ObjectId X = object("x");
  private static final ObjectId Y = object("y");
  private static final long GRACE = 10_000_000_000L;
  private static final long RETRY = 20_000_000_000L;

  private final PendingUpdates pending = new PendingUpdates();

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
  }

  private static Shipment update(ObjectId object, long number) {
    CrdtState delta =
        CrdtState.bottom(object.type()).prepare(new Operation.Increment(1), US, number, 0, 1, 0);
    return new Shipment(object, US, 0, VersionVector.EMPTY, number, 1, 0, delta);
  }

  private void waits(ObjectId object, long number, VersionVector missing, long nowNanos) {
    pending.add(update(object, number), missing, number - 1, false, 0, nowNanos);
  }

  private void waits(ObjectId object, long number) {
    waits(object, number, VersionVector.EMPTY, 0);
  }

  private List<ObjectId> toFetch(long nowNanos) {
    return pending.toFetch(nowNanos, GRACE, RETRY, update -> false);
  }

  private long nextFetchNanos() {
    return pending.nextFetchNanos(GRACE, RETRY);
  }

  @Test
  void nothingIsComplete_behindTheOldestThatWaits() {
    waits(X, 4);
    waits(Y, 6);
    waits(X, 8);
    assertThat(pending.complete(9)).isEqualTo(3);
    pending.dropFirst(X);
    assertThat(pending.complete(9)).isEqualTo(5);
    pending.dropFirst(Y);
    assertThat(pending.complete(9)).isEqualTo(7);
    pending.dropFirst(X);
    assertThat(pending.complete(9)).isEqualTo(9);
  }

  @Test
  void whatIsGivenUp_isNotComplete_fromItsFirstUpdateOn() {
    waits(X, 4);
    waits(X, 8);
    assertThat(pending.giveUp(X)).isEqualTo(3);
    assertThat(pending.heapBytes()).isZero();
    assertThat(pending.isEmpty()).isTrue();
  }

  @Test
  void laterUpdate_waitsForWhatTheOneBeforeItWaitsFor() {
    waits(X, 4, VersionVector.of(AP, 2), 0);
    waits(X, 8, VersionVector.of(EU, 5), 0);
    assertThat(requireNonNull(pending.first(X)).missing()).isEqualTo(VersionVector.of(AP, 2));
    pending.dropFirst(X);
    assertThat(requireNonNull(pending.first(X)).missing())
        .isEqualTo(VersionVector.of(AP, 2).with(EU, 5));
  }

  @Test
  void state_isFetchedAfterTheGrace_andAgainAfterEachRetry() {
    waits(X, 4, VersionVector.EMPTY, 5);
    assertThat(nextFetchNanos()).isEqualTo(5 + GRACE);
    assertThat(toFetch(4 + GRACE)).isEmpty();
    assertThat(toFetch(5 + GRACE)).containsExactly(X);
    assertThat(nextFetchNanos()).isEqualTo(5 + GRACE + RETRY);
    assertThat(toFetch(4 + GRACE + RETRY)).isEmpty();
    assertThat(toFetch(5 + GRACE + RETRY)).containsExactly(X);
  }

  @Test
  void whatIsAboutToCome_isWaitedForOnce() {
    waits(X, 4);
    assertThat(pending.toFetch(GRACE, GRACE, RETRY, update -> true)).isEmpty();
    long then = GRACE + PendingUpdates.COMING_NANOS;
    assertThat(nextFetchNanos()).isEqualTo(then);
    assertThat(pending.toFetch(then, GRACE, RETRY, update -> true)).containsExactly(X);
  }

  /** The object's next waiting update has its own grace time. */
  @Test
  void whatWasFetched_isForgotten_whenNothingOfTheObjectWaits() {
    waits(X, 4);
    assertThat(toFetch(GRACE)).containsExactly(X);
    pending.dropFirst(X);
    waits(X, 8, VersionVector.EMPTY, GRACE);
    assertThat(nextFetchNanos()).isEqualTo(2 * GRACE);
    assertThat(toFetch(2 * GRACE)).containsExactly(X);
    assertThat(pending.giveUp(X)).isEqualTo(7);
    waits(X, 9, VersionVector.EMPTY, 2 * GRACE);
    assertThat(nextFetchNanos()).isEqualTo(3 * GRACE);
  }

  @Test
  void manyObjects_areFetchedSomeAtATime_theFirstThatAreDue() {
    for (int i = 0; i <= ObjectFetcher.OBJECTS_MAX; i++) {
      waits(object("k" + i), i + 1, VersionVector.EMPTY, i);
    }
    assertThat(toFetch(2 * GRACE)).hasSize(ObjectFetcher.OBJECTS_MAX).contains(object("k0"));
    assertThat(toFetch(2 * GRACE)).containsExactly(object("k" + ObjectFetcher.OBJECTS_MAX));
    assertThat(toFetch(2 * GRACE)).isEmpty();
  }
}
