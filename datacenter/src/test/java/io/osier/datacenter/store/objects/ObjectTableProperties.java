package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import io.osier.datacenter.store.StoredKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** The table against a plain map. */
final class ObjectTableProperties {
  private static final List<ReplicaId> REPLICAS =
      List.of(new ReplicaId("eu", 1), new ReplicaId("us", 7), new ReplicaId("ap", 2));

  /**
   * A change of a key.
   *
   * @param kind 0 removes it, 1 removes its object of a type, others update one
   */
  private record Step(int key, int kind, int type, int replica, int amount) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 60),
            Arbitraries.integers().between(0, 8),
            Arbitraries.integers().between(0, TYPES.size() - 1),
            Arbitraries.integers().between(0, REPLICAS.size() - 1),
            Arbitraries.integers().between(1, 40))
        .as(Step::new)
        .list()
        .ofMaxSize(300);
  }

  @Provide
  Arbitrary<Long> shares() {
    return Arbitraries.of(0L, 1_000L, 5_000L, 1L << 30);
  }

  private static final List<CrdtType> TYPES =
      List.of(
          CrdtType.PN_COUNTER,
          CrdtType.AW_SET,
          CrdtType.LWW_REGISTER,
          CrdtType.OR_MAP,
          CrdtType.STRING,
          CrdtType.MAX_REGISTER);

  private static Operation operation(CrdtType type, int amount) {
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(amount);
      case AW_SET -> new Operation.Add(List.of(Value.of("element".repeat(amount))));
      case STRING -> new Operation.Increment(amount);
      case LWW_REGISTER, MAX_REGISTER -> new Operation.Assign(Value.of(amount));
      default -> new Operation.Clear();
    };
  }

  @Property
  void anyChanges_areThereAsTheyWereMade(
      @ForAll("steps") List<Step> steps, @ForAll("shares") long share) {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), share);
    Map<Key, KeyObjects> wanted = new HashMap<>();
    long number = 0;
    for (Step step : steps) {
      number++;
      Key key = Key.of("key" + step.key);
      KeyObjects before = wanted.getOrDefault(key, KeyObjects.NOTHING);
      checkStored(table, key, wanted.get(key));
      assertThat(table.get(key)).isEqualTo(wanted.get(key));
      if (step.kind == 0) {
        assertThat(table.remove(key)).isEqualTo(wanted.remove(key) != null);
        continue;
      }
      CrdtType type = TYPES.get(step.type);
      KeyObjects after;
      if (step.kind == 1) {
        after = before.without(type, 0);
      } else {
        CrdtState state =
            before.states().stream()
                .filter(s -> s.type() == type)
                .findFirst()
                .orElse(CrdtState.bottom(type));
        ReplicaId origin = REPLICAS.get(step.replica);
        long last = state.context().through(origin);
        CrdtState delta =
            state.prepare(operation(type, step.amount), origin, number, last, number, 0);
        KeyObjects.Written count = new KeyObjects.Written(step.amount, number);
        after = before.with(state.join(delta), 0).counting(type, count, number % 2 == 0, 0);
        assertThat(after.written(type)).isEqualTo(count);
      }
      assertThat(table.put(key, after)).isEqualTo(wanted.put(key, after) == null);
    }
    assertThat(table.size()).isEqualTo(wanted.size());
    for (int i = 0; i <= 60; i++) {
      Key key = Key.of("key" + i);
      checkStored(table, key, wanted.get(key));
      assertThat(table.get(key)).isEqualTo(wanted.get(key));
    }
  }

  private static void checkStored(ObjectTable table, Key key, @Nullable KeyObjects wanted) {
    StoredKey stored = table.stored(key);
    assertThat(stored == null).isEqualTo(wanted == null);
    if (stored == null || wanted == null) {
      return;
    }
    for (Query query : List.of(new Query.Whole(), new Query.Exists(), new Query.Size())) {
      PackedReader answer = requireNonNull(table.stored(key)).answer(query);
      if (answer != null) {
        CrdtState only = wanted.states().getFirst();
        assertThat(wanted.states()).hasSize(1);
        assertThat(answer)
            .isEqualTo(
                new PackedReader(only.type(), only.read(query), only.context().toVersionVector()));
      }
    }
    boolean isOne = wanted.states().size() == 1 && !wanted.states().getFirst().isBottom();
    boolean isAnswered = stored.answer(new Query.Exists()) != null; // its first query
    assertThat(isAnswered).isEqualTo(stored.isPacked() && isOne);
    assertThat(stored.states()).isEqualTo(wanted.states());
  }
}
