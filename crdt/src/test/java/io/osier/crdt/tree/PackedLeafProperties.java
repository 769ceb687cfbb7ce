package io.osier.crdt.tree;

import static io.osier.crdt.tree.DotEntries.A;
import static io.osier.crdt.tree.DotEntries.B;
import static io.osier.crdt.tree.DotEntries.C;
import static io.osier.crdt.tree.DotEntries.CODEC;
import static io.osier.crdt.tree.DotEntries.KEYS;
import static io.osier.crdt.tree.DotEntries.NUMBERINGS;
import static io.osier.crdt.tree.DotEntries.entries;
import static io.osier.crdt.tree.DotEntries.same;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.statistics.Statistics;

/**
 * Compares a map whose leaves are packed at any time with a tree map, and with one that is never
 * packed.
 */
final class PackedLeafProperties {
  /** The kinds of changes of some keys from one on, in one edit or in an edit for each. */
  private enum Kind {
    PUT,
    PUT_EACH,
    REMOVE,
    REMOVE_EACH,
    PACK,
    LOAD
  }

  private record Step(Kind kind, int from, int count, int each, int detail) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(3, Kind.PUT),
            Tuple.of(3, Kind.PUT_EACH),
            Tuple.of(2, Kind.REMOVE),
            Tuple.of(2, Kind.REMOVE_EACH),
            Tuple.of(7, Kind.PACK),
            Tuple.of(2, Kind.LOAD));
    return Combinators.combine(
            kinds, evenly(KEYS - 1), counts(), Arbitraries.integers().between(1, 5), evenly(200))
        .as(Step::new)
        .list()
        .ofMinSize(2)
        .ofMaxSize(16)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  private static Arbitrary<Integer> counts() {
    return Arbitraries.frequencyOf(
        Tuple.of(2, Arbitraries.integers().between(1, 4)),
        Tuple.of(1, Arbitraries.integers().between(5, 3_000)));
  }

  private static Arbitrary<Integer> evenly(int max) {
    return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
  }

  /** The long keys are so long that a leaf full of them is not packed. */
  private static Value key(int i) {
    return Value.of(String.format("%05d", i) + (i % 1_000 < 150 ? "long".repeat(40) : ""));
  }

  private static Dot cell(int i, int detail) {
    // Only some keys have dots of the third replica: leaves without it are packed by any numbering.
    List<ReplicaId> origins = i < KEYS / 2 ? List.of(A, B) : List.of(A, B, C);
    return new Dot(origins.get(i % origins.size()), 1 + detail);
  }

  @Property(tries = 200)
  void packedAtAnyTime_isLikeAMap(
      @ForAll @IntRange(max = 3_000) int first, @ForAll("steps") List<Step> more) {
    List<Step> steps = new ArrayList<>(more);
    steps.addFirst(new Step(Kind.PUT, 0, first, 1, 0));
    TreeMap<Value, Dot> model = new TreeMap<>();
    EntryTree<Value, Dot> map = EntryTree.empty();
    EntryTree<Value, Dot> plain = EntryTree.empty();
    int packedLeaves = 0;
    for (Step step : steps) {
      EntryTree<Value, Dot> before = map;
      TreeMap<Value, Dot> modelBefore = new TreeMap<>(model);
      switch (step.kind) {
        case PUT, PUT_EACH, REMOVE, REMOVE_EACH -> {
          map = changed(map, step, new TreeMap<>(model));
          plain = changed(plain, step, model);
        }
        case PACK -> {
          List<ReplicaId> numbering = NUMBERINGS.get(step.detail % NUMBERINGS.size());
          map = map.packed(CODEC, numbering);
          assertThat(map.packed(CODEC, numbering) == map).as("packed again").isTrue();
          if (map.root() instanceof TreeNode.Inner root) {
            assertThat(root.settled()).matches(p -> p != null && p.replicas().equals(numbering));
          }
        }
        case LOAD -> {
          if (!model.isEmpty()) {
            List<ReplicaId> numbering = NUMBERINGS.get(step.detail % NUMBERINGS.size());
            var loading = new EntryTree.Loading<>(new LeafPacking<>(CODEC, numbering));
            model.forEach(loading::add);
            map = loading.done();
          }
        }
      }
      check(map, model, step);
      same(map, plain);
      same(plain, map);
      assertThat(map.hashCode()).isEqualTo(plain.hashCode());
      if (!model.isEmpty()) {
        assertThat(map.put(model.firstKey(), new Dot(A, 999)).equals(plain)).isFalse();
      }
      for (List<ReplicaId> numbering : NUMBERINGS) {
        assertThat(Arrays.equals(written(map, numbering), written(plain, numbering))).isTrue();
      }
      check(before, modelBefore, step);
      packedLeaves = Math.max(packedLeaves, Nodes.of(map).packed);
    }
    Statistics.label("packed").collect(packedLeaves > 0);
    Statistics.label("packed").coverage(c -> c.check(true).percentage(p -> p > 10));
  }

  private static EntryTree<Value, Dot> changed(
      EntryTree<Value, Dot> map, Step step, TreeMap<Value, Dot> model) {
    boolean each = step.kind == Kind.PUT_EACH || step.kind == Kind.REMOVE_EACH;
    TreeEdit<Value, Dot> edit = map.edit();
    for (int n = 0; n < step.count; n++) {
      int at = step.detail % 3 == 0 ? step.count - 1 - n : n; // downwards too
      int i = (step.from + at * step.each) % KEYS;
      Value key = key(i);
      assertThat(edit.get(key)).isEqualTo(model.get(key));
      if (step.kind == Kind.PUT || step.kind == Kind.PUT_EACH) {
        assertThat(edit.put(key, cell(i, step.detail)))
            .isEqualTo(model.put(key, cell(i, step.detail)));
      } else {
        assertThat(edit.remove(key)).isEqualTo(model.remove(key));
      }
      edit = each ? edit.done().edit() : edit;
    }
    return edit.done();
  }

  private static void check(EntryTree<Value, Dot> map, TreeMap<Value, Dot> model, Step step) {
    assertThat(map.size()).isEqualTo(model.size());
    same(entries(map.iterator()), entries(model));
    same(entries(map.downFrom(null)), entries(model.descendingMap()));
    for (int i : new int[] {step.from, (step.from + 1) % KEYS, step.detail, KEYS - 1}) {
      for (Value key : List.of(key(i), Value.of(String.format("%05d", i) + "x"))) {
        assertThat(map.get(key)).isEqualTo(model.get(key));
        same(entries(map.from(key)), entries(model.tailMap(key)));
        same(entries(map.downFrom(key)), entries(model.headMap(key, true).descendingMap()));
        for (Value most : List.of(key, key(i + 1), key(i + 40), Value.of("none"))) {
          same(map.between(key, most), entries(model.subMap(key, true, most, true)));
        }
      }
    }
    assertThat(map.remove(Value.of("none")) == map).as("nothing is removed").isTrue();
    for (int i = 0; i < KEYS; i += 17) {
      assertThat(map.get(key(i))).isEqualTo(model.get(key(i)));
    }
    Nodes nodes = Nodes.of(map);
    assertThat(map.settledHeapBytes()).isEqualTo(nodes.settledHeapBytes);
  }

  private static byte[] written(EntryTree<Value, Dot> map, List<ReplicaId> preset) {
    return WireOutput.bytesOf(
        out -> {
          preset.forEach(out::presetReplica);
          map.write(out, CODEC);
        });
  }
}
