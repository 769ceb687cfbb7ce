package io.osier.crdt.tree;

import static io.osier.crdt.tree.PackedStates.DUE;
import static io.osier.crdt.tree.PackedStates.ELEMENTS;
import static io.osier.crdt.tree.PackedStates.ORIGINS;
import static io.osier.crdt.tree.PackedStates.TYPES;
import static io.osier.crdt.tree.PackedStates.checkSame;
import static io.osier.crdt.tree.PackedStates.large;
import static io.osier.crdt.tree.PackedStates.operation;
import static io.osier.crdt.tree.PackedStates.read;
import static io.osier.crdt.tree.PackedStates.reread;
import static io.osier.crdt.tree.PackedStates.same;
import static io.osier.crdt.tree.PackedStates.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.crdt.tree.PackedStates.Kind;
import io.osier.crdt.tree.PackedStates.Site;
import io.osier.crdt.tree.PackedStates.Step;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Compares large states that were packed, written and read at any time with ones that never were.
 */
final class PackedStateProperties {
  @Provide
  Arbitrary<CrdtType> types() {
    return Arbitraries.of(TYPES);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(8, Kind.ADD),
            Tuple.of(5, Kind.REMOVE),
            Tuple.of(1, Kind.CLEAR),
            Tuple.of(5, Kind.ADD_WITH_DEADLINE),
            Tuple.of(5, Kind.EXPIRE),
            Tuple.of(2, Kind.PERSIST),
            Tuple.of(2, Kind.END),
            Tuple.of(8, Kind.PACK),
            Tuple.of(3, Kind.READ),
            Tuple.of(3, Kind.MEET));
    return Combinators.combine(kinds, evenly(1), evenly(ELEMENTS - 1), counts(), evenly(8))
        .as(Step::new)
        .list()
        .ofMinSize(3)
        .ofMaxSize(14)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  private static Arbitrary<Integer> counts() {
    return Arbitraries.frequencyOf(
        Tuple.of(3, Arbitraries.integers().between(1, 4)),
        Tuple.of(1, Arbitraries.integers().between(5, 40)),
        Tuple.of(1, Arbitraries.integers().between(5, 1_500)));
  }

  private static Arbitrary<Integer> evenly(int max) {
    return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
  }

  // ---------------------------------------------------------------- the operations

  @Property(tries = 150)
  void packedAtAnyTime_isTheSame(
      @ForAll("types") CrdtType type,
      @ForAll @IntRange(max = 2_000) int first,
      @ForAll("steps") List<Step> steps) {
    CrdtState start = CrdtState.bottom(type);
    if (first > 0) {
      Kind kind = first % 2 == 0 ? Kind.ADD : Kind.ADD_WITH_DEADLINE;
      Operation many = operation(type, new Step(kind, 0, 0, first, 0), 1).orElseThrow();
      start = start.join(start.prepare(many, ORIGINS.getFirst(), 1, 0, 1, 0));
    }
    List<Site> sites = List.of(new Site(start), new Site(start));
    long[] numbers = {10_000, 10_000, 10_000, 10_000};
    int done = 1;
    for (Step step : steps) {
      Site site = sites.get(step.site());
      Site other = sites.get(1 - step.site());
      // Each site has an origin of its own, and late updates have another one.
      int at = step.detail() == 0 ? 2 + step.site() : step.site();
      ReplicaId origin = at == 3 ? new ReplicaId("a", 9) : ORIGINS.get(at);
      done++;
      switch (step.kind()) {
        case PACK -> site.packed = site.packed.packLeaves();
        case READ -> site.packed = reread(site.packed);
        case MEET -> site.join(other.plain, other.packed);
        default -> {
          long number = numbers[at];
          numbers[at] += 10_000;
          int time = 1 + step.detail();
          int made = done;
          Function<CrdtState, Optional<CrdtState>> update =
              state -> {
                long last = state.context().last(origin);
                return step.kind() == Kind.END
                    ? Updates.prepareExpiry(
                        state,
                        DUE + 50,
                        step.count(),
                        new UpdateContext(origin, number, last, time, 0))
                    : operation(type, step, made)
                        .map(each -> state.prepare(each, origin, number, last, time, 0));
              };
          Optional<CrdtState> delta = update.apply(site.plain);
          same(update.apply(site.packed), delta);
          delta.ifPresent(some -> site.join(some, some));
        }
      }
      checkSame(site);
    }
    CrdtState here = sites.getFirst().packed.packLeaves();
    assertThat(here.packLeaves() == here).as("packed again").isTrue();
  }

  /** Damaged bytes are refused when they are read, or the result is sound. */
  @Property(tries = 400)
  void damage_isFoundWhenItIsRead(
      @ForAll("setTypes") CrdtType type,
      @ForAll @Size(min = 1, max = 3) List<@IntRange(max = 1 << 20) Integer> at,
      @ForAll byte by) {
    List<ReplicaId> replicas = large(type).context().replicas();
    byte[] bytes = write(large(type).store(), replicas);
    at.forEach(place -> bytes[place % bytes.length] += by);
    DotStore<?> expected;
    try {
      expected = read(type, bytes, List.of());
    } catch (OsierException e) {
      assertThatThrownBy(() -> read(type, bytes, replicas)).isInstanceOf(e.getClass());
      return;
    }
    DotStore<?> packed = read(type, bytes, replicas);
    same(packed, expected);
    assertThat(packed).hasSameHashCodeAs(expected);
    assertThat(Arrays.equals(write(packed, replicas), write(expected, replicas))).isTrue();
    same(packed.trimmed(), expected.trimmed());
  }

  @Provide
  Arbitrary<CrdtType> setTypes() {
    return Arbitraries.of(TYPES).filter(CrdtType::isSet);
  }
}
