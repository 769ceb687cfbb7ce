package io.osier.bench.sim.check;

import static io.osier.bench.sim.check.ArbitrationCheckTest.view;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Snapshots that transactional causal consistency forbids. Those of winners and of bins are in
 * {@link ArbitrationCheckTest}.
 */
final class TransactionCheckTest {
  private static final ReplicaId AT = new ReplicaId("eu", 1);
  private static final ReplicaId OTHER = new ReplicaId("us", 1);

  private final TransactionCheck check = new TransactionCheck(Unit.pair().getFirst());

  private static BitSet numbers(Integer... of) {
    return ArbitrationCheckTest.numbers(List.of(of));
  }

  private int begins(Set<Integer> places, Integer... past) {
    return check.begins(places, numbers(past));
  }

  private int committed(Set<Integer> places, Integer... past) {
    int number = begins(places, past);
    check.ended(number, Outcome.COMMITTED, AT);
    return number;
  }

  private void sees(TransactionView view, Integer... wanted) {
    check.snapshot("a session", AT, view, 0, numbers(wanted));
  }

  @Test
  void allOfATransaction_withWhatItHadSeen_isFine() {
    int one = committed(Set.of(0, 2));
    int two = committed(Set.of(0), one);
    sees(view());
    sees(view(List.of(one), List.of(), List.of(one)));
    sees(view(List.of(two, one), List.of(), List.of(one)), one);
    check.ended();
    assertThat(check.snapshots()).isEqualTo(3);
  }

  /** What has no answer may be there, and what was not asked for may not. */
  @Test
  void unknownOutcome_isFine_andWhatWasNeverCommittedIsNoticed() {
    int unknown = begins(Set.of(0));
    sees(view(List.of(unknown)));
    check.ended(unknown, Outcome.NEVER, null);
    for (int number : new int[] {unknown, unknown + 1}) {
      assertThatThrownBy(() -> sees(view(List.of(number))))
          .isInstanceOf(Violation.class)
          .hasMessage(
              "a session at eu/1 sees transaction " + number + ", which was never committed");
    }
  }

  @Test
  void partOfATransaction_isNoticed() {
    int one = committed(Set.of(0, 1));
    assertThatThrownBy(() -> sees(view(List.of(one))))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("a session at eu/1 sees a part of transaction " + one)
        .hasMessageContaining("which wrote [");
    assertThatThrownBy(() -> sees(view(List.of(one), List.of(one), List.of(one))))
        .as("where it did not write")
        .hasMessageContaining("sees a part of transaction " + one);
  }

  @Test
  void transactionWithoutWhatItHadSeen_isNoticed() {
    int one = committed(Set.of(0));
    int two = committed(Set.of(1), one);
    assertThatThrownBy(() -> sees(view(List.of(), List.of(two))))
        .hasMessage(
            "a session at eu/1 sees transaction " + two + " without {1}, which it had seen");
  }

  @Test
  void whatItsSnapshotShowed_isBeforeIt() {
    int one = committed(Set.of(0));
    int two = begins(Set.of(1));
    check.saw(two, numbers(one));
    assertThatThrownBy(() -> sees(view(List.of(), List.of(two))))
        .hasMessageContaining("sees transaction " + two + " without {1}");
  }

  @Test
  void counterThatDiffers_isNoticed() {
    int one = committed(Set.of(0));
    TransactionView view = view(List.of(one));
    for (long wrong : new long[] {0, 2}) {
      TransactionView other =
          new TransactionView(
              view.numbers(), wrong, view.registers(), view.fields(), view.added(), view.bins());
      assertThatThrownBy(() -> sees(other))
          .hasMessage(
              "a session at eu/1 sees 1 transactions, and the counter is %d".formatted(wrong));
    }
  }

  @Test
  void whatASessionHasSeen_andSeesNoMore_isNoticed() {
    int one = committed(Set.of(0));
    int two = committed(Set.of(1));
    assertThatThrownBy(() -> sees(view(List.of(one)), one, two))
        .hasMessage("a session lost sight of {2} at eu/1");
  }

  @Test
  void snapshotThatChanges_isNoticed_andOwnWritesAreNone() {
    int one = committed(Set.of(0));
    int own = begins(Set.of(1));
    TransactionView first = view(List.of(one));
    TransactionView written = view(List.of(one), List.of(own));
    check.repeated("a session", first, first, 0);
    check.repeated("a session", first, written, own);
    assertThatThrownBy(() -> check.repeated("a session", view(), first, 0))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("in one transaction");
    assertThatThrownBy(() -> check.repeated("a session", first, first, own))
        .as("without its own writes")
        .hasMessageContaining("(its own is " + own + ")");
  }

  @Test
  void whatWasAcknowledged_andIsNotThereInTheEnd_isNoticed() {
    int one = committed(Set.of(0));
    int never = begins(Set.of(1));
    check.ended(never, Outcome.NEVER, null);
    begins(Set.of(2));
    check.ended(OTHER, view(List.of(one)), Set.of());
    check.ended(OTHER, view(), Set.of(AT));
    assertThatThrownBy(() -> check.ended(OTHER, view(), Set.of(OTHER)))
        .isInstanceOf(Violation.class)
        .hasMessage("us/1 lacks transaction " + one + " of eu/1");
  }
}
