package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.testing.Refused;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases that the properties of all types do not draw: forms of numbers, ends of ranges, bytes. */
final class NumericStringTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final CrdtState EMPTY = CrdtState.bottom(CrdtType.STRING);

  private static CrdtState with(CrdtState state, ReplicaId origin, Operation operation) {
    long last = state.context().last(origin);
    return state.join(state.prepare(operation, origin, last + 1, last, 1L << 40, 0));
  }

  private static CrdtState of(String text) {
    return with(EMPTY, EU, new Operation.Assign(Value.of(text)));
  }

  private static String text(CrdtState state) {
    return ((Reading.Single) state.read(new Query.Whole())).value().orElseThrow().toString();
  }

  private static Operation plus(String amount) {
    return new Operation.IncrementDecimal(new BigDecimal(amount));
  }

  private static void refused(CrdtState state, Operation operation, ErrorCode code) {
    assertThatThrownBy(() -> state.prepare(operation, US, 9, 0, 1L << 41, 0))
        .as("%s on %s", operation, state)
        .is(Refused.with(code));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1",
        "01",
        "-0",
        " 1",
        "1 ",
        "0x10",
        "1.0",
        "",
        "x",
        "1e2",
        "9223372036854775808",
        "٣"
      })
  void whatIsNotWrittenAsALong_takesNoWholeNumber_andReadsAsItWasWritten(String text) {
    CrdtState state = of(text);
    refused(state, new Operation.Increment(1), ErrorCode.INVALID_ARGUMENT);
    assertThat(text(state)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "5.0e3, 200, 5200",
    "10.5, 0.1, 10.6",
    "3, -0.000000000000000001, 2.999999999999999999",
    "-1, -0.5, -1.5",
    "1.5, -1.5, 0",
    "007, 1, 8",
    "0.1, 0.2, 0.3"
  })
  void decimals_areAddedExactly(String text, String amount, String sum) {
    assertThat(text(with(of(text), US, plus(amount)))).isEqualTo(sum);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e400", "1e-400", "1e999999999", "NaN", "Infinity", "0x10", "٣", "1 "})
  void whatIsNoNumberOfFewDigits_takesNoDecimal(String text) {
    refused(of(text), plus("0.5"), ErrorCode.INVALID_ARGUMENT);
  }

  @Test
  void amountWithTooManyDigits_isRefused_beforeItIsWrittenOut() {
    for (String amount : new String[] {"1e19", "1e999999999", "1e-19", "1e-999999999"}) {
      assertThatThrownBy(() -> plus(amount))
          .hasMessageContaining("at most 18 digits behind the point");
    }
    // A million digits, made without parsing them: that alone took half a minute.
    BigDecimal million = new BigDecimal(BigInteger.ONE.shiftLeft(3_400_000));
    assertThatThrownBy(() -> new Operation.IncrementDecimal(million))
        .isInstanceOf(OsierException.class);
    assertThat(plus("1.5000000000000000000000")).isEqualTo(plus("1.5"));
    assertThat(plus("0e-1000000000")).isEqualTo(plus("0"));
  }

  @Test
  void rangeOfALong_isNotLeftByAnUpdate_butByReplicasTogether() {
    String most = Long.toString(Long.MAX_VALUE);
    refused(of(most), new Operation.Increment(1), ErrorCode.OVERFLOW);
    refused(of(most), plus("1"), ErrorCode.OVERFLOW);
    refused(of(Long.toString(Long.MIN_VALUE)), new Operation.Increment(-1), ErrorCode.OVERFLOW);
    CrdtState nearly = of(Long.toString(Long.MAX_VALUE - 1));
    CrdtState both =
        with(nearly, EU, new Operation.Increment(1))
            .join(with(nearly, US, new Operation.Increment(1)));
    assertThat(text(both)).isEqualTo("9223372036854775808");
    refused(both, new Operation.Increment(1), ErrorCode.INVALID_ARGUMENT);
  }

  /** Otherwise a string would fail like a counter, whose error says to go on with another key. */
  @Test
  void whatWasAddedBeforeAnAssignment_takesNoRoomOfTheRangeAfterIt() {
    CrdtState state = EMPTY;
    for (int i = 0; i < 5; i++) {
      state = with(state, EU, new Operation.Increment(Long.MAX_VALUE));
      state = with(state, EU, new Operation.Assign(Value.of(0)));
    }
    assertThat(text(with(state, EU, new Operation.Increment(7)))).isEqualTo("7");
  }

  /** The second increment cannot tell from the state before the update which sums were reset. */
  @Test
  void incrementAfterAnAssignment_ofTheSameUpdateOfAMap_counts() {
    FieldId field = new FieldId("f", CrdtType.STRING);
    List<Operation> each =
        List.of(
            new Operation.Increment(5),
            new Operation.Assign(Value.of("3")),
            new Operation.Increment(2));
    CrdtState map =
        with(
            CrdtState.bottom(CrdtType.OR_MAP),
            EU,
            new Operation.UpdateFields(
                each.stream().map(o -> new Operation.FieldUpdate(field, o)).toList()));
    assertThat(((Reading.Fields) map.read(new Query.Whole())).field("f"))
        .contains(new Reading.Single(Optional.of(Value.of("5"))));
  }

  @Test
  void concurrentIncrement_countsOnANumber_andHidesBehindAText_andIsThereAgain() {
    CrdtState ten = of("10");
    CrdtState more = with(ten, US, new Operation.Increment(5));
    CrdtState twenty = with(ten, EU, new Operation.Assign(Value.of("20")));
    assertThat(text(twenty.join(more))).isEqualTo("25");
    CrdtState soldOut = with(ten, EU, new Operation.Assign(Value.of("sold out"))).join(more);
    assertThat(text(soldOut)).isEqualTo("sold out");
    assertThat(text(with(soldOut, EU, new Operation.Assign(Value.of("3"))))).isEqualTo("3");
    CrdtState elsewhere = with(ten, EU, new Operation.Assign(Value.of("x")));
    CrdtState one = with(elsewhere, EU, new Operation.Assign(Value.of("1")));
    assertThat(text(one.join(more))).as("assigned without having seen it").isEqualTo("6");
  }

  @Test
  void endBeyondTheLimitOfValues_isRefused_beforeAnything() {
    KeyspacePolicy.Limits limits = KeyspacePolicy.Limits.DEFAULT;
    long most = limits.valueBytesMax();
    OperationLimits.check(new Operation.SetRange(most - 3, Value.of("x")), limits);
    OperationLimits.check(new Operation.SetBit(8 * most - 1, true), limits);
    for (Operation far :
        List.of(
            new Operation.SetRange(most, Value.of("x")),
            new Operation.SetRange(Long.MAX_VALUE, Value.of("x")),
            new Operation.SetBit(8 * most, true),
            new Operation.SetBit(Long.MAX_VALUE, true))) {
      assertThatThrownBy(() -> OperationLimits.check(far, limits))
          .as("%s", far)
          .is(Refused.with(ErrorCode.VALUE_TOO_LARGE));
    }
  }

  @Test
  void bytes_areAppendedOverwrittenAndSet_andReadAsTextWhereTheyAre() {
    CrdtState state = with(of("ab"), EU, new Operation.SetRange(4, Value.of("z")));
    assertThat(text(state)).isEqualTo("ab\0\0z");
    assertThat(state.read(new Query.Size())).isEqualTo(new Reading.Count(5));
    assertThat(with(EMPTY, EU, new Operation.SetRange(9, Value.of(""))).read(new Query.Size()))
        .isEqualTo(new Reading.Count(0));
    byte[] euro = "€".getBytes(StandardCharsets.UTF_8);
    CrdtState half = with(EMPTY, EU, new Operation.Append(Value.of(new byte[] {euro[0], euro[1]})));
    assertThat(half.read(new Query.Whole()))
        .isEqualTo(new Reading.Single(Optional.of(Value.of(new byte[] {euro[0], euro[1]}))));
    CrdtState whole = with(half, EU, new Operation.Append(Value.of(new byte[] {euro[2]})));
    assertThat(text(whole)).isEqualTo("€");
    CrdtState bit = with(of("A"), EU, new Operation.SetBit(6, true));
    assertThat(text(bit)).isEqualTo("C");
    assertThat(text(with(bit, EU, new Operation.SetBit(6, false)))).isEqualTo("A");
    CrdtState number = with(with(of("1"), EU, new Operation.Append(Value.of("2"))), EU, plus("1"));
    assertThat(text(number)).as("what was appended counts").isEqualTo("13");
    assertThatThrownBy(() -> new Operation.SetRange(-1, Value.of("x")))
        .hasMessageContaining("an offset is at least 0, not -1");
  }

  private static CrdtState within(int valueBytesMax, CrdtState state, Operation operation) {
    long last = state.context().last(EU);
    return state.join(
        Updates.prepare(
            state, operation, new UpdateContext(EU, last + 1, last, 1L << 41, 0, valueBytesMax)));
  }

  /** Otherwise small updates would make a value larger than any request could. */
  @Test
  void string_doesNotGrowBeyondWhatAValueMayBe() {
    CrdtState nine = of("123456789");
    assertThat(text(within(10, nine, new Operation.Append(Value.of("0"))))).hasSize(10);
    for (Operation longer :
        List.of(
            new Operation.Append(Value.of("01")),
            new Operation.SetRange(10, Value.of("1")),
            new Operation.SetBit(80, true))) {
      assertThatThrownBy(() -> within(10, nine, longer))
          .as("%s", longer)
          .hasMessageContaining("11 bytes is over the limit of 10");
    }
    // The limit was larger before: the existing value may be changed.
    assertThat(text(within(5, nine, new Operation.SetRange(8, Value.of("0"))))).endsWith("80");
    assertThat(text(within(5, nine, new Operation.Append(Value.of(""))))).hasSize(9);
  }

  /**
   * Each operation rewrites the whole string, so a small update could take the heap, and minutes.
   */
  @Test
  void fieldsThatAreMadeAnewAgainAndAgain_areRefused() {
    FieldId field = new FieldId("f", CrdtType.STRING);
    Operation first = new Operation.Assign(Value.of("x".repeat(1 << 20)));
    CrdtState map =
        with(CrdtState.bottom(CrdtType.OR_MAP), EU, new Operation.UpdateFields(field, first));
    Operation.FieldUpdate more = new Operation.FieldUpdate(field, new Operation.SetBit(1, true));
    Operation few = new Operation.UpdateFields(Collections.nCopies(3, more));
    Operation many = new Operation.UpdateFields(Collections.nCopies(100, more));
    assertThat(few.rewrites()).isTrue();
    assertThat(with(map, EU, few).isBottom()).isFalse();
    refused(map, many, ErrorCode.VALUE_TOO_LARGE);
  }
}
