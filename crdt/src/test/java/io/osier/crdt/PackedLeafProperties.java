package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.vavr.Tuple2;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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

/** A map whose leaves are packed at any time against a tree map, and against one never packed. */
final class PackedLeafProperties {
  private static final ReplicaId A = new ReplicaId("a", 1);
  private static final ReplicaId B = new ReplicaId("b", 7);
  private static final ReplicaId C = new ReplicaId("c", 2);

  /** By whose places replicas may be numbered; the last one lacks one of them. */
  private static final List<List<ReplicaId>> NUMBERINGS =
      List.of(List.of(B, C), List.of(A, B, C), List.of(A, B));

  private static final int KEYS = 4_000;

  private static final class Codec implements LeafCodec<Value, Dot> {
    @Override
    public void writeKey(WireOutput out, Value key) {
      out.writeValue(key);
    }

    @Override
    public void writeCell(WireOutput out, Dot cell) {
      out.writeDot(cell);
    }

    @Override
    public Value readKey(WireInput in) {
      return in.readValue();
    }

    @Override
    public Dot readCell(WireInput in, Value key, List<ReplicaId> replicas) {
      return in.readDot();
    }

    @Override
    public long heapBytes(Value key, Dot cell) {
      return key.heapBytes() + Dot.HEAP_BYTES;
    }

    @Override
    public Dot packed(Dot cell, List<ReplicaId> replicas) {
      return cell;
    }
  }

  private static final Codec CODEC = new Codec();

  /** What is done with some keys, from one on, each so many. */
  private enum Kind {
    PUT,
    REMOVE,
    PACK,
    LOAD
  }

  private record Step(Kind kind, int from, int count, int each, int detail) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(4, Kind.PUT),
            Tuple.of(2, Kind.REMOVE),
            Tuple.of(4, Kind.PACK),
            Tuple.of(1, Kind.LOAD));
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

  /** Long ones are so long that a leaf full of them is not packed. */
  private static Value key(int i) {
    return Value.of(String.format("%05d", i) + (i % 1_000 < 150 ? "long".repeat(40) : ""));
  }

  private static Dot cell(int i, int detail) {
    // Of the third replica only some: leaves without it are packed by any numbering.
    List<ReplicaId> origins = i < KEYS / 2 ? List.of(A, B) : List.of(A, B, C);
    return new Dot(origins.get(i % origins.size()), 1 + detail);
  }

  @Property(tries = 200)
  void packedAtAnyTime_isLikeAMap(
      @ForAll @IntRange(max = 3_000) int first, @ForAll("steps") List<Step> more) {
    List<Step> steps = new ArrayList<>(more);
    steps.addFirst(new Step(Kind.PUT, 0, first, 1, 0));
    TreeMap<Value, Dot> model = new TreeMap<>();
    CellMap<Value, Dot> map = CellMap.empty();
    CellMap<Value, Dot> plain = CellMap.empty();
    int packedLeaves = 0;
    for (Step step : steps) {
      CellMap<Value, Dot> before = map;
      TreeMap<Value, Dot> modelBefore = new TreeMap<>(model);
      switch (step.kind) {
        case PUT, REMOVE -> {
          map = changed(map, step, new TreeMap<>(model));
          plain = changed(plain, step, model);
        }
        case PACK -> {
          List<ReplicaId> numbering = NUMBERINGS.get(step.detail % NUMBERINGS.size());
          map = map.packed(CODEC, numbering);
          assertThat(map.packed(CODEC, numbering) == map).as("packed again").isTrue();
          if (map.root() instanceof CellNode.Inner root) {
            assertThat(root.settled()).matches(p -> p != null && p.replicas().equals(numbering));
          }
        }
        case LOAD -> {
          if (!model.isEmpty()) {
            List<ReplicaId> numbering = NUMBERINGS.get(step.detail % NUMBERINGS.size());
            var loading = new CellMap.Loading<>(new LeafPacking<>(CODEC, numbering));
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
    Statistics.label("packed").coverage(c -> c.check(true).percentage(p -> p > 50));
  }

  private static CellMap<Value, Dot> changed(
      CellMap<Value, Dot> map, Step step, TreeMap<Value, Dot> model) {
    CellEdit<Value, Dot> edit = map.edit();
    for (int n = 0; n < step.count; n++) {
      int i = (step.from + n * step.each) % KEYS;
      Value key = key(i);
      assertThat(edit.get(key)).isEqualTo(model.get(key));
      if (step.kind == Kind.PUT) {
        assertThat(edit.put(key, cell(i, step.detail)))
            .isEqualTo(model.put(key, cell(i, step.detail)));
      } else {
        assertThat(edit.remove(key)).isEqualTo(model.remove(key));
      }
    }
    return edit.done();
  }

  private static void check(CellMap<Value, Dot> map, TreeMap<Value, Dot> model, Step step) {
    assertThat(map.size()).isEqualTo(model.size());
    same(entries(map.iterator()), entries(model));
    same(entries(map.downFrom(null)), entries(model.descendingMap()));
    for (int i : new int[] {step.from, (step.from + 1) % KEYS, step.detail, KEYS - 1}) {
      for (Value key : List.of(key(i), Value.of(String.format("%05d", i) + "x"))) {
        assertThat(map.get(key)).isEqualTo(model.get(key));
        same(entries(map.from(key)), entries(model.tailMap(key)));
        same(entries(map.downFrom(key)), entries(model.headMap(key, true).descendingMap()));
      }
    }
    assertThat(map.remove(Value.of("none")) == map).as("nothing is removed").isTrue();
    for (int i = 0; i < KEYS; i += 17) {
      assertThat(map.get(key(i))).isEqualTo(model.get(key(i)));
    }
    Nodes nodes = Nodes.of(map);
    assertThat(map.settledHeapBytes()).isEqualTo(nodes.settledHeapBytes);
  }

  /** Without thousands of entries in a message. */
  private static void same(Object one, Object other) {
    assertThat(one.equals(other)).isTrue();
  }

  private static List<Tuple2<Value, Dot>> entries(Iterator<Tuple2<Value, Dot>> walk) {
    List<Tuple2<Value, Dot>> entries = new ArrayList<>();
    walk.forEachRemaining(entries::add);
    return entries;
  }

  private static List<Tuple2<Value, Dot>> entries(Map<Value, Dot> map) {
    List<Tuple2<Value, Dot>> entries = new ArrayList<>();
    map.forEach((key, dot) -> entries.add(new Tuple2<>(key, dot)));
    return entries;
  }

  private static byte[] written(CellMap<Value, Dot> map, List<ReplicaId> preset) {
    return WireOutput.bytesOf(
        out -> {
          preset.forEach(out::presetReplica);
          map.write(out, CODEC);
        });
  }

  /** What a walk through all nodes finds. */
  static final class Nodes {
    int packed;
    int loose;
    long settledHeapBytes;

    /** Of the leaves that are not settled. */
    final List<CellNode.Leaf> looseLeaves = new ArrayList<>();

    static Nodes of(CellMap<?, ?> map) {
      Nodes nodes = new Nodes();
      nodes.visit(map.root());
      return nodes;
    }

    private void visit(CellNode node) {
      LeafPacking<?, ?> settled = node.settled();
      if (node instanceof CellNode.Inner inner) {
        for (CellNode child : inner.children) {
          if (settled != null) {
            assertThat(settled.isLike(child.settled())).as("below what is settled").isTrue();
          }
          visit(child);
        }
      } else if (settled != null) {
        settledHeapBytes += CellMap.settledHeapBytes(node, settled);
        packed += node instanceof PackedLeaf ? 1 : 0;
      } else {
        loose++;
        looseLeaves.add((CellNode.Leaf) node);
      }
    }
  }
}
