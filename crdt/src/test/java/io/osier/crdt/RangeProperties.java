package io.osier.crdt;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.state.CrdtState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Ranges of elements and fields, compared with a filter over the whole. */
final class RangeProperties {
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  private static final List<CrdtType> SETS =
      Stream.of(CrdtType.values()).filter(CrdtType::isSet).toList();

  /** An end, if there is one: a number, and whether the range includes it. */
  @Provide
  Arbitrary<Optional<Tuple.Tuple2<Integer, Boolean>>> ends() {
    return Combinators.combine(Arbitraries.integers().between(-1, 41), Arbitraries.of(true, false))
        .as(Tuple::of)
        .optional();
  }

  private static boolean isAfter(int number, Optional<Tuple.Tuple2<Integer, Boolean>> from) {
    return from.isEmpty()
        || number > from.get().get1()
        || (number == from.get().get1() && from.get().get2());
  }

  private static boolean isBefore(int number, Optional<Tuple.Tuple2<Integer, Boolean>> to) {
    return to.isEmpty()
        || number < to.get().get1()
        || (number == to.get().get1() && to.get().get2());
  }

  private static <T> List<T> limited(List<T> all, boolean descending, int limit) {
    return descending
        ? all.subList(Math.max(0, all.size() - limit), all.size())
        : all.subList(0, Math.min(limit, all.size()));
  }

  private static CrdtState apply(CrdtState state, Operation operation) {
    long last = state.context().last(EU);
    return state.join(state.prepare(operation, EU, last + 1, last, 1 + last, 0));
  }

  @Property(tries = 500)
  void showsTheElementsBetween(
      @ForAll Set<@IntRange(max = 40) Integer> added,
      @ForAll Set<@IntRange(max = 40) Integer> removed,
      @ForAll("ends") Optional<Tuple.Tuple2<Integer, Boolean>> from,
      @ForAll("ends") Optional<Tuple.Tuple2<Integer, Boolean>> to,
      @ForAll boolean descending,
      @ForAll @IntRange(min = 1, max = 45) int limit) {
    for (CrdtType type : SETS) {
      TreeSet<Integer> model = new TreeSet<>(added);
      CrdtState state = CrdtState.bottom(type);
      state = apply(state, new Operation.Add(added.stream().map(Value::of).toList()));
      if (type != CrdtType.G_SET) {
        state = apply(state, new Operation.Remove(removed.stream().map(Value::of).toList()));
        model.removeAll(removed);
      }
      Query query =
          new Query.Range(
              from.map(e -> new Query.Bound(new Part.Element(Value.of(e.get1())), e.get2())),
              to.map(e -> new Query.Bound(new Part.Element(Value.of(e.get1())), e.get2())),
              descending,
              limit);
      List<Value> between =
          model.stream().filter(n -> isAfter(n, from) && isBefore(n, to)).map(Value::of).toList();
      assertThat(state.read(query))
          .as("%s", type)
          .isEqualTo(new Reading.Many(limited(between, descending, limit)));
    }
  }

  /** One name may have a counter and a register: a page includes both or none. */
  @Property(tries = 500)
  void showsTheFieldsBetween(
      @ForAll @Size(max = 25) Set<@IntRange(max = 40) Integer> counters,
      @ForAll @Size(max = 25) Set<@IntRange(max = 40) Integer> registers,
      @ForAll("ends") Optional<Tuple.Tuple2<Integer, Boolean>> from,
      @ForAll("ends") Optional<Tuple.Tuple2<Integer, Boolean>> to,
      @ForAll boolean descending,
      @ForAll @IntRange(min = 1, max = 30) int limit) {
    CrdtState state = CrdtState.bottom(CrdtType.OR_MAP);
    List<FieldId> fields = new ArrayList<>();
    for (int n : counters) {
      FieldId field = new FieldId(name(n), CrdtType.PN_COUNTER);
      fields.add(field);
      state = apply(state, update(field, new Operation.Increment(1)));
    }
    for (int n : registers) {
      FieldId field = new FieldId(name(n), CrdtType.LWW_REGISTER);
      fields.add(field);
      state = apply(state, update(field, new Operation.Assign(Value.of(n))));
    }
    fields.sort(null);
    List<FieldId> between =
        fields.stream().filter(f -> isAfter(number(f), from) && isBefore(number(f), to)).toList();
    List<FieldId> shown = new ArrayList<>(limited(between, descending, limit));
    between.stream() // the other one of the name at which the page ends
        .filter(f -> shown.stream().anyMatch(s -> s.name().equals(f.name())))
        .filter(f -> !shown.contains(f))
        .toList()
        .forEach(shown::add);
    shown.sort(Comparator.naturalOrder());
    Query query =
        new Query.Range(
            from.map(e -> new Query.Bound(new Part.Field(name(e.get1())), e.get2())),
            to.map(e -> new Query.Bound(new Part.Field(name(e.get1())), e.get2())),
            descending,
            limit);
    assertThat(((Reading.Fields) state.read(query)).fields().keySet())
        .containsExactlyElementsOf(shown);
  }

  private static Operation update(FieldId field, Operation operation) {
    return new Operation.UpdateFields(field, operation);
  }

  private static String name(int n) {
    return "%c".formatted('A' + n);
  }

  private static int number(FieldId field) {
    return field.name().charAt(0) - 'A';
  }

  /** The range is refused before all of it is in memory. */
  @Test
  void rangeThatNoAnswerHasRoomFor_isRefused() {
    String large = "x".repeat(1 << 20);
    List<Value> elements = IntStream.range(10, 76).mapToObj(i -> Value.of(i + large)).toList();
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(elements);
    CrdtState set = empty.join(empty.prepare(add, new ReplicaId("eu", 1), 1, 0, 1, 0));
    Query all = new Query.Range(Optional.empty(), Optional.empty(), true, 100);
    refused(ErrorCode.VALUE_TOO_LARGE, () -> set.read(all))
        .hasMessageContaining("the first 63 entries")
        .hasMessageContaining("ask for fewer");
    Query some = new Query.Range(Optional.empty(), Optional.empty(), true, 63);
    assertThat(set.read(some))
        .isInstanceOfSatisfying(Reading.Many.class, r -> assertThat(r.values()).hasSize(63));
  }

  @Test
  void wrongOnes_areRefused() {
    for (int limit : new int[] {0, -1, Query.Range.LIMIT_MAX + 1}) {
      refused(
              ErrorCode.INVALID_ARGUMENT,
              () -> new Query.Range(Optional.empty(), Optional.empty(), false, limit))
          .hasMessageContaining("1 to 10000");
    }
    Query ofAField =
        new Query.Range(
            Optional.of(new Query.Bound(new Part.Field("f"), true)), Optional.empty(), false, 1);
    Query ofAnElement =
        new Query.Range(
            Optional.empty(),
            Optional.of(new Query.Bound(new Part.Element(Value.of("e")), true)),
            true,
            1);
    assertThatThrownBy(() -> CrdtState.bottom(CrdtType.AW_SET).read(ofAField))
        .hasMessageContaining("has elements, not fields");
    assertThatThrownBy(() -> CrdtState.bottom(CrdtType.OR_MAP).read(ofAnElement))
        .hasMessageContaining("has fields, not elements");
    assertThatThrownBy(() -> CrdtState.bottom(CrdtType.PN_COUNTER).read(ofAField))
        .isInstanceOf(OsierException.class);
  }
}
