package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class BatchSlicesTest {
  private static final int MORE = 10;
  private static final Reply DONE = new Reply.Done(new Dot(new ReplicaId("eu", 1), 1));

  private final List<Reply> answers = new ArrayList<>();

  private static Request.WriteAll batch(int size) {
    List<Request.Update> updates = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      updates.add(
          new Request.Update(Key.of("k" + i), CrdtType.PN_COUNTER, new Operation.Increment(i)));
    }
    return new Request.WriteAll("shop", updates, VersionVector.EMPTY, 5);
  }

  private static Reply failure(ErrorCode code) {
    return new Reply.Failure(code, "no");
  }

  private BatchSlices two() {
    return new BatchSlices(batch(BatchSlices.UPDATES_MAX + MORE), 1 << 20, answers::add);
  }

  private static Reply.All done(int n) {
    return new Reply.All(Collections.nCopies(n, DONE));
  }

  @Test
  void slices_areAllOfIt_inOrder() {
    BatchSlices slices = two();
    assertThat(slices.size()).isEqualTo(2);
    List<Request.Update> all = new ArrayList<>(slices.slice(0).updates());
    all.addAll(slices.slice(1).updates());
    assertThat(all).isEqualTo(batch(BatchSlices.UPDATES_MAX + MORE).updates());
  }

  /** Each may make a large string anew, and what a slice makes is there at once. */
  @Test
  void updatesThatMakeValuesAnew_areFewInASlice() {
    FieldId field = new FieldId("f", CrdtType.STRING);
    Operation append = new Operation.Append(Value.of("x"));
    Operation nested = new Operation.UpdateFields(field, append);
    for (Operation each : List.of(append, nested)) {
      List<Request.Update> updates =
          Collections.nCopies(100, new Request.Update(Key.of("k"), CrdtType.STRING, each));
      Request.WriteAll batch = new Request.WriteAll("shop", updates, VersionVector.EMPTY, 5);
      BatchSlices slices = new BatchSlices(batch, 1 << 20, answers::add);
      assertThat(slices.size()).isEqualTo(4);
      assertThat(slices.slice(0).updates()).hasSize(32);
      assertThat(slices.slice(3).updates()).hasSize(4);
      assertThat(new BatchSlices(batch, 16 << 20, answers::add).size()).isEqualTo(50);
      assertThat(new BatchSlices(batch, 1 << 16, answers::add).size()).isEqualTo(1);
    }
  }

  @Test
  void answersThatComeInAnyOrder_areOneAnswer_inOrder() {
    BatchSlices slices = two();
    slices.answerOf(1).accept(failure(ErrorCode.OVERLOADED));
    assertThat(answers).isEmpty();
    slices.answerOf(0).accept(done(BatchSlices.UPDATES_MAX));
    Reply.All all = (Reply.All) answers.getFirst();
    assertThat(all.parts().subList(0, BatchSlices.UPDATES_MAX)).containsOnly(DONE);
    assertThat(all.parts().subList(BatchSlices.UPDATES_MAX, all.parts().size()))
        .hasSize(MORE)
        .containsOnly(failure(ErrorCode.OVERLOADED));
  }

  /** Then a client may ask elsewhere; not where something was done, or may have been. */
  @Test
  void whatIsDoneNowhere_failsAsAWhole() {
    BatchSlices none = two();
    none.answerOf(0).accept(failure(ErrorCode.UNAVAILABLE));
    none.answerOf(1)
        .accept(new Reply.All(Collections.nCopies(MORE, failure(ErrorCode.UNAVAILABLE))));
    assertThat(answers.removeFirst()).isEqualTo(failure(ErrorCode.UNAVAILABLE));
    BatchSlices some = two();
    some.answerOf(0).accept(failure(ErrorCode.UNAVAILABLE));
    some.answerOf(1).accept(done(MORE));
    assertThat(answers.removeFirst()).isInstanceOf(Reply.All.class);
    BatchSlices unknown = two();
    unknown.answerOf(0).accept(failure(ErrorCode.UNAVAILABLE));
    unknown.answerOf(1).accept(failure(ErrorCode.TIMEOUT));
    assertThat(answers.removeFirst()).isInstanceOf(Reply.All.class);
  }

  @Test
  void refusedParts_standWhereTheyStood() {
    TreeMap<Integer, Reply.Failure> refused = new TreeMap<>();
    refused.put(0, (Reply.Failure) failure(ErrorCode.FORBIDDEN));
    refused.put(2, (Reply.Failure) failure(ErrorCode.KEY_TOO_LARGE));
    RefusedParts parts = new RefusedParts(refused);
    Request.WriteAll left = (Request.WriteAll) parts.without(batch(5));
    assertThat(left.updates().stream().map(u -> u.key().toString()))
        .containsExactly("k1", "k3", "k4");
    parts.with(answers::add).accept(done(3));
    assertThat(((Reply.All) answers.removeFirst()).parts())
        .containsExactly(refused.get(0), DONE, refused.get(2), DONE, DONE);
    parts.with(answers::add).accept(done(1));
    assertThat(((Reply.All) answers.removeFirst()).parts())
        .as("it ends where the next one was not read")
        .containsExactly(refused.get(0), DONE, refused.get(2));
    parts.with(answers::add).accept(failure(ErrorCode.UNAVAILABLE));
    assertThat(answers.removeFirst()).isEqualTo(failure(ErrorCode.UNAVAILABLE));
  }
}
