package io.osier.crdt.types;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Operations that a {@link History} draws; small alphabets, so that conflicts happen. */
final class DrawnOperations {
  private DrawnOperations() {}

  static Arbitrary<Operation> operations(CrdtType type, int depth) {
    return type == CrdtType.BOUNDED_COUNTER
        ? ownOperations(type, depth) // it cannot be cleared
        : Arbitraries.frequencyOf(
            Tuple.of(11, ownOperations(type, depth)),
            Tuple.of(1, Arbitraries.just(new Operation.Clear())),
            Tuple.of(depth == 0 ? 2 : 0, deadlines()),
            Tuple.of(depth == 0 ? 2 : 0, withDeadlines(type)),
            Tuple.of(depth == 0 && hasParts(type) ? 6 : 0, ofParts(type)));
  }

  private static Arbitrary<Operation> deadlines() {
    return Arbitraries.frequencyOf(
        Tuple.of(4, Arbitraries.longs().between(1, 3).map(at -> new Operation.Expire(at, false))),
        Tuple.of(1, Arbitraries.just(new Operation.Persist())));
  }

  private static boolean hasParts(CrdtType type) {
    return TypeRegistry.empty(type) instanceof EntryStore;
  }

  private static Arbitrary<Operation> ofParts(CrdtType type) {
    boolean fields = type == CrdtType.OR_MAP;
    Arbitrary<List<Part>> parts =
        fields
            ? names().map(name -> List.<Part>of(new Part.Field(name)))
            : elements().map(e -> e.stream().map(v -> (Part) new Part.Element(v)).toList());
    Arbitrary<Operation> updates = fields ? fieldUpdates(0) : elements().map(Operation.Add::new);
    Arbitrary<Operation.Expire> deadlines =
        Arbitraries.longs().between(1, 3).map(at -> new Operation.Expire(at, false));
    return Arbitraries.frequencyOf(
        Tuple.of(2, Combinators.combine(parts, deadlines).as(Operation.ExpireParts::new)),
        Tuple.of(3, Combinators.combine(updates, deadlines).as(Operation.WithPartDeadlines::new)),
        Tuple.of(1, parts.map(Operation.PersistParts::new)));
  }

  private static Arbitrary<Operation> withDeadlines(CrdtType type) {
    Arbitrary<Operation> updates =
        Arbitraries.frequencyOf(
            Tuple.of(7, ownOperations(type, 0)),
            Tuple.of(1, Arbitraries.just(new Operation.Clear())));
    return Combinators.combine(updates, Arbitraries.longs().between(1, 3))
        .as((update, at) -> new Operation.WithDeadline(update, new Operation.Expire(at, false)));
  }

  private static Arbitrary<Operation> ownOperations(CrdtType type, int depth) {
    return switch (type) {
      case PN_COUNTER -> increments(-3, 3);
      case G_COUNTER -> increments(0, 3);
      case STRING ->
          Arbitraries.frequencyOf(
              Tuple.of(2, texts().map(Operation.Assign::new)),
              Tuple.of(1, texts().map(Operation.Append::new)),
              Tuple.of(3, increments(-3, 3)),
              Tuple.of(
                  2,
                  Arbitraries.integers()
                      .between(-15, 15)
                      .map(n -> new Operation.IncrementDecimal(BigDecimal.valueOf(n, 1)))));
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          Arbitraries.integers().between(0, 2).map(n -> new Operation.Assign(Value.of(n)));
      case EW_FLAG, DW_FLAG -> Arbitraries.of(true, false).map(Operation.SetFlag::new);
      case G_SET -> elements().map(Operation.Add::new);
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          Arbitraries.frequencyOf(
              Tuple.of(2, elements().map(Operation.Add::new)),
              Tuple.of(1, elements().map(Operation.Remove::new)));
      case OR_MAP ->
          Arbitraries.frequencyOf(
              Tuple.of(3, fieldUpdates(depth)),
              Tuple.of(1, names().map(name -> new Operation.RemoveFields(List.of(name)))));
      case BOUNDED_COUNTER ->
          Arbitraries.frequencyOf(
              Tuple.of(1, bounds()),
              Tuple.of(
                  1,
                  Combinators.combine(
                          Arbitraries.longs().between(1, 3), Arbitraries.of(true, false))
                      .as((amount, up) -> new Operation.Transfer("b", amount, up))),
              Tuple.of(2, increments(-3, 3)));
    };
  }

  private static Arbitrary<Operation> increments(long min, long max) {
    return Arbitraries.longs().between(min, max).map(Operation.Increment::new);
  }

  private static Arbitrary<Value> texts() {
    return Arbitraries.of("7", "-2", "1.5", "x", "").map(Value::of);
  }

  private static Arbitrary<Operation> bounds() {
    // The datacenters that a replica knows while some are added.
    Arbitrary<List<String>> sharers =
        Arbitraries.of(
            List.of("a", "b", "c"),
            List.of("b", "c"),
            List.of("a", "b", "c", "d"),
            List.of("b", "c", "d"));
    return Combinators.combine(
            Arbitraries.longs().between(0, 9),
            Arbitraries.longs().between(0, 9),
            sharers,
            Arbitraries.of(0L, 0L, 3L, -2L))
        .as(
            (down, up, among, first) ->
                new Operation.Bound(first - down, first + up, among, first));
  }

  private static Arbitrary<Operation> fieldUpdates(int depth) {
    List<CrdtType> types =
        Arrays.stream(CrdtType.values())
            .filter(t -> t.isNestable() && (depth == 0 || t != CrdtType.OR_MAP))
            .toList();
    return Arbitraries.of(types)
        .flatMap(
            type ->
                Combinators.combine(names(), operations(type, depth + 1))
                    .as((name, op) -> new Operation.FieldUpdate(new FieldId(name, type), op)))
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .map(Operation.UpdateFields::new);
  }

  private static Arbitrary<String> names() {
    return Arbitraries.of("f", "g");
  }

  private static Arbitrary<List<Value>> elements() {
    return Arbitraries.of(Value.of("x"), Value.of("y")).list().ofMinSize(1).ofMaxSize(2);
  }
}
