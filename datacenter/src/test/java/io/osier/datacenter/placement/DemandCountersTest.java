package io.osier.datacenter.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.placement.DemandCounters.Counts;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What is counted of clients' requests. */
final class DemandCountersTest {
  private static final Request READ =
      new Request.Read(
          "carts",
          Key.of("k"),
          Optional.of(CrdtType.G_COUNTER),
          new Query.Whole(),
          VersionVector.EMPTY,
          false,
          0);

  private static final Request WRITES =
      new Request.WriteAll(
          "carts",
          List.of(
              new Request.Update(Key.of("a"), CrdtType.G_COUNTER, new Operation.Increment(1)),
              new Request.Update(Key.of("b"), CrdtType.G_COUNTER, new Operation.Increment(1))),
          VersionVector.EMPTY,
          0);

  private int drawn;
  private final DemandCounters counters = new DemandCounters(() -> ++drawn);

  private void asked(Request request, Reply reply) {
    Consumer<Reply> measures = counters.counted("carts", request);
    if (measures != null) {
      measures.accept(reply);
    }
  }

  @Test
  void readsAndUpdates_areCounted_andOneOfSomeAnswersIsMeasured() {
    counters.follow(List.of("carts", "other"));
    Reply pong = new Reply.Pong();
    for (int i = 0; i < 32; i++) {
      asked(READ, pong);
    }
    asked(WRITES, pong);
    counters.updated("carts");
    counters.updated("unknown");
    assertThat(counters.of("carts")).isEqualTo(new Counts(32, 3, 2, 2 * MessageHeap.bytes(pong)));
    assertThat(counters.of("other")).isEqualTo(Counts.NONE);
  }

  @Test
  void firstAnswer_isMeasured_andThoseThatAreDrawn() {
    counters.follow(List.of("carts"));
    asked(READ, new Reply.Pong());
    for (int of : new int[] {1, 15, 17, -1}) {
      drawn = of - 1;
      asked(READ, new Reply.Pong());
    }
    assertThat(counters.of("carts").measured()).isEqualTo(1);
    drawn = 31;
    asked(READ, new Reply.Pong());
    assertThat(counters.of("carts").measured()).isEqualTo(2);
  }

  @Test
  void whatFails_isNoAnswerThatIsMeasured() {
    counters.follow(List.of("carts"));
    asked(READ, new Reply.Failure(ErrorCode.UNAVAILABLE, "nobody is there"));
    assertThat(counters.of("carts")).isEqualTo(new Counts(1, 0, 0, 0));
  }

  @Test
  void keyspaceThatIsNotCounted_costsNothing_andOneThatStays_keepsItsCounts() {
    assertThat(counters.counted("carts", READ)).isNull();
    assertThat(counters.isEmpty()).isTrue();
    counters.follow(List.of("carts"));
    asked(READ, new Reply.Pong());
    counters.follow(List.of("carts", "more"));
    assertThat(counters.of("carts").reads()).isEqualTo(1);
    counters.follow(List.of("more"));
    assertThat(counters.counted("carts", READ)).isNull();
    assertThat(counters.keyspaces()).containsExactly("more");
  }
}
