package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.bench.systems.ScenarioException;
import io.osier.core.ErrorCode;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class AuditTest {
  private static final String SETS = "elements = 10, mix { increment = 0, add = 1 }";

  private final SteppedTime time = new SteppedTime();
  private final FakeTarget.Node eu = new FakeTarget.Node();
  private final FakeTarget.Node us = new FakeTarget.Node();
  private final List<Calls> nodes = List.of(eu, us);

  private static void call(Audit audit, String operation, int key, long number, boolean succeeds) {
    audit.sent(operation, key, number);
    audit.answered(operation, key, number, succeeds);
  }

  private static void assertFinds(ThrowingCallable audit, String... words) {
    assertThatThrownBy(audit).is(Refused.with(ErrorCode.INTERNAL)).hasMessageContainingAll(words);
  }

  /** Key 3 was there twice before, and is incremented twice; a read is not counted. */
  private Audit counters() {
    eu.add(3, 2);
    us.add(3, 2);
    Audit audit = new Audit(FakeTarget.load("mix { get = 1 }"), time);
    audit.startFrom(eu);
    call(audit, "increment", 3, 0, true);
    call(audit, "increment", 3, 1, true);
    call(audit, "get", 3, 2, true);
    eu.add(3, 2);
    us.add(3, 2);
    return audit;
  }

  @Test
  void counters_allThereOnce_isFine() {
    Audit audit = counters();
    assertThat(audit.acknowledged()).isEqualTo(2);
    assertThat(audit.await(nodes)).isZero();
  }

  @Test
  void counters_oneMissingAtOneNode_isFound() {
    Audit audit = counters();
    us.add(3, -1);
    assertFinds(() -> audit.await(nodes), "key 3", "missing", "4 shown as [4, 3]");
    assertThat(time.nanos()).as("it was waited for").isGreaterThan(59_000_000_000L);
  }

  @Test
  void counters_oneTooManyEverywhere_isFound() {
    Audit audit = counters();
    eu.add(3, 1);
    us.add(3, 1);
    assertFinds(() -> audit.await(nodes), "key 3", "twice");
  }

  @Test
  void counters_oneAtAKeyThatNobodyUpdated_isFound() {
    Audit audit = counters();
    eu.add(7, 1);
    us.add(7, 1);
    assertFinds(() -> audit.await(nodes), "key 7", "twice");
  }

  @Test
  void counters_failedOrNotAnswered_mayBeDoneOnce_butIsTheSameEverywhere() {
    Audit audit = counters();
    call(audit, "increment", 4, 0, false);
    audit.sent("increment", 5, 0);
    audit.await(nodes);
    for (int key = 4; key <= 5; key++) {
      eu.add(key, 1);
      assertFinds(() -> audit.await(nodes), "not equal", "[1, 0]");
      us.add(key, 1);
      audit.await(nodes);
    }
    eu.add(5, 1);
    us.add(5, 1);
    assertFinds(() -> audit.await(nodes), "key 5", "twice");
  }

  @Test
  void nothingAcknowledged_isNoSuccess() {
    Audit audit = new Audit(FakeTarget.load(""), time);
    call(audit, "increment", 0, 0, false);
    assertFinds(() -> audit.await(nodes), "nothing was acknowledged");
  }

  private Audit sets() {
    Audit audit = new Audit(FakeTarget.load("mix = null, mix { add = 1 }, elements = 10"), time);
    audit.startFrom(eu);
    for (long number : new long[] {0, 1, 1}) {
      call(audit, "add", 2, number, true);
      for (FakeTarget.Node node : List.of(eu, us)) {
        node.add(20 + OsierCalls.elementOf(number, 10), 1);
      }
    }
    return audit;
  }

  @Test
  void sets_allThere_isFine_oneMissing_isFound() {
    Audit audit = sets();
    audit.await(nodes);
    us.shown.remove(20 + OsierCalls.elementOf(1, 10));
    assertFinds(() -> audit.await(nodes), "key 2", "missing");
  }

  @Test
  void sets_anElementThatNobodyAdded_isFound() {
    Audit audit = sets();
    eu.add(57, 1);
    us.add(57, 1);
    assertFinds(() -> audit.await(nodes), "element 7", "key 5", "nobody");
  }

  @Test
  void aMixThatChangesObjectsOtherwise_isRefused() {
    for (String mix : List.of(SETS, "mix { add-next = 1 }", "mix = null, mix { get = 1 }")) {
      assertThatThrownBy(() -> new Audit(FakeTarget.load(mix), time))
          .isInstanceOf(ScenarioException.class)
          .hasMessageContaining("increment or by add");
    }
  }
}
