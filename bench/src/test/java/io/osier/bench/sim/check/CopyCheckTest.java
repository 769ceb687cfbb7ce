package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Copies that show less of a key than was shown of it before. */
final class CopyCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final Key KEY = Key.of("k");

  private final CopyCheck check =
      new CopyCheck(Unit.pair().getFirst(), (object, here, wanted) -> here.covers(wanted));

  private static VersionVector upTo(int number) {
    return VersionVector.of(EU, number);
  }

  private static final Request.Read READ =
      new Request.Read(
          "k1",
          KEY,
          Optional.of(CrdtType.PN_COUNTER),
          new Query.Whole(),
          VersionVector.EMPTY,
          false,
          0);

  private void copyShows(Object life, int number) {
    check.answered(life, AP, READ, upTo(number));
  }

  /** At a second after the start the holder has had this. */
  private void holderHas(Object life, int number, int second) {
    check.holds(
        life, READ, object -> CopyCheck.context(upTo(number)), TimeUnit.SECONDS.toNanos(second));
  }

  /** A copy says its age at second 100. */
  private void copyShows(Object life, int number, Duration age) {
    check.aged(life, AP, READ, upTo(number), TimeUnit.SECONDS.toNanos(100), age);
  }

  @Test
  void copyThatIsOlderThanItSays_isNoticed() {
    holderHas("life", 1, 10);
    holderHas("life", 2, 50);
    copyShows("life", 1, Duration.ofSeconds(60));
    copyShows("life", 2, Duration.ofSeconds(20));
    copyShows("another life", 1, Duration.ofSeconds(20));
    assertThat(check.aged()).isEqualTo(3);
    assertThatThrownBy(() -> copyShows("life", 1, Duration.ofSeconds(40)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("that says it is PT40S old");
  }

  @Test
  void lessThanAHolderHasShown_isNoticed() {
    check.shown("life", List.of(KEY), upTo(2));
    copyShows("life", 2);
    assertThatThrownBy(() -> copyShows("life", 1))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("was shown there before");
  }

  @Test
  void lessThanACopyHasShown_isNoticed() {
    copyShows("life", 3);
    assertThatThrownBy(() -> copyShows("life", 2)).isInstanceOf(Violation.class);
  }

  @Test
  void otherKeys_otherLives_andWhatWasLost_doNotCount() {
    check.shown("life", List.of(Key.of("other")), upTo(9));
    check.shown("other life", List.of(KEY), upTo(9));
    copyShows("life", 2);
    check.forget("life");
    copyShows("life", 1);
    assertThat(check.answered()).isEqualTo(2);
  }
}
