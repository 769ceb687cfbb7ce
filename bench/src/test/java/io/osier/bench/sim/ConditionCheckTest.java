package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What callers may be told of updates that have a condition, whatever the partitions did. */
final class ConditionCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ObjectId LOCK = new ObjectId(Key.of("lock"), CrdtType.LWW_REGISTER);
  private static final Request.Condition ABSENT =
      new Request.Condition(List.of(), new Query.Whole(), new Reading.Single(Optional.empty()));

  private final ConditionCheck check = new ConditionCheck(Unit.pair().getFirst());

  private void told(ReplicaId at, ObjectId object, Request.Condition condition, int number) {
    check.told(object, condition, Effect.token(Value.of(number)), new Dot(at, number));
  }

  @Test
  void secondWinnerOfOneDatacenter_isNoticed() {
    told(EU, LOCK, ABSENT, 1);
    assertThatThrownBy(() -> told(EU, LOCK, ABSENT, 2))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("two callers are told that they were the first");
  }

  @Test
  void winnersOfOtherDatacentersLivesObjectsAndExpectations_areNone() {
    told(EU, LOCK, ABSENT, 1);
    told(new ReplicaId("us", 1), LOCK, ABSENT, 1);
    told(new ReplicaId("eu", 2), LOCK, ABSENT, 1);
    told(EU, new ObjectId(Key.of("other"), CrdtType.LWW_REGISTER), ABSENT, 2);
    Reading first = new Reading.Single(Optional.of(Value.of(1)));
    told(EU, LOCK, new Request.Condition(List.of(), new Query.Whole(), first), 3);
    assertThat(check.won()).isEqualTo(5);
  }

  @Test
  void updateThatLeavesWhatItExpects_winsNothing() {
    ObjectId counter = new ObjectId(Key.of("counter"), CrdtType.PN_COUNTER);
    Request.Condition zero =
        new Request.Condition(List.of(), new Query.Whole(), new Reading.Count(0));
    check.told(counter, zero, Effect.NONE, new Dot(EU, 1));
    check.told(counter, zero, Effect.NONE, new Dot(EU, 2));
    ObjectId wild = new ObjectId(Key.of("lock-wild"), CrdtType.LWW_REGISTER);
    told(EU, wild, ABSENT, 3);
    told(EU, wild, ABSENT, 4);
    assertThat(check.won()).isZero();
  }
}
