package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.vavr.Tuple2;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against java.util.HashMap, with keys that often share a hash. */
final class CellMapProperties {
  /** "Aa" and "BB" have one hash in Java, and so have all texts made of n such pairs. */
  private static List<Value> colliding(int bits) {
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < 1 << bits; i++) {
      StringBuilder text = new StringBuilder();
      for (int k = 0; k < bits; k++) {
        text.append((i >> k & 1) == 0 ? "Aa" : "BB");
      }
      values.add(Value.of(text.toString()));
    }
    return values;
  }

  @Property(tries = 1_000)
  void behavesAsAMap(@ForAll long seed) {
    Random random = new Random(seed);
    List<Value> keys = colliding(2);
    keys.addAll(List.of(Value.of("x"), Value.of(1), Value.of(2), Value.of("Aa")));
    Map<Value, Integer> model = new HashMap<>();
    CellMap<Value, Integer> map = CellMap.empty();
    CellMap<Value, Integer> before = map;
    for (int i = 0; i < 40; i++) {
      Value key = keys.get(random.nextInt(keys.size()));
      before = map;
      int sizeBefore = map.size();
      if (random.nextInt(5) < 2) {
        map = map.remove(key);
        model.remove(key);
      } else {
        map = map.put(key, i);
        model.put(key, i);
      }
      assertThat(before.size()).as("a version never changes").isEqualTo(sizeBefore);
      assertThat(map.size()).isEqualTo(model.size());
      assertThat(map.isEmpty()).isEqualTo(model.isEmpty());
      for (Value k : keys) {
        assertThat(map.get(k)).isEqualTo(model.get(k));
      }
      Map<Value, Integer> visited = new HashMap<>();
      for (Tuple2<Value, Integer> entry : map) {
        assertThat(visited.put(entry._1, entry._2)).isNull();
      }
      assertThat(visited).isEqualTo(model);
    }
    List<Value> order = new ArrayList<>(model.keySet());
    java.util.Collections.shuffle(order, random);
    CellMap<Value, Integer> same = CellMap.empty();
    for (Value key : order) {
      same = same.put(key, model.getOrDefault(key, 0));
    }
    assertThat(same).isEqualTo(map).hasSameHashCodeAs(map);
    if (!order.isEmpty()) {
      assertThat(same.remove(order.getFirst())).isNotEqualTo(map);
    }
  }

  /** Around the size at which a map changes its form, in both directions. */
  @Property(tries = 100)
  void growsAndShrinksBetweenItsForms(@ForAll long seed) {
    Random random = new Random(seed);
    List<Value> keys = colliding(4);
    for (int i = 0; i < 2 * CellMap.SMALL_MAX; i++) {
      keys.add(i % 3 == 0 ? Value.of("k" + i) : Value.of(i));
    }
    Map<Value, Integer> model = new HashMap<>();
    CellMap<Value, Integer> map = CellMap.empty();
    int forms = 0;
    for (int round = 0; round < 6; round++) {
      boolean grows = round % 2 == 0;
      CellMap<Value, Integer> before = map;
      Map<Value, Integer> modelBefore = new HashMap<>(model);
      CellMap.Edit<Value, Integer> edit = map.edit();
      for (int i = 0; i < 300; i++) {
        Value key = keys.get(random.nextInt(keys.size()));
        if (random.nextInt(10) < (grows ? 9 : 1)) {
          edit.put(key, i);
          model.put(key, i);
        } else {
          edit.remove(key);
          model.remove(key);
        }
        assertThat(edit.get(key)).isEqualTo(model.get(key));
        if (random.nextInt(50) == 0) {
          map = edit.done(); // and goes on with the same edit
          assertThat(contents(map)).isEqualTo(model);
        }
      }
      map = edit.done();
      assertThat(contents(map)).isEqualTo(model);
      assertThat(contents(before)).as("a version never changes").isEqualTo(modelBefore);
      assertThat(map.size()).isEqualTo(model.size());
      forms |= map.isSorted() ? 1 : 2;
      CellMap<Value, Integer> same = CellMap.empty();
      for (Map.Entry<Value, Integer> e : model.entrySet()) {
        same = same.put(e.getKey(), e.getValue());
      }
      assertThat(same).isEqualTo(map).hasSameHashCodeAs(map);
      assertThat(map).isEqualTo(same);
      if (map.isSorted()) {
        List<Value> order = new ArrayList<>();
        map.forEach(e -> order.add(e._1));
        assertThat(order).isSorted();
      }
    }
    assertThat(forms & 2).as("it was large").isEqualTo(2);
  }

  /** Two equal maps of one size may have come to it from above and from below. */
  @Test
  void equalMapsOfDifferentForms_areEqual() {
    CellMap<Value, Integer> fromBelow = CellMap.empty();
    CellMap<Value, Integer> fromAbove = CellMap.empty();
    for (int i = 0; i <= CellMap.SMALL_MAX; i++) {
      fromAbove = fromAbove.put(Value.of(i), i);
      fromBelow = i < 100 ? fromBelow.put(Value.of(i), i) : fromBelow;
    }
    for (int i = 100; i <= CellMap.SMALL_MAX; i++) {
      fromAbove = fromAbove.remove(Value.of(i));
    }
    assertThat(fromAbove.isSorted()).isFalse();
    assertThat(fromBelow.isSorted()).isTrue();
    assertThat(fromAbove).isEqualTo(fromBelow).hasSameHashCodeAs(fromBelow);
    assertThat(fromBelow).isEqualTo(fromAbove);
    assertThat(fromAbove.put(Value.of(1), 7)).isNotEqualTo(fromBelow);
    for (int i = 99; i >= 60; i--) {
      fromAbove = fromAbove.remove(Value.of(i));
    }
    assertThat(fromAbove.isSorted()).as("small again").isTrue();
  }

  private static Map<Value, Integer> contents(CellMap<Value, Integer> map) {
    Map<Value, Integer> contents = new HashMap<>();
    for (Tuple2<Value, Integer> entry : map) {
      assertThat(contents.put(entry._1, entry._2)).isNull();
    }
    return contents;
  }

  /** Quadratic work would take many minutes here, linear work far below a second. */
  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void elementsOfOneHash_doNotHoldUpASet() {
    List<Value> elements = colliding(17);
    ReplicaId eu = new ReplicaId("eu", 1);
    Causal empty = Causal.bottom(CrdtType.AW_SET);
    Causal state = empty.join(empty.prepare(new Operation.Add(elements), eu, 1, 0, 1, 0));
    assertThat(Encoded.decode(Encoded.encode(state))).isEqualTo(state);
    Causal removal = state.prepare(new Operation.Remove(elements), eu, 200_000, 131_072, 2, 0);
    assertThat(state.join(removal).store().isEmpty()).isTrue();
  }
}
