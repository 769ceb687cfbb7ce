package io.osier.crdt.state;

import static io.osier.crdt.state.DecomposedSite.KEYS;
import static io.osier.crdt.state.DecomposedSite.element;
import static io.osier.crdt.state.DecomposedSite.field;
import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.KeyOrder;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.tree.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/**
 * Objects whose entries lie outside, written and read at any time, compared with objects in memory.
 */
final class DecompositionProperties {
  private static final List<CrdtType> TYPES =
      Stream.of(CrdtType.values()).filter(CrdtType::hasParts).toList();

  private enum Kind {
    ADD,
    REMOVE,
    CLEAR,
    EXPIRE,
    MEET,
    PULL,
    WRITE,
    REBASE,
    RELOAD,
    PACK,
    END
  }

  private record Step(Kind kind, int site, int from, int count) {}

  @Provide
  Arbitrary<CrdtType> types() {
    return Arbitraries.of(TYPES);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(10, Kind.ADD),
            Tuple.of(6, Kind.REMOVE),
            Tuple.of(1, Kind.CLEAR),
            Tuple.of(1, Kind.EXPIRE),
            Tuple.of(4, Kind.MEET),
            Tuple.of(4, Kind.PULL),
            Tuple.of(8, Kind.WRITE),
            Tuple.of(6, Kind.REBASE),
            Tuple.of(3, Kind.RELOAD),
            Tuple.of(2, Kind.PACK),
            Tuple.of(2, Kind.END));
    return Combinators.combine(
            kinds,
            Arbitraries.integers().between(0, 1),
            Arbitraries.integers().between(0, KEYS - 1),
            Arbitraries.integers().between(1, 4))
        .as(Step::new)
        .list()
        .ofMaxSize(50);
  }

  private static Operation ofField(int i, int number) {
    return switch (field(i).type()) {
      case PN_COUNTER -> new Operation.Increment(number);
      case LWW_REGISTER -> new Operation.Assign(Value.of(number));
      case AW_SET -> new Operation.Add(List.of(Value.of(number % 3)));
      default ->
          new Operation.UpdateFields(
              new FieldId("in", CrdtType.PN_COUNTER), new Operation.Increment(1));
    };
  }

  private static Optional<Operation> operation(CrdtType type, Step step, int number) {
    IntStream keys = IntStream.range(step.from, step.from + step.count);
    boolean map = type == CrdtType.OR_MAP;
    return switch (step.kind) {
      case ADD ->
          Optional.of(
              map
                  ? new Operation.UpdateFields(
                      keys.mapToObj(i -> new Operation.FieldUpdate(field(i), ofField(i, number)))
                          .toList())
                  : new Operation.Add(keys.mapToObj(DecomposedSite::element).toList()));
      case REMOVE ->
          map
              ? Optional.of(
                  new Operation.RemoveFields(keys.mapToObj(i -> field(i).name()).toList()))
              : type == CrdtType.G_SET
                  ? Optional.empty()
                  : Optional.of(
                      new Operation.Remove(keys.mapToObj(DecomposedSite::element).toList()));
      case CLEAR -> Optional.of(new Operation.Clear());
      case EXPIRE ->
          Optional.of(
              new Operation.ExpireParts(
                  List.of(
                      map
                          ? new Part.Field(field(step.from).name())
                          : new Part.Element(element(step.from))),
                  new Operation.Expire(1 + step.count, false)));
      default -> Optional.empty();
    };
  }

  @Property(tries = 1_000)
  void decomposedAtAnyTime_isTheSame(
      @ForAll("types") CrdtType type, @ForAll("steps") List<Step> steps) {
    List<DecomposedSite> sites =
        List.of(new DecomposedSite(type, "b"), new DecomposedSite(type, "a"));
    int number = 0;
    for (Step step : steps) {
      DecomposedSite site = sites.get(step.site);
      DecomposedSite other = sites.get(1 - step.site);
      number++;
      switch (step.kind) {
        case MEET -> site.join(number % 2 == 0 ? other.plain : other.decomposed);
        case PULL -> site.pull(other, 7 * number);
        case WRITE -> site.write();
        case REBASE -> site.rebase();
        case RELOAD -> site.reload();
        case PACK -> site.decomposed = site.decomposed.packLeaves();
        case END -> site.end(other);
        default -> operation(type, step, number).ifPresent(site::update);
      }
      site.check();
    }
  }

  /** Objects large enough for leaves to be packed and divided, and for several pages outside. */
  @Property(tries = 40)
  void many_areTheSame(
      @ForAll @Size(max = 12) List<Kind> kinds, @ForAll @Size(12) List<Integer> draws) {
    DecomposedSite site = new DecomposedSite(CrdtType.AW_SET, "a");
    site.update(new Operation.Add(numbered(0, 2_000, 2)));
    for (int i = 0; i < kinds.size(); i++) {
      int from = Math.floorMod(draws.get(i), 2_500);
      switch (kinds.get(i)) {
        case ADD, EXPIRE -> site.update(new Operation.Add(numbered(from, from + 300, 3)));
        case REMOVE, CLEAR -> site.update(new Operation.Remove(numbered(from, from + 400, 1)));
        case WRITE -> site.write();
        case REBASE, MEET, PULL -> site.rebase();
        case RELOAD -> site.reload();
        case PACK -> site.decomposed = site.decomposed.packLeaves();
        case END -> site.end(new DecomposedSite(CrdtType.AW_SET, "b"));
      }
      site.check();
    }
  }

  private static List<Value> numbered(int from, int to, int step) {
    List<Value> elements = new ArrayList<>();
    for (int i = from; i < to; i += step) {
      elements.add(Value.of("%05d".formatted(i)));
    }
    return elements;
  }

  /** Elements that were added and removed again since are in the source, and must not come back. */
  @Test
  void removedSinceItWasWritten_staysAway() {
    DecomposedSite site = new DecomposedSite(CrdtType.AW_SET, "a");
    site.update(new Operation.Add(numbered(0, 10, 1)));
    site.write();
    CrdtState written = site.decomposed;
    site.update(new Operation.Add(List.of(Value.of("x"))));
    site.write();
    EntrySource later = site.disk.source();
    site.update(new Operation.Remove(List.of(Value.of("x"))));
    site.decomposed = Decomposition.rebased(site.decomposed, written, later);
    site.check();
    assertThat(Decomposition.inMemory(site.decomposed)).isEqualTo(1);
  }

  /** Reading it would take as much of the heap, and it does not fit into an answer. */
  @Test
  void whatIsTooLargeForAnAnswer_isNotRead() {
    List<Value> large = IntStream.range(0, 66).mapToObj(DecompositionProperties::ofOneMiB).toList();
    CrdtState state = CrdtState.bottom(CrdtType.AW_SET);
    state = state.join(state.prepare(new Operation.Add(large), new ReplicaId("a", 1), 1, 0, 1, 0));
    CrdtState decomposed = Decomposition.of(state);
    refused(ErrorCode.VALUE_TOO_LARGE, () -> decomposed.read(new Query.Whole()))
        .hasMessageContaining("read it in part");
    assertThat(decomposed.read(new Query.Size())).isEqualTo(new Reading.Count(66));
    assertThat(decomposed.read(new Query.Contains(large.getFirst())))
        .isEqualTo(new Reading.Flag(true));
  }

  private static Value ofOneMiB(int number) {
    byte[] bytes = new byte[1 << 20];
    bytes[0] = (byte) number;
    return Value.of(bytes);
  }

  @Property
  void bytesOfKeys_areInTheirOrder(
      @ForAll("values") Value a, @ForAll("values") Value b, @ForAll String c, @ForAll String d) {
    assertThat(KeyOrder.value(KeyOrder.of(a))).isEqualTo(a);
    assertThat(sign(Arrays.compareUnsigned(KeyOrder.of(a), KeyOrder.of(b))))
        .isEqualTo(sign(a.compareTo(b)));
    for (CrdtType type : List.of(CrdtType.PN_COUNTER, CrdtType.OR_MAP)) {
      FieldId one = new FieldId("." + c, type);
      FieldId other = new FieldId("." + d, CrdtType.AW_SET);
      assertThat(KeyOrder.field(KeyOrder.of(one))).isEqualTo(one);
      assertThat(sign(Arrays.compareUnsigned(KeyOrder.of(one), KeyOrder.of(other))))
          .isEqualTo(sign(one.compareTo(other)));
    }
  }

  private static int sign(int order) {
    return Integer.signum(order);
  }

  @Provide
  Arbitrary<Value> values() {
    return Arbitraries.oneOf(
        Arbitraries.integers().between(0, KEYS - 1).map(DecomposedSite::element),
        Arbitraries.longs().map(Value::of),
        Arbitraries.doubles().map(Value::of),
        Arbitraries.of(0.0, -0.0, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY)
            .map(Value::of),
        Arbitraries.bytes().array(byte[].class).ofMaxSize(4).map(Value::of),
        Arbitraries.strings()
            .ofMaxLength(4)
            .filter(DecompositionProperties::isText)
            .map(Value::of));
  }

  private static boolean isText(String text) {
    return text.chars().noneMatch(c -> Character.isSurrogate((char) c));
  }
}
