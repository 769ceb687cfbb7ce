package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.CompactedLog;
import io.osier.propagation.host.ObjectProgress.Count;
import org.junit.jupiter.api.Test;

final class OutboundLogTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
  }

  private static LogSegment segment(long number, long firstNanos) {
    CrdtState delta =
        CrdtState.bottom(CrdtType.PN_COUNTER)
            .prepare(new Operation.Increment(1), SELF, number, 0, number, 0);
    return new LogSegment(0, VersionVector.EMPTY, number, 1, firstNanos, 0, delta);
  }

  @Test
  void heldObjects_areDueByAgeNotByNumber() {
    OutboundLog log = new OutboundLog(0, new Budget("trails", 1 << 20));
    log.commit(object("a"), segment(1, 500), 1, true);
    log.commit(object("b"), segment(2, 100), 2, true); // was acknowledged before it was committed
    log.commit(object("c"), segment(3, 300), 3, true);
    assertThat(log.oldestDirtyNanos()).isEqualTo(100);
    log.commit(object("a"), segment(4, 50), 4, true);
    assertThat(log.oldestDirtyNanos()).isEqualTo(50);
    assertThat(log.through()).isZero();

    assertThat(requireNonNull(log.takeDirty(60)).log().object).isEqualTo(object("a"));
    assertThat(log.through()).isEqualTo(1);
    assertThat(log.takeDirty(60)).isNull();
    assertThat(requireNonNull(log.takeDirty(400)).log().object).isEqualTo(object("b"));
    assertThat(requireNonNull(log.takeDirty(400)).log().object).isEqualTo(object("c"));
    assertThat(log.takeDirty(400)).isNull();
    assertThat(log.oldestDirtyNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(log.through()).isEqualTo(4);
  }

  /** Returns the bytes that an object takes in the log besides its updates. */
  private static long placeBytes(String key) {
    Budget budget = new Budget("trails", Long.MAX_VALUE);
    OutboundLog log = new OutboundLog(0, budget);
    commitAndShip(log, key, 1);
    return budget.used() - segment(1, 0).heapBytes();
  }

  @Test
  void fullLog_dropsWhatWasShippedLongestAgo() {
    int objects = 50_000;
    long places = objects * placeBytes("object 150000");
    long segmentBytes = segment(objects, 0).heapBytes();
    Budget budget = new Budget("trails", places + 10 * segmentBytes);
    OutboundLog log = new OutboundLog(0, budget);
    for (int i = 1; i <= objects; i++) {
      commitAndShip(log, "object " + (100_000 + i), i);
      assertThat(budget.used()).isLessThanOrEqualTo(budget.limit());
    }
    CompactedLog<ObjectLog> shipped = log.shipped();
    assertThat(shipped.size()).isEqualTo(objects);
    for (long tick = shipped.next(0); tick != 0; tick = shipped.next(tick)) {
      assertThat(shipped.get(tick).since(0) != null).isEqualTo(tick > objects - 10);
    }
    assertThat(budget.usage().spent()).isEqualTo(objects - 10);

    // A dropped object that is shipped again is kept again, from that segment on.
    commitAndShip(log, "object 100001", objects + 1);
    ObjectLog again = shipped.get(shipped.next(objects));
    assertThat(again.object).isEqualTo(object("object 100001"));
    assertThat(again.since(0)).isNull();
    assertThat(requireNonNull(again.since(objects)).last()).isEqualTo(objects + 1);
  }

  /**
   * The places have a bound, however long a datacenter is away, and however many objects change
   * meanwhile.
   */
  @Test
  void whereEvenThePlacesTakeMore_theOldestGo() {
    Budget budget = new Budget("trails", 100 * placeBytes("object 100000"));
    OutboundLog log = new OutboundLog(0, budget);
    for (int i = 1; i <= 10_000; i++) {
      commitAndShip(log, "object " + (100_000 + i), i);
      assertThat(budget.used()).isLessThanOrEqualTo(budget.limit());
    }
    assertThat(log.shipped().size()).isEqualTo(100);
    assertThat(log.prunedTick()).isEqualTo(10_000 - 100);
    log.prune(log.ticks());
    assertThat(budget.used()).isZero();
  }

  /** Simulator seeds 1173 and 1237: a held object may be forgotten when no peer needs it. */
  @Test
  void whereNobodyIsLeft_nothingLeaves_andNothingIsKept() {
    Budget budget = new Budget("trails", 1 << 20);
    OutboundLog log = new OutboundLog(0, budget);
    commitAndShip(log, "a", 1);
    log.commit(object("a"), segment(2, 0), 2, true);
    log.commit(object("b"), segment(3, 0), 3, true);
    log.commit(object("c"), segment(4, 0), 4, false);
    log.end();
    assertThat(log.takeOp()).isNull();
    assertThat(log.takeDirty(Long.MAX_VALUE)).isNull();
    assertThat(log.find(object("b"))).isNull();
    assertThat(budget.used()).isZero();
    assertThat(log.through()).isEqualTo(4);
  }

  @Test
  void updatesSinceAPlace_areCounted_whetherTheyAreKeptOrNot() {
    for (long limit : new long[] {1 << 20, placeBytes("a")}) {
      OutboundLog log = new OutboundLog(0, new Budget("trails", limit));
      commitAndShip(log, "a", 1);
      commitAndShip(log, "a", 2);
      ObjectLog a = requireNonNull(log.find(object("a")));
      assertThat(a.countSince(0, 9)).isEqualTo(new Count(2, 9));
      assertThat(a.countSince(log.ticks(), 9)).isEqualTo(Count.NONE);
      log.commit(object("a"), segment(3, 4), 3, true);
      assertThat(a.countHeld(9)).isEqualTo(new Count(1, 5));
      long everywhere = log.ticks();
      log.prune(everywhere);
      log.shipped(requireNonNull(log.takeDirty(Long.MAX_VALUE)), Long.MAX_VALUE);
      assertThat(a.countHeld(9)).isEqualTo(Count.NONE);
      assertThat(a.countSince(everywhere, 9)).isEqualTo(new Count(1, 5));
    }
  }

  @Test
  void whatWaitsForItsRoundCounts_andIsToLeaveWhenItIsTooMuch() {
    Budget budget = new Budget("trails", 100 * placeBytes("object 100000"));
    OutboundLog log = new OutboundLog(0, budget);
    int held = 0;
    while (!log.isOver()) {
      held++;
      log.commit(object("object " + (100_000 + held)), segment(held, 0), held, true);
    }
    assertThat(held).isBetween(20, 100);
    for (OutboundLog.Leaving w = log.takeDirty(Long.MAX_VALUE);
        w != null;
        w = log.takeDirty(Long.MAX_VALUE)) {
      log.shipped(w, Long.MAX_VALUE);
    }
    assertThat(log.isOver()).isFalse();
    assertThat(budget.isOver()).isFalse();
    log.prune(log.ticks());
    assertThat(budget.used()).isZero();
  }

  private static void commitAndShip(OutboundLog log, String key, long number) {
    log.commit(object(key), segment(number, 0), number, false);
    log.shipped(requireNonNull(log.takeOp()), Long.MAX_VALUE);
  }

  @Test
  void releasedObject_keepsItsTransactionFromBeingClaimed() {
    OutboundLog log = new OutboundLog(0, new Budget("trails", 1 << 20));
    log.commit(object("a"), segment(1, 100), 1, true);
    log.commit(object("b"), segment(2, 100), 2, false);
    assertThat(log.hasReleased()).isFalse();
    log.release(object("a"));
    assertThat(log.hasReleased()).isTrue();
    assertThat(log.through()).isZero();
    assertThat(requireNonNull(log.takeOp()).log().object).isEqualTo(object("b"));
    assertThat(log.through()).isZero();
    assertThat(requireNonNull(log.takeOp()).log().object).isEqualTo(object("a"));
    assertThat(log.hasReleased()).isFalse();
    assertThat(log.through()).isEqualTo(2);
    log.commit(object("b"), segment(3, 100), 3, false);
    assertThat(log.through()).isEqualTo(2);
  }
}
