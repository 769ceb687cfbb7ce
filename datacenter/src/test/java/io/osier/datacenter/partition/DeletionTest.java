package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Failed;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole keys are deleted, of whatever types their objects are. */
final class DeletionTest extends ExpiryFixture {
  private static List<Operation> operations(CrdtType type) {
    Value a = Value.of("a");
    Value b = Value.of("b");
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> List.of(new Operation.Increment(3));
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          List.of(new Operation.Assign(a));
      case STRING ->
          List.of(
              new Operation.Increment(3),
              new Operation.Assign(Value.of(7)),
              new Operation.Increment(1));
      case EW_FLAG, DW_FLAG -> List.of(new Operation.SetFlag(true), new Operation.SetFlag(false));
      case G_SET -> List.of(new Operation.Add(a));
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          List.of(new Operation.Add(List.of(a, b)), new Operation.Remove(a));
      case OR_MAP -> {
        List<Operation> fields = new ArrayList<>();
        for (CrdtType nested : CrdtType.values()) {
          if (nested.isNestable() && nested != CrdtType.OR_MAP) {
            operations(nested)
                .forEach(o -> fields.add(new Operation.UpdateFields(new FieldId("f", nested), o)));
          }
        }
        yield fields;
      }
      case BOUNDED_COUNTER -> List.of(new Operation.Bound(0, 5, List.of()));
    };
  }

  /** What was removed from sets, flags that are off and maps of them included. */
  @ParameterizedTest
  @EnumSource
  void deleted_leavesNothingOfAnyType(KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    for (CrdtType type : CrdtType.values()) {
      if (type == CrdtType.BOUNDED_COUNTER) {
        continue;
      }
      for (int i = 1; i <= operations(type).size(); i++) {
        String key = type.label() + i;
        operations(type).subList(0, i).forEach(o -> cluster.dc("eu").write(key, type, o));
        cluster.run(500);
        Reply reply = cluster.dc("us").write(key, Operation.ANY_TYPE, new Operation.Delete());
        assertThat(reply).as(key).isNotInstanceOf(Reply.Failure.class);
        assertThat(exists(cluster, "us", key)).as(key).isFalse();
      }
    }
    assertNothingIsLeft(cluster);
    Reply again = cluster.dc("us").write("set1", Operation.ANY_TYPE, new Operation.Delete());
    assertThat(again).as("nothing is there").isInstanceOf(Reply.Answer.class);
    assertThat(cluster.dc("us").store.size()).isZero();
  }

  /** Both of a conflict of types, at once. */
  @ParameterizedTest
  @EnumSource
  void delete_takesWhatItSaw_ofAllTypes_andLeavesWhatIsConcurrent(
      KeyspacePolicy.Consistency consistency) {
    Cluster cluster = three(consistency);
    add(cluster.dc("eu"), "s", "a");
    cluster.dc("us").write("s", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("r")));
    cluster.run(1_000);
    add(cluster.dc("eu"), "s", "b");
    cluster.dc("ap").write("s", Operation.ANY_TYPE, new Operation.Delete());
    cluster.run(2_000);
    for (String name : cluster.names) {
      assertThat(elements(cluster, name, "s")).as(name).containsExactly(Value.of("b"));
      assertThat(cluster.dc(name).read("s", CrdtType.LWW_REGISTER))
          .isEqualTo(new Reading.Single(Optional.empty()));
    }
    cluster.run(30_000);
    assertThat(cluster.dc("eu").store.get(new ObjectId(Key.of("s"), CrdtType.LWW_REGISTER)))
        .isNull();
  }

  @Test
  void boundedCounter_isNeitherDeletedNorExpires() {
    Cluster cluster = three(KeyspacePolicy.Consistency.SESSION);
    cluster.dc("eu").write("b", CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 5, List.of()));
    for (Operation operation : List.of(new Operation.Delete(), new Operation.Expire(1_000, true))) {
      assertThat(cluster.dc("eu").write("b", Operation.ANY_TYPE, operation))
          .is(Failed.with(ErrorCode.INVALID_ARGUMENT, "'b'", "bounded counter"));
    }
    assertThat(cluster.dc("eu").write("b", Operation.ANY_TYPE, new Operation.Persist()))
        .isInstanceOf(Reply.Answer.class);
    assertThat(exists(cluster, "eu", "b")).isTrue();
  }
}
