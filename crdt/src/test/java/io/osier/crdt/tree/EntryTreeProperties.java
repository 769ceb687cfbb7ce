package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Encoded;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.statistics.Statistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compares the tree with java.util's maps, with keys that often share a hash. */
final class EntryTreeProperties {
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

  /**
   * Gives a key a value, or removes the key if there is none.
   *
   * @param key counted around
   */
  private record Change(int key, Optional<Integer> value) {
    static Arbitrary<Change> some(int keys, double removals) {
      return Combinators.combine(
              Arbitraries.integers()
                  .between(0, keys - 1)
                  .withDistribution(RandomDistribution.uniform()),
              Arbitraries.integers().between(0, 9).optional(1 - removals))
          .as(Change::new);
    }
  }

  private static final List<Value> FEW = few();

  private static List<Value> few() {
    List<Value> keys = colliding(2);
    keys.addAll(List.of(Value.of("x"), Value.of(1), Value.of(2), Value.of("Aa")));
    return keys;
  }

  @Provide
  Arbitrary<List<Change>> fewChanges() {
    return Change.some(FEW.size(), 0.4)
        .list()
        .ofMaxSize(40)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  @Property(tries = 1_000)
  void behavesAsAMap(@ForAll("fewChanges") List<Change> changes) {
    Map<Value, Integer> model = new LinkedHashMap<>();
    EntryTree<Value, Integer> map = EntryTree.empty();
    for (Change change : changes) {
      Value key = FEW.get(change.key);
      EntryTree<Value, Integer> before = map;
      int sizeBefore = map.size();
      if (change.value.isPresent()) {
        map = map.put(key, change.value.get());
        model.put(key, change.value.get());
      } else {
        map = map.remove(key);
        model.remove(key);
      }
      assertThat(before.size()).as("a version never changes").isEqualTo(sizeBefore);
      assertThat(map.size()).isEqualTo(model.size());
      assertThat(map.isEmpty()).isEqualTo(model.isEmpty());
      for (Value k : FEW) {
        assertThat(map.get(k)).isEqualTo(model.get(k));
      }
      assertThat(contents(map)).isEqualTo(model);
    }
    List<Value> order = new ArrayList<>(model.keySet()).reversed();
    EntryTree<Value, Integer> same = EntryTree.empty();
    for (Value key : order) {
      same = same.put(key, model.getOrDefault(key, 0));
    }
    assertThat(same).isEqualTo(map).hasSameHashCodeAs(map);
    if (!order.isEmpty()) {
      assertThat(same.remove(order.getFirst())).isNotEqualTo(map);
    }
  }

  private static final List<Value> MANY = many();

  private static List<Value> many() {
    List<Value> keys = colliding(4);
    for (int i = 0; i < 2 * TreeNode.LEAF_MAX; i++) {
      keys.add(i % 3 == 0 ? Value.of("k" + i) : Value.of(i));
    }
    return keys;
  }

  /** An edit that puts far more than it removes, and one that does the opposite, in turns. */
  @Provide
  Arbitrary<List<List<Change>>> growingAndShrinking() {
    return Combinators.combine(edit(0.1), edit(0.9))
        .as((grows, shrinks) -> List.of(grows, shrinks))
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .map(pairs -> pairs.stream().flatMap(List::stream).toList());
  }

  private static Arbitrary<List<Change>> edit(double removals) {
    return Change.some(MANY.size(), removals)
        .list()
        .ofMaxSize(400)
        .withSizeDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }

  /** Around the size at which a map changes its form, in both directions. */
  @Property(tries = 150)
  void growsAndShrinksBetweenItsForms(
      @ForAll("growingAndShrinking") List<List<Change>> edits,
      @ForAll @Size(max = 6) Set<@IntRange(max = 400) Integer> doneAt) {
    Map<Value, Integer> model = new HashMap<>();
    EntryTree<Value, Integer> map = EntryTree.empty();
    boolean large = false;
    for (List<Change> changes : edits) {
      EntryTree<Value, Integer> before = map;
      Map<Value, Integer> modelBefore = new HashMap<>(model);
      TreeEdit<Value, Integer> edit = map.edit();
      for (int i = 0; i < changes.size(); i++) {
        Value key = MANY.get(changes.get(i).key);
        Optional<Integer> value = changes.get(i).value;
        if (value.isPresent()) {
          edit.put(key, value.get());
          model.put(key, value.get());
        } else {
          edit.remove(key);
          model.remove(key);
        }
        assertThat(edit.get(key)).isEqualTo(model.get(key));
        if (doneAt.contains(i)) {
          map = edit.done(); // and goes on with the same edit
          assertThat(contents(map)).isEqualTo(model);
        }
      }
      map = edit.done();
      assertThat(contents(map)).isEqualTo(model);
      assertThat(contents(before)).as("a version never changes").isEqualTo(modelBefore);
      assertThat(map.size()).isEqualTo(model.size());
      large |= map.size() > TreeNode.LEAF_MAX;
      EntryTree<Value, Integer> same = EntryTree.empty();
      for (Map.Entry<Value, Integer> e : model.entrySet()) {
        same = same.put(e.getKey(), e.getValue());
      }
      assertThat(same).isEqualTo(map).hasSameHashCodeAs(map);
      assertThat(map).isEqualTo(same);
      assertThat(keys(map.iterator())).containsExactlyElementsOf(new TreeMap<>(model).keySet());
      int rank = 0;
      for (TreeEntry<Value, Integer> entry : map) {
        assertThat(map.at(rank++)).isEqualTo(entry);
      }
    }
    Statistics.label("large").collect(large);
    Statistics.label("large").coverage(c -> c.check(true).percentage(p -> p > 10));
  }

  /**
   * One of two equal maps may have grown and the other one shrunk, so that they have other nodes.
   */
  @Test
  void equalMapsOfDifferentForms_areEqual() {
    EntryTree<Value, Integer> fromBelow = EntryTree.empty();
    EntryTree<Value, Integer> fromAbove = EntryTree.empty();
    for (int i = 0; i < 2 * TreeNode.LEAF_MAX; i++) {
      fromAbove = fromAbove.put(Value.of(i), i);
      fromBelow = i < 100 ? fromBelow.put(Value.of(i), i) : fromBelow;
    }
    for (int i = 2 * TreeNode.LEAF_MAX - 1; i >= 100; i--) {
      fromAbove = fromAbove.remove(Value.of(i));
    }
    assertThat(fromAbove).isEqualTo(fromBelow).hasSameHashCodeAs(fromBelow);
    assertThat(fromBelow).isEqualTo(fromAbove);
    assertThat(fromAbove.put(Value.of(1), 7)).isNotEqualTo(fromBelow);
    assertThat(fromAbove.remove(Value.of(1)).put(Value.of(200), 1)).isNotEqualTo(fromBelow);
  }

  /** How many keys, in which order they are put, and which of them are removed. */
  private record Growth(int keys, int order, int removedFrom, int removedTo, int each) {}

  @Provide
  Arbitrary<Growth> growths() {
    Arbitrary<Integer> keys = Arbitraries.integers().between(1, 20_000);
    return Combinators.combine(
            keys,
            Arbitraries.integers().between(0, 2),
            Arbitraries.integers().between(0, 20_000),
            Arbitraries.integers().between(0, 20_000),
            Arbitraries.integers().between(1, 5))
        .as(Growth::new);
  }

  /**
   * Trees of up to three levels, whose leaves are split and joined: each walk begins at its key, in
   * both directions, and a former version stays as it was.
   */
  @Property(tries = 40)
  void largeOnes_areWalkedFromAnyKey(
      @ForAll("growths") Growth growth,
      @ForAll @Size(max = 20) Set<@IntRange(max = 20_100) Integer> starts) {
    TreeMap<Value, Integer> model = new TreeMap<>();
    TreeEdit<Value, Integer> edit = EntryTree.<Value, Integer>empty().edit();
    for (int i = 0; i < growth.keys; i++) {
      int key =
          switch (growth.order) {
            case 0 -> i;
            case 1 -> growth.keys - 1 - i;
            default -> (int) ((i * 7_919L) % growth.keys); // 7,919 is prime: few come twice
          };
      edit.put(Value.of(2L * key), i);
      model.put(Value.of(2L * key), i);
    }
    EntryTree<Value, Integer> whole = edit.done();
    TreeMap<Value, Integer> before = new TreeMap<>(model);
    check(whole, model, starts);
    for (int key = growth.removedFrom; key < growth.removedTo; key += growth.each) {
      edit.remove(Value.of(2L * key));
      model.remove(Value.of(2L * key));
    }
    check(edit.done(), model, starts);
    check(whole, before, starts);
  }

  private static void check(
      EntryTree<Value, Integer> map, TreeMap<Value, Integer> model, Set<Integer> starts) {
    assertThat(map.size()).isEqualTo(model.size());
    assertThat(keys(map.iterator())).containsExactlyElementsOf(model.keySet());
    assertThat(keys(map.downFrom(null))).containsExactlyElementsOf(model.descendingMap().keySet());
    for (int start : starts) {
      Value key = Value.of(2L * start - 1 + start % 2); // one in two may be there
      assertThat(map.get(key)).isEqualTo(model.get(key));
      assertThat(keys(map.from(key))).containsExactlyElementsOf(model.tailMap(key).keySet());
      assertThat(keys(map.downFrom(key)))
          .containsExactlyElementsOf(model.headMap(key, true).descendingMap().keySet());
    }
  }

  private static List<Value> keys(Iterator<TreeEntry<Value, Integer>> walk) {
    List<Value> keys = new ArrayList<>();
    walk.forEachRemaining(e -> keys.add(e.key()));
    return keys;
  }

  private static Map<Value, Integer> contents(EntryTree<Value, Integer> map) {
    Map<Value, Integer> contents = new HashMap<>();
    for (TreeEntry<Value, Integer> entry : map) {
      assertThat(contents.put(entry.key(), entry.cell())).isNull();
    }
    return contents;
  }

  /** Quadratic work would take many minutes here, linear work far below a second. */
  @Test
  @Timeout(Patience.SECONDS)
  void elementsOfOneHash_doNotHoldUpASet() {
    List<Value> elements = colliding(17);
    ReplicaId eu = new ReplicaId("eu", 1);
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    CrdtState state = empty.join(empty.prepare(new Operation.Add(elements), eu, 1, 0, 1, 0));
    assertThat(Encoded.decode(Encoded.encode(state))).isEqualTo(state);
    CrdtState removal = state.prepare(new Operation.Remove(elements), eu, 200_000, 131_072, 2, 0);
    assertThat(state.join(removal).store().isEmpty()).isTrue();
  }
}
