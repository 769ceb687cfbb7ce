package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Against a plain set of dots. */
final class CausalContextProperties {
  private static final List<ReplicaId> REPLICAS =
      List.of(new ReplicaId("a", 1), new ReplicaId("a", 2), new ReplicaId("b", 1));

  private static Dot dot(Random random) {
    return new Dot(REPLICAS.get(random.nextInt(3)), 1 + random.nextInt(12));
  }

  private static CausalContext context(Random random, Set<Dot> model) {
    CausalContext context = CausalContext.EMPTY;
    for (int i = random.nextInt(8); i > 0; i--) {
      if (random.nextBoolean()) {
        Dot dot = dot(random);
        context = context.with(dot);
        model.add(dot);
      } else {
        ReplicaId replica = REPLICAS.get(random.nextInt(3));
        int after = random.nextInt(10);
        int through = after + 1 + random.nextInt(4);
        context = context.withRange(replica, after, through);
        for (int n = after + 1; n <= through; n++) {
          model.add(new Dot(replica, n));
        }
      }
    }
    return context;
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
    assertThat(CausalContext.of(model)).isEqualTo(context);
    assertThat(context.isEmpty()).isEqualTo(model.isEmpty());
  }

  @Property(tries = 2_000)
  void behavesAsASetOfDots(@ForAll long seed) {
    Random random = new Random(seed);
    Set<Dot> a = new HashSet<>();
    Set<Dot> b = new HashSet<>();
    CausalContext x = context(random, a);
    CausalContext y = context(random, b);
    assertSame(x, a);
    Set<Dot> union = new HashSet<>(a);
    union.addAll(b);
    assertSame(x.join(y), union);
    assertThat(x.join(y)).isEqualTo(y.join(x));
    assertThat(x.covers(y)).isEqualTo(a.containsAll(b));
  }

  @Property(tries = 1_000)
  void versionVectors_joinAndCompareEntryByEntry(@ForAll long seed) {
    Random random = new Random(seed);
    List<VersionVector> vectors = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      VersionVector vector = VersionVector.EMPTY;
      for (int k = random.nextInt(5); k > 0; k--) {
        vector = vector.with(REPLICAS.get(random.nextInt(3)), random.nextInt(5));
      }
      vectors.add(vector);
    }
    VersionVector x = vectors.get(0);
    VersionVector y = vectors.get(1);
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
