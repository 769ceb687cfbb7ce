package io.osier.bench.systems;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.systems.CommandSequence.Timed;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class CommandSequenceTest {
  private static Set<Value> values(int from, int to) {
    Set<Value> values = new TreeSet<>();
    for (int i = from; i <= to; i++) {
      values.add(Value.of((long) i));
    }
    return values;
  }

  @Test
  void sequence_leaves157Keys() {
    Map<String, Set<Value>> sets = CommandSequence.expected();
    Set<Value> keys = sets.get("keys");
    assertThat(keys).hasSize(CommandSequence.KEYS_LEFT);
    for (int key = 0; key < CommandSequence.KEYS; key++) {
      assertThat(keys.contains(Value.of("k" + key))).isEqualTo(key % 4 != 0);
      assertThat(sets).containsEntry("k" + key, values(key % 2 == 0 ? 1_002 : 1_000, 1_004));
    }
  }

  @Test
  void sequence_has1523Commands() {
    assertThat(CommandSequence.insertions()).hasSize(210 + 1_050);
    assertThat(CommandSequence.removals()).hasSize(210 + 53);
  }

  @Test
  void plan_keepsThePace_andRemovesAfterwards() {
    List<Timed> plan = CommandSequence.plan(3, 10_000);
    assertThat(plan).hasSize(3 * 1_523);
    for (int i = 1; i < plan.size(); i++) {
      assertThat(plan.get(i).atNanos() - plan.get(i - 1).atNanos()).isGreaterThanOrEqualTo(100_000);
    }
    List<Timed> last = plan.subList(plan.size() - 263, plan.size());
    assertThat(last).allMatch(t -> t.command().operation() instanceof Operation.Remove);
    assertThat(last.getFirst().atNanos() - plan.get(plan.size() - 264).atNanos())
        .isGreaterThanOrEqualTo(20_000_000);
  }
}
