package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Compares contexts with plain sets of dots. */
final class CausalContextProperties {
  private static final List<ReplicaId> REPLICAS =
      List.of(new ReplicaId("a", 1), new ReplicaId("a", 2), new ReplicaId("b", 1));

  /** Consecutive dots of one replica, added as a range. */
  private record Dots(ReplicaId replica, int after, int count) {
    CausalContext addedTo(CausalContext context) {
      return context.withRange(replica, after, after + count);
    }

    Set<Dot> set() {
      Set<Dot> dots = new HashSet<>();
      for (int n = after + 1; n <= after + count; n++) {
        dots.add(new Dot(replica, n));
      }
      return dots;
    }
  }

  @Provide
  Arbitrary<List<Dots>> dots() {
    return Combinators.combine(
            Arbitraries.of(REPLICAS),
            Arbitraries.integers().between(0, 11),
            Arbitraries.frequencyOf(
                Tuple.of(1, Arbitraries.just(1)),
                Tuple.of(1, Arbitraries.integers().between(2, 4))))
        .as(Dots::new)
        .list()
        .ofMaxSize(8);
  }

  private static CausalContext context(List<Dots> all) {
    CausalContext context = CausalContext.EMPTY;
    for (Dots dots : all) {
      context = dots.addedTo(context);
    }
    return context;
  }

  private static Set<Dot> model(List<Dots> all) {
    Set<Dot> model = new HashSet<>();
    all.forEach(d -> model.addAll(d.set()));
    return model;
  }

  private static void assertSame(CausalContext context, Set<Dot> model) {
    for (ReplicaId replica : REPLICAS) {
      long last = 0;
      long through = 0;
      for (int n = 1; n <= 20; n++) {
        boolean in = model.contains(new Dot(replica, n));
        assertThat(context.contains(replica, n)).isEqualTo(in);
        last = in ? n : last;
        through = in && through == n - 1 ? n : through;
      }
      assertThat(context.last(replica)).isEqualTo(last);
      assertThat(context.through(replica)).isEqualTo(through);
    }
    DotCollector collector = new DotCollector();
    model.forEach(dot -> collector.add(dot.replica(), dot.number()));
    assertThat(collector.context()).isEqualTo(context);
    assertThat(context.isEmpty()).isEqualTo(model.isEmpty());
  }

  @Property(tries = 2_000)
  void behavesAsASetOfDots(@ForAll("dots") List<Dots> left, @ForAll("dots") List<Dots> right) {
    Set<Dot> a = model(left);
    Set<Dot> b = model(right);
    CausalContext x = context(left);
    CausalContext y = context(right);
    assertSame(x, a);
    Set<Dot> union = new HashSet<>(a);
    union.addAll(b);
    assertSame(x.join(y), union);
    assertThat(x.join(y)).isEqualTo(y.join(x));
    assertThat(x.covers(y)).isEqualTo(a.containsAll(b));
  }

  private record Entry(ReplicaId replica, long number) {}

  @Provide
  Arbitrary<List<Entry>> entries() {
    return Combinators.combine(Arbitraries.of(REPLICAS), Arbitraries.longs().between(0, 4))
        .as(Entry::new)
        .list()
        .ofMaxSize(4);
  }

  private static VersionVector vector(List<Entry> entries) {
    VersionVector vector = VersionVector.EMPTY;
    for (Entry entry : entries) {
      vector = vector.with(entry.replica, entry.number);
    }
    return vector;
  }

  @Property(tries = 1_000)
  void versionVectors_joinAndCompareEntryByEntry(
      @ForAll("entries") List<Entry> left, @ForAll("entries") List<Entry> right) {
    VersionVector x = vector(left);
    VersionVector y = vector(right);
    boolean atMost = true;
    for (ReplicaId r : REPLICAS) {
      assertThat(x.join(y).get(r)).isEqualTo(Math.max(x.get(r), y.get(r)));
      atMost &= x.get(r) <= y.get(r);
    }
    assertThat(x.isAtMost(y)).isEqualTo(atMost);
    assertThat(x.join(y)).isEqualTo(y.join(x));
    assertThat(x.with(REPLICAS.getFirst(), 0).get(REPLICAS.getFirst())).isZero();
  }
}
