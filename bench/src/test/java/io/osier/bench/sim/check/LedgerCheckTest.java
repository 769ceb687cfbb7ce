package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Last readings that show more or less than what clients were told. */
final class LedgerCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId COUNTER = new ObjectId(Key.of("c"), CrdtType.PN_COUNTER);
  private static final ObjectId SET = new ObjectId(Key.of("s"), CrdtType.AW_SET);
  private static final ObjectId REGISTER = new ObjectId(Key.of("r"), CrdtType.LWW_REGISTER);
  private static final ObjectId MAP = new ObjectId(Key.of("m"), CrdtType.OR_MAP);
  private static final Value ONE = Value.of("one");
  private static final Value TWO = Value.of("two");
  private static final Value OTHER = Value.of("other");

  private final LedgerCheck check = new LedgerCheck(Unit.pair().getFirst());

  private void added(ReplicaId at, int number, long amount) {
    check.acknowledged(COUNTER, new Dot(at, number), new Effect(List.of(), amount));
  }

  private void wrote(ObjectId object, int number, Value token) {
    check.acknowledged(object, new Dot(EU, number), Effect.token(token));
  }

  private void ended(ObjectId object, Reading reading) {
    check.ended(US, object, reading, Map.of());
  }

  private static Reading count(long value) {
    return new Reading.Count(value);
  }

  private static Reading values(Value... values) {
    return new Reading.Many(List.of(values));
  }

  @Test
  void sumOfWhatWasAcknowledged_isFine_andNothingElse() {
    added(EU, 1, 2);
    added(US, 1, 3);
    ended(COUNTER, count(5));
    for (long wrong : new long[] {0, 3, 4, 6, 7}) {
      assertThatThrownBy(() -> ended(COUNTER, count(wrong)))
          .isInstanceOf(Violation.class)
          .hasMessageContaining("us/1 shows " + wrong + " of " + COUNTER)
          .hasMessageContaining("acknowledged were 5");
    }
    assertThat(check.updates()).isEqualTo(2);
  }

  @Test
  void whatWasNeverAnswered_mayBeThere_once() {
    added(EU, 1, 2);
    check.unanswered(COUNTER, new Effect(List.of(), 4));
    Stream.of(2, 6).forEach(fine -> ended(COUNTER, count(fine)));
    Stream.of(1, 7, 10)
        .forEach(
            wrong ->
                assertThatThrownBy(() -> ended(COUNTER, count(wrong)))
                    .hasMessageContaining("acknowledged were 2, and 4 may have been"));
  }

  @Test
  void whatWasLostWithItsMemory_isNotWanted() {
    added(EU, 1, 2);
    added(EU, 2, 5);
    added(US, 9, 1);
    Map<ReplicaId, Long> survived = Map.of(EU, 1L);
    check.ended(US, COUNTER, count(3), survived);
    assertThatThrownBy(() -> check.ended(US, COUNTER, count(8), survived))
        .hasMessageContaining("acknowledged were 3");
    assertThatThrownBy(() -> ended(COUNTER, count(3))).hasMessageContaining("acknowledged were 8");
  }

  @Test
  void setWithoutAToken_orWithOneOfNobody_isNoticed() {
    wrote(SET, 1, ONE);
    wrote(SET, 2, TWO);
    ended(SET, values(ONE, TWO));
    assertThatThrownBy(() -> ended(SET, values(ONE)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("us/1 shows of " + SET)
        .hasMessageContaining("of those acknowledged [" + TWO + "] is missing");
    assertThatThrownBy(() -> ended(SET, values(ONE, TWO, OTHER)))
        .hasMessageContaining(OTHER.toString());
    check.unanswered(SET, Effect.token(OTHER));
    ended(SET, values(ONE, TWO, OTHER));
    ended(SET, values(ONE, TWO));
  }

  @Test
  void registerWithoutAValue_orWithOneOfNobody_isNoticed() {
    ended(REGISTER, new Reading.Single(Optional.empty()));
    wrote(REGISTER, 1, ONE);
    wrote(REGISTER, 2, TWO);
    ended(REGISTER, new Reading.Single(Optional.of(ONE)));
    assertThatThrownBy(() -> ended(REGISTER, new Reading.Single(Optional.empty())))
        .hasMessageContaining("us/1 shows of " + REGISTER);
    assertThatThrownBy(() -> ended(REGISTER, new Reading.Single(Optional.of(OTHER))))
        .hasMessageContaining(OTHER.toString());
  }

  @Test
  void mapsFields_areAccountedForEach() {
    check.acknowledged(MAP, new Dot(EU, 1), new Effect(List.of(), 2));
    wrote(MAP, 2, ONE);
    ended(
        MAP,
        new Reading.Fields(
            new TreeMap<>(Map.of(Effect.AMOUNT, count(2), Effect.TOKENS, values(ONE)))));
    assertThatThrownBy(
            () -> ended(MAP, new Reading.Fields(new TreeMap<>(Map.of(Effect.TOKENS, values(ONE))))))
        .hasMessageContaining("us/1 shows 0 of " + MAP);
    assertThatThrownBy(
            () -> ended(MAP, new Reading.Fields(new TreeMap<>(Map.of(Effect.AMOUNT, count(2))))))
        .hasMessageContaining("is missing");
  }
}
