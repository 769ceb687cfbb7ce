package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.state.CrdtState;
import io.osier.testing.Refused;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The operations and queries of each type, and the refusal of others. */
final class OperationsTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final List<Operation> OPERATIONS =
      List.of(
          new Operation.Increment(1),
          new Operation.IncrementDecimal(new BigDecimal("0.5")),
          new Operation.Append(Value.of("a")),
          new Operation.SetRange(2, Value.of("a")),
          new Operation.SetBit(7, true),
          new Operation.Assign(Value.of("a")),
          new Operation.SetFlag(true),
          new Operation.Add(Value.of("a")),
          new Operation.Remove(Value.of("a")),
          new Operation.UpdateFields(List.of()),
          new Operation.RemoveFields(List.of()),
          new Operation.Inherit("us"),
          new Operation.Clear(),
          new Operation.ExpireParts(
              List.of(new Part.Element(Value.of("a"))), new Operation.Expire(5, false)),
          new Operation.PersistParts(List.of(new Part.Field("f"))),
          new Operation.WithPartDeadlines(
              new Operation.Add(Value.of("a")), new Operation.Expire(5, false)));
  private static final Operation.Expire LATER = new Operation.Expire(5, false);

  private static CrdtState apply(CrdtState state, ReplicaId origin, Operation operation) {
    long last = state.context().last(origin);
    return state.join(state.prepare(operation, origin, last + 1, last, 1L << 57, 0));
  }

  private static boolean takes(CrdtType type, Operation operation) {
    return switch (operation) {
      case Operation.Increment o ->
          type == CrdtType.PN_COUNTER
              || type == CrdtType.G_COUNTER
              || type == CrdtType.STRING
              || type == CrdtType.BOUNDED_COUNTER;
      case Operation.Bound o -> type == CrdtType.BOUNDED_COUNTER;
      case Operation.IncrementWithin o -> type == CrdtType.BOUNDED_COUNTER;
      case Operation.Transfer o -> type == CrdtType.BOUNDED_COUNTER;
      case Operation.Inherit o -> type == CrdtType.BOUNDED_COUNTER;
      case Operation.IncrementDecimal o -> type == CrdtType.STRING;
      case Operation.Append o -> type == CrdtType.STRING;
      case Operation.SetRange o -> type == CrdtType.STRING;
      case Operation.SetBit o -> type == CrdtType.STRING;
      case Operation.Assign o ->
          switch (type) {
            case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER, STRING -> true;
            default -> false;
          };
      case Operation.SetFlag o -> type == CrdtType.EW_FLAG || type == CrdtType.DW_FLAG;
      case Operation.Add o ->
          type == CrdtType.G_SET || takes(type, new Operation.Remove(List.of()));
      case Operation.Remove o ->
          type == CrdtType.AW_SET
              || type == CrdtType.RW_SET
              || type == CrdtType.LWW_SET_ADD_BIAS
              || type == CrdtType.LWW_SET_REMOVE_BIAS;
      case Operation.UpdateFields o -> type == CrdtType.OR_MAP;
      case Operation.RemoveFields o -> type == CrdtType.OR_MAP;
      case Operation.Clear o -> type != CrdtType.BOUNDED_COUNTER;
      case Operation.Delete o -> false; // it is for all of a key's objects
      case Operation.Expire o -> type != CrdtType.BOUNDED_COUNTER;
      case Operation.Persist o -> type != CrdtType.BOUNDED_COUNTER;
      case Operation.WithDeadline o -> type != CrdtType.BOUNDED_COUNTER && takes(type, o.update());
      case Operation.ExpireParts o -> hasParts(type, o.of());
      case Operation.PersistParts o -> hasParts(type, o.of());
      case Operation.WithPartDeadlines o -> takes(type, o.update());
    };
  }

  private static boolean hasParts(CrdtType type, List<Part> parts) {
    return parts.getFirst() instanceof Part.Field
        ? type == CrdtType.OR_MAP
        : takes(type, new Operation.Add(Value.of("a")));
  }

  @ParameterizedTest
  @EnumSource(CrdtType.class)
  void operationOfAnotherType_isWrongType(CrdtType type) {
    for (Operation operation : OPERATIONS) {
      CrdtState bottom = CrdtState.bottom(type);
      if (type == CrdtType.BOUNDED_COUNTER) {
        bottom = apply(bottom, US, new Operation.Bound(-1, 1, List.of("eu")));
      }
      CrdtState start = bottom;
      if (type == CrdtType.BOUNDED_COUNTER && operation instanceof Operation.Clear) {
        continue; // see BoundedCounterTest
      }
      Operation both = new Operation.WithDeadline(operation, LATER);
      if (type == CrdtType.BOUNDED_COUNTER) {
        assertThatThrownBy(() -> start.prepare(both, EU, 1, 0, 1, 0))
            .hasMessageContaining("a bounded counter does not expire");
      } else if (takes(type, both)) {
        CrdtState after = apply(start, EU, both);
        assertThat(after.deadline()).isEqualTo(after.isBottom() ? CrdtState.NEVER : 5);
        assertThat(after.read(new Query.Whole()))
            .isEqualTo(apply(start, EU, operation).read(new Query.Whole()));
      }
      if (takes(type, operation)) {
        assertThat(bottom.prepare(operation, EU, 1, 0, 1, 0).isFull()).isFalse();
      } else {
        assertThatThrownBy(() -> start.prepare(operation, EU, 1, 0, 1, 0))
            .as("%s on %s", operation, type)
            .is(Refused.with(ErrorCode.WRONG_TYPE));
      }
    }
    assertThat(CrdtState.bottom(type).isBottom()).isTrue();
    assertThat(CrdtType.of(type.number())).isEqualTo(type);
    assertThat(CrdtType.ofLabel(type.label())).isEqualTo(type);
  }

  @Test
  void growOnlyCounter_refusesADecrement() {
    assertThatThrownBy(
            () -> apply(CrdtState.bottom(CrdtType.G_COUNTER), EU, new Operation.Increment(-1)))
        .hasMessageContaining("at least 0, not -1")
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
  }

  @Test
  void counter_refusesToOverflow_butHoldsWhatReplicasAddTogether() {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState full = apply(bottom, EU, new Operation.Increment(Long.MAX_VALUE));
    assertThatThrownBy(() -> apply(full, US, new Operation.Increment(1)))
        .is(Refused.with(ErrorCode.OVERFLOW));
    CrdtState both = full.join(apply(bottom, US, new Operation.Increment(5)));
    assertThat(both.read(new Query.Whole())).isEqualTo(new Reading.Count(Long.MAX_VALUE));
    CrdtState low = apply(bottom, EU, new Operation.Increment(-Long.MAX_VALUE));
    assertThatThrownBy(() -> apply(low, EU, new Operation.Increment(Long.MIN_VALUE)))
        .is(Refused.with(ErrorCode.OVERFLOW));
  }

  /** The error once said "adding 1 to 0 leaves the range of a long". */
  @Test
  void counterWhoseSumsAreFull_saysSo() {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState up = apply(bottom, EU, new Operation.Increment(Long.MAX_VALUE));
    CrdtState zero = apply(up, EU, new Operation.Increment(-Long.MAX_VALUE));
    assertThatThrownBy(() -> apply(zero, EU, new Operation.Increment(1)))
        .hasMessageContaining("the sum of all that was ever added here is 9223372036854775807");
    assertThatThrownBy(() -> apply(zero, EU, new Operation.Increment(-1)))
        .hasMessageContaining("the sum of all that was ever subtracted here is 922337203685477580");
    assertThatThrownBy(() -> apply(up, EU, new Operation.Increment(Long.MIN_VALUE)))
        .hasMessageContaining("the sum of all that was ever subtracted here is 0");
    assertThatThrownBy(() -> apply(up, US, new Operation.Increment(1)))
        .hasMessage("OVERFLOW: adding 1 to 9223372036854775807 leaves the range of a long");
    CrdtState elsewhere = apply(zero, US, new Operation.Increment(1));
    assertThat(elsewhere.read(new Query.Whole())).isEqualTo(new Reading.Count(1));
  }

  @Test
  void removedCounterField_isAbsentButRemembersWhatWasSubtracted() {
    FieldId likes = new FieldId("likes", CrdtType.PN_COUNTER);
    Operation increment = new Operation.UpdateFields(likes, new Operation.Increment(3));
    CrdtState one = apply(CrdtState.bottom(CrdtType.OR_MAP), EU, increment);
    CrdtState removed = apply(one, US, new Operation.RemoveFields(List.of("likes")));
    assertThat(removed.isBottom()).isTrue();
    assertThat(removed.store().isEmpty()).as("the base stays").isFalse();
    CrdtState more = apply(one, EU, increment);
    Reading reading = removed.join(more).read(new Query.Select(List.of("likes")));
    assertThat(((Reading.Fields) reading).fields().get(likes)).isEqualTo(new Reading.Count(3));
    CrdtState zero =
        apply(removed, EU, new Operation.UpdateFields(likes, new Operation.Increment(0)));
    assertThat(zero.read(new Query.Size())).isEqualTo(new Reading.Count(1));
  }

  @Test
  void oneNameWithTwoTypes_isTwoFields_andIsRemovedAsOne() {
    CrdtState bottom = CrdtState.bottom(CrdtType.OR_MAP);
    CrdtState a =
        apply(
            bottom,
            EU,
            new Operation.UpdateFields(
                new FieldId("f", CrdtType.AW_SET), new Operation.Add(Value.of("x"))));
    CrdtState b =
        apply(
            bottom,
            US,
            new Operation.UpdateFields(
                new FieldId("f", CrdtType.PN_COUNTER), new Operation.Increment(1)));
    CrdtState both = a.join(b);
    assertThat(both.read(new Query.Size())).isEqualTo(new Reading.Count(2));
    assertThat(apply(both, EU, new Operation.RemoveFields(List.of("f"))).isBottom()).isTrue();
  }

  /** With real timestamps, large sums and texts that are not ASCII. */
  @Test
  void sizeEstimate_isWithinAFactorOfTwo() {
    for (CrdtType type : CrdtType.values()) {
      CrdtState state = CrdtState.bottom(type);
      for (ReplicaId origin : List.of(EU, US)) {
        for (int i = 0; i < 40; i++) {
          state = apply(state, origin, large(type, i));
          if (i == 20 && origin.equals(US) && type != CrdtType.BOUNDED_COUNTER) {
            state = apply(state, origin, new Operation.Clear());
          }
        }
      }
      assertThat(state.sizeBytes())
          .as("%s", type)
          .isBetween(Encoded.encode(state).length / 2L, Encoded.encode(state).length * 2L);
    }
  }

  private static Operation large(CrdtType type, int i) {
    Value value = Value.of("日本語のテキスト" + i);
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(i % 2 == 0 ? 1L << 40 : -(1L << 39));
      case G_COUNTER -> new Operation.Increment(1L << 40);
      case BOUNDED_COUNTER ->
          i == 0
              ? new Operation.Bound(-(1L << 50), 1L << 50, List.of("eu", "us"))
              : new Operation.Increment(1L << 40);
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER, STRING ->
          new Operation.Assign(value);
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(true);
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS -> new Operation.Add(value);
      case OR_MAP ->
          new Operation.UpdateFields(
              new FieldId("フィールド" + i, CrdtType.LWW_REGISTER), new Operation.Assign(value));
    };
  }
}
