package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sessions that are told what one of the four session guarantees forbids. */
public final class SessionCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId COUNTER = new ObjectId(Key.of("c"), CrdtType.PN_COUNTER);
  private static final ObjectId SET = new ObjectId(Key.of("s"), CrdtType.AW_SET);
  private static final ObjectId REGISTER = new ObjectId(Key.of("r"), CrdtType.LWW_REGISTER);
  private static final Value ONE = Value.of("one");
  private static final Value TWO = Value.of("two");

  private final SessionCheck check =
      new SessionCheck(Unit.pair().getFirst(), (object, here, wanted) -> here.covers(wanted));

  private final SessionView mine = new SessionView();
  private final SessionView other = new SessionView();

  private static CausalContext covering(int through) {
    return through == 0 ? CausalContext.EMPTY : CausalContext.range(EU, 0, through);
  }

  /** A session writes at EU, and is told so. */
  private void writes(SessionView view, ObjectId object, int number, Effect effect) {
    check.asked(view, object, effect);
    check.wrote(view, object, CausalContext.of(new Dot(EU, number)), effect);
  }

  private void writes(SessionView view, ObjectId object, int number, Value token) {
    writes(view, object, number, Effect.token(token));
  }

  /** A session reads at US what covers EU's updates up to a number, and knows it from now on. */
  private void reads(SessionView view, ObjectId object, int through, Reading reading) {
    check.read(US, view, object, covering(through), reading);
    check.saw(view, object, covering(through), reading);
  }

  private static Reading count(long value) {
    return new Reading.Count(value);
  }

  private static Reading values(Value... values) {
    return new Reading.Many(List.of(values));
  }

  private static Reading value(Value value) {
    return new Reading.Single(Optional.of(value));
  }

  private static Effect amount(long amount) {
    return new Effect(List.of(), amount);
  }

  @Test
  void readsThatShowAllThatIsKnown_areFine() {
    writes(mine, COUNTER, 1, amount(2));
    reads(mine, COUNTER, 1, count(2));
    writes(other, COUNTER, 2, amount(5));
    reads(mine, COUNTER, 2, count(7));
    writes(mine, SET, 3, ONE);
    reads(other, SET, 3, values(ONE));
    writes(other, SET, 4, TWO);
    reads(mine, SET, 4, values(TWO, ONE));
    writes(mine, REGISTER, 5, ONE);
    reads(other, REGISTER, 5, value(ONE));
    writes(other, REGISTER, 6, TWO);
    reads(mine, REGISTER, 6, value(TWO));
    reads(mine, REGISTER, 6, new Reading.Flag(true));
    assertThat(check.reads()).isEqualTo(7);
  }

  @Test
  void ownWrite_thatIsNotCovered_isNoticed() {
    writes(mine, COUNTER, 1, amount(2));
    assertThatThrownBy(() -> reads(mine, COUNTER, 0, count(2)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("a session read " + COUNTER + " at us/1: it shows only {}")
        .hasMessageContaining("the session knew {eu/1:(0,1]}");
  }

  @Test
  void formerRead_thatIsCoveredNoMore_isNoticed() {
    reads(mine, COUNTER, 3, count(2));
    assertThatThrownBy(() -> reads(mine, COUNTER, 2, count(2)))
        .hasMessageContaining("a session read " + COUNTER + " at us/1: it shows only");
    assertThatThrownBy(() -> check.read(US, mine, COUNTER, covering(2)))
        .hasMessageContaining("shows only");
  }

  @Test
  void counterThatShowsLess_thanWasReadAndAdded_isNoticed() {
    reads(mine, COUNTER, 1, count(4));
    writes(mine, COUNTER, 2, amount(3));
    assertThatThrownBy(() -> reads(mine, COUNTER, 2, count(6)))
        .hasMessageContaining("a session read " + COUNTER + " at us/1: it shows 6; the session")
        .hasMessageEndingWith("knew 7");
    reads(mine, COUNTER, 2, count(7));
  }

  @Test
  void setWithoutWhatTheSessionKnows_isNoticed() {
    writes(mine, SET, 1, ONE);
    assertThatThrownBy(() -> reads(mine, SET, 1, values()))
        .hasMessageContaining("a session read " + SET + " at us/1: it does not show [" + ONE + "]");
  }

  @Test
  void setWithoutWhatAWriterKnew_isNoticed() {
    writes(other, SET, 1, ONE);
    writes(other, SET, 2, TWO);
    assertThatThrownBy(() -> reads(mine, SET, 2, values(TWO)))
        .hasMessageContaining("does not show [" + ONE + "], which a writer of what it shows knew");
    reads(mine, SET, 2, values(ONE));
  }

  /** The session that wrote it has lost what it knew. */
  @Test
  void setWithoutWhatAWriterKnew_andHasLost_isFine() {
    writes(other, SET, 1, ONE);
    check.asked(other, SET, Effect.token(TWO));
    check.forgot(SET, Effect.token(TWO));
    reads(mine, SET, 2, values(TWO));
  }

  @Test
  void registerWithoutAValue_isNoticed() {
    writes(mine, REGISTER, 1, ONE);
    assertThatThrownBy(() -> reads(mine, REGISTER, 1, new Reading.Single(Optional.empty())))
        .hasMessageContaining("a session read " + REGISTER + " at us/1: it shows no value")
        .hasMessageContaining(ONE.toString());
  }

  @Test
  void valueThatTheSessionKnowsToBeOverwritten_isNoticed() {
    writes(mine, REGISTER, 1, ONE);
    writes(mine, REGISTER, 2, TWO);
    assertThatThrownBy(() -> reads(mine, REGISTER, 2, value(ONE)))
        .hasMessageContaining("shows overwritten values [" + ONE + "]");
  }

  @Test
  void valueBesideOneThatItsWriterKnew_isNoticed() {
    ObjectId register = new ObjectId(Key.of("v"), CrdtType.MV_REGISTER);
    writes(other, register, 1, ONE);
    writes(other, register, 2, TWO);
    assertThatThrownBy(() -> reads(mine, register, 2, values(ONE, TWO)))
        .hasMessageContaining("shows overwritten values [" + ONE + "]");
    reads(mine, register, 2, values(TWO));
  }

  @Test
  void whatIsKnown_andDoesNotExist_isNoticed() {
    check.read(US, mine, SET, covering(0), new Reading.Flag(false));
    writes(mine, SET, 1, ONE);
    writes(mine, COUNTER, 2, amount(1));
    for (ObjectId object : List.of(SET, COUNTER)) {
      assertThatThrownBy(() -> check.read(US, mine, object, covering(2), new Reading.Flag(false)))
          .hasMessageContaining("a session read " + object + " at us/1: it does not exist");
    }
  }

  @Test
  void tokenOfNobody_isNoticed() {
    assertThatThrownBy(() -> reads(mine, SET, 1, values(ONE)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining(SET + " shows " + ONE + ", which nobody wrote");
  }

  @Test
  void wildObject_isCheckedByWhatItCoversAlone() {
    ObjectId wild = new ObjectId(Key.of("c-wild"), CrdtType.PN_COUNTER);
    writes(mine, wild, 1, amount(5));
    reads(mine, wild, 1, count(-3));
    assertThatThrownBy(() -> reads(mine, wild, 0, count(5))).hasMessageContaining("shows only");
  }

  @Test
  void writeAtWhoLacksWhatTheSessionKnows_isNoticed() {
    writes(mine, SET, 1, ONE);
    check.made(US, object -> covering(object.equals(SET) ? 1 : 0), mine, COUNTER);
    assertThatThrownBy(() -> check.made(US, object -> covering(0), mine, COUNTER))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("a session wrote " + COUNTER + " at us/1")
        .hasMessageContaining("the session knew of " + SET);
  }

  @Test
  void readThatOvertakesAWrite_isNoticed() {
    check.overtook(EU, SET, covering(4), new Dot(EU, 4));
    assertThatThrownBy(() -> check.overtook(EU, SET, covering(3), new Dot(EU, 4)))
        .hasMessageContaining("a session read " + SET + " at eu/1")
        .hasMessageContaining("eu/1:4, which it had sent before");
  }
}
