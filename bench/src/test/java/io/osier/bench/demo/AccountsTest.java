package io.osier.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.cluster.Members;
import io.osier.bench.cluster.Tally;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the demo finds missing or surplus, and what it must not. */
final class AccountsTest {
  private static final Audit RIGHT = new Audit(0, 0);
  private static final long LATER = 2 * LastWrites.TOLERANCE_NANOS;

  // ---------------------------------------------------------------- counters

  private static Audit tally(long shown) {
    Tally tally = new Tally();
    tally.acknowledged("a", 3).run();
    tally.unknown("a", 2).run();
    return tally.audit(counter -> shown, List.of("a"));
  }

  @Test
  void counter_mustHaveWhatWasAcknowledged_andMayHaveWhatIsUnknown() {
    assertThat(tally(2)).isEqualTo(new Audit(1, 0));
    assertThat(tally(3)).isEqualTo(RIGHT);
    assertThat(tally(5)).isEqualTo(RIGHT);
    assertThat(tally(6)).isEqualTo(new Audit(0, 1));
  }

  @Test
  void counterThatNobodyIncremented_isSurplus() {
    assertThat(new Tally().audit(counter -> 0, List.of("b"))).isEqualTo(new Audit(0, 1));
  }

  // ---------------------------------------------------------------- registers

  private static Value value(String text) {
    return Value.of(text);
  }

  private static Audit shows(LastWrites writes, String... shown) {
    return writes.audit(
        r -> shown.length == 0 ? Optional.empty() : Optional.of(value(shown[0])), List.of());
  }

  @Test
  void register_mustShowItsLastWrite() {
    LastWrites writes = new LastWrites();
    writes.acknowledged("r", value("old"), 0, 1);
    writes.acknowledged("r", value("new"), LATER, LATER + 1);
    assertThat(shows(writes, "new")).isEqualTo(RIGHT);
    assertThat(shows(writes, "old")).isEqualTo(new Audit(1, 0));
    assertThat(shows(writes, "nobody's")).isEqualTo(new Audit(1, 0));
    assertThat(shows(writes)).isEqualTo(new Audit(1, 0));
  }

  @Test
  void registersConcurrentWrites_mayWin_whicheverIsAnsweredFirst() {
    LastWrites writes = new LastWrites();
    writes.acknowledged("r", value("one"), LATER, LATER + 5);
    writes.acknowledged("r", value("other"), LATER - 5, LATER + 10);
    assertThat(shows(writes, "one")).isEqualTo(RIGHT);
    assertThat(shows(writes, "other")).isEqualTo(RIGHT);
  }

  @Test
  void registersWriteThatWasAnsweredLate_isNotOverwrittenByWhatCameMeanwhile() {
    LastWrites writes = new LastWrites();
    writes.acknowledged("r", value("quick"), LATER, LATER + 1);
    writes.acknowledged("r", value("slow"), 0, 2 * LATER);
    assertThat(shows(writes, "slow")).isEqualTo(RIGHT);
    assertThat(shows(writes, "quick")).isEqualTo(RIGHT);
  }

  @Test
  void registersUnknownWrite_mayShow_andNeedNot() {
    LastWrites writes = new LastWrites();
    writes.unknown("r", value("perhaps"));
    assertThat(shows(writes)).isEqualTo(RIGHT);
    assertThat(shows(writes, "perhaps")).isEqualTo(RIGHT);
    assertThat(shows(writes, "nobody's")).isEqualTo(new Audit(0, 1));
    writes.acknowledged("r", value("new"), LATER, LATER + 1);
    assertThat(shows(writes, "perhaps")).isEqualTo(RIGHT);
    assertThat(shows(writes)).isEqualTo(new Audit(1, 0));
  }

  @Test
  void registerThatNobodyWrote_isSurplus() {
    assertThat(new LastWrites().audit(r -> Optional.empty(), List.of("x")))
        .isEqualTo(new Audit(0, 1));
  }

  // ---------------------------------------------------------------- sets

  private static final Value BOOK = Value.of("book");

  private static Audit reads(Members members, long fromMillis, long toMillis, Value... there) {
    return members.audit(
        set -> Map.of("s", Set.of(there)).getOrDefault(set, Set.of()),
        List.of("s"),
        fromMillis,
        toMillis);
  }

  @Test
  void element_isThereOnceAdded_andIsNotOnceRemoved() {
    Members members = new Members();
    members.added("s", BOOK);
    assertThat(reads(members, 0, 1, BOOK)).isEqualTo(RIGHT);
    assertThat(reads(members, 0, 1)).isEqualTo(new Audit(1, 0));
    assertThat(reads(members, 0, 1, BOOK, Value.of("pen"))).isEqualTo(new Audit(0, 1));
    members.removed("s", BOOK);
    assertThat(reads(members, 0, 1)).isEqualTo(RIGHT);
    assertThat(reads(members, 0, 1, BOOK)).isEqualTo(new Audit(0, 1));
  }

  @Test
  void elementWithAnUnknownOutcome_mayBeThereOrNot() {
    Members members = new Members();
    members.added("s", BOOK);
    members.unknown("s", BOOK);
    assertThat(reads(members, 0, 1, BOOK)).isEqualTo(RIGHT);
    assertThat(reads(members, 0, 1)).isEqualTo(RIGHT);
  }

  @Test
  void elementWithATimeToLive_isJudgedByItsDeadline() {
    long slack = Members.TOLERANCE_MILLIS;
    Members members = new Members();
    members.renewed("s", BOOK, 1_000, 1_100, 15_000); // it ends between 16,000 and 16,100
    assertThat(reads(members, 2_000, 16_000 - slack - 1)).isEqualTo(new Audit(1, 0));
    assertThat(reads(members, 2_000, 16_000 - slack - 1, BOOK)).isEqualTo(RIGHT);
    assertThat(reads(members, 2_000, 16_000 - slack)).isEqualTo(RIGHT);
    assertThat(reads(members, 16_100 + slack, 17_000, BOOK)).isEqualTo(RIGHT);
    assertThat(reads(members, 16_100 + slack + 1, 17_000, BOOK)).isEqualTo(new Audit(0, 1));
    assertThat(reads(members, 16_100 + slack + 1, 17_000)).isEqualTo(RIGHT);
  }

  @Test
  void elementThatWasRenewed_livesOn_andPerhapsIfThatIsUnknown() {
    Members members = new Members();
    members.renewed("s", BOOK, 1_000, 1_100, 15_000);
    members.perhapsRenewed("s", BOOK);
    assertThat(reads(members, 2_000, 3_000)).isEqualTo(new Audit(1, 0));
    assertThat(reads(members, 20_000, 20_000)).isEqualTo(RIGHT);
    assertThat(reads(members, 20_000, 20_000, BOOK)).isEqualTo(RIGHT);
    members.renewed("s", BOOK, 6_000, 6_100, 15_000);
    assertThat(reads(members, 20_000, 20_000)).isEqualTo(new Audit(1, 0));
  }
}
