package io.osier.datacenter.redis.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SpreadPlanTest {
  private long nanos = -5_000_000_000L; // a monotonic clock begins anywhere

  private Plan begin(int partitions, int wanted, long millis) {
    return new SpreadPlan(
            List.of(new SpreadPlan.Written("shop", partitions, i -> VersionVector.EMPTY)),
            wanted,
            millis,
            () -> nanos,
            n -> new RespValue.Int(n))
        .begin();
  }

  private static Reply has(long number, String... dcs) {
    return new Reply.Spread(number, Set.of(dcs));
  }

  private static Plan then(Plan plan, Reply... replies) {
    return ((Plan.Ask) plan).then().apply(List.of(replies));
  }

  private static void assertAsked(Plan plan, Request... requests) {
    assertThat(((Plan.Ask) plan).requests()).containsExactly(requests);
  }

  private static Request asks(int partition, long number, int datacenters, int millis) {
    return new ProgressRequest.Spread(
        "shop", partition, number, VersionVector.EMPTY, datacenters, millis);
  }

  private static void assertAnswer(Plan plan, RespValue value) {
    assertThat(plan).isEqualTo(new Plan.Answer(value));
  }

  @Test
  void whoseAllPartitionsHaveIt_isCounted() {
    Plan first = begin(2, 1, 100);
    assertAsked(first, asks(0, 0, 1, 101), asks(1, 0, 1, 101));
    assertAnswer(then(first, has(7, "us", "ap"), has(9, "ap")), new RespValue.Int(1));
    assertAnswer(then(begin(1, 1, 0), has(7, "us", "ap")), new RespValue.Int(2));
    assertAnswer(then(begin(1, 0, 0), has(7)), new RespValue.Int(0));
    assertAnswer(begin(0, 1, 0), new RespValue.Int(0));
  }

  @Test
  void untilEnoughHaveIt_thosePartitionsAreAskedAgain_thatLackIt_aboutWhatWasThereAtFirst() {
    Plan first = begin(2, 1, 0);
    assertAsked(first, asks(0, 0, 1, 1_000), asks(1, 0, 1, 1_000));
    Plan second = then(first, has(7, "us"), has(9));
    assertAsked(second, asks(1, 9, 1, 1_000));
    // Each has one, which is not the same: one more is waited for.
    Plan third = then(second, has(9, "ap"));
    assertAsked(third, asks(0, 7, 2, 1_000), asks(1, 9, 2, 1_000));
    assertAnswer(then(third, has(7, "us"), has(9, "ap", "us")), new RespValue.Int(1));
  }

  @Test
  void whenTheTimeIsOver_itIsAnsweredHowManyHaveIt() {
    Plan plan = begin(1, 2, 1_500);
    assertAsked(plan, asks(0, 0, 2, 1_000));
    nanos += 1_000_000_000;
    plan = then(plan, has(7, "us"));
    assertAsked(plan, asks(0, 7, 2, 501));
    nanos += 501_000_000;
    assertAnswer(then(plan, has(7, "us")), new RespValue.Int(1));
  }

  /** Otherwise the answer would be 0 for good. */
  @Test
  void whatIsLostOfWhatWasShown_isWaitedForNoMore_andTheRestIs() {
    ReplicaId eu = new ReplicaId("eu", 1);
    ReplicaId us = new ReplicaId("us", 1);
    VersionVector[] shown = {VersionVector.of(eu, 7).with(us, 3)};
    Plan plan =
        new SpreadPlan(
                List.of(new SpreadPlan.Written("shop", 1, i -> shown[0])),
                1,
                0,
                () -> nanos,
                n -> new RespValue.Int(n))
            .begin();
    Reply lost = new Reply.Failure(ErrorCode.SESSION_LOST, "lost");
    VersionVector left = VersionVector.of(us, 3);
    shown[0] = VersionVector.of(us, 9); // somebody was shown more meanwhile
    plan = then(plan, lost);
    assertAsked(plan, new ProgressRequest.Spread("shop", 0, 0, left, 1, 1_000));
    assertAnswer(then(plan, has(7, "us")), new RespValue.Int(1));
    Plan again = then(plan, lost);
    assertThat(((Plan.Answer) again).value()).as("no end").isInstanceOf(RespValue.Err.class);
  }

  @Test
  void withoutATime_itIsAskedForEver_andAFailureIsTheAnswer() {
    for (long millis : new long[] {0, Long.MAX_VALUE}) {
      Plan plan = begin(1, 1, millis);
      for (int i = 0; i < 100; i++) {
        nanos += 3_600_000_000_000L;
        plan = then(plan, has(7));
        assertAsked(plan, asks(0, 7, 1, 1_000));
      }
      Plan failed = then(plan, new Reply.Failure(ErrorCode.OVERLOADED, "nothing was done: full"));
      assertThat(((Plan.Answer) failed).value()).isInstanceOf(RespValue.Err.class);
    }
  }
}
