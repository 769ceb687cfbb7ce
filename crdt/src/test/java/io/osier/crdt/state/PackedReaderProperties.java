package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.History;
import io.osier.crdt.types.OrMap;
import io.osier.crdt.types.SetStore;
import io.osier.crdt.types.TypeRegistry;
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
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/** Compares the answers from the bytes of objects with the answers of the decoded objects. */
final class PackedReaderProperties {
  /**
   * Values of all kinds, some of them the beginnings of others, and texts whose orders differ by
   * form.
   */
  private static final List<Value> VALUES =
      Stream.concat(
              Stream.of("", "x", "xy", "y", "yé", "é", "\uFFFD", "\uD83D\uDE00").map(Value::of),
              Stream.of(
                  Value.of(new byte[0]),
                  Value.of(new byte[] {-1}),
                  Value.of(new byte[] {1, 2}),
                  Value.of(-5),
                  Value.of(300),
                  Value.of(-0.0),
                  Value.of(Double.NaN)))
          .toList();

  private static final List<String> NAMES = List.of("f", "fo", "g", "é", "z");

  private static final List<Query> QUERIES =
      Stream.<List<? extends Query>>of(
              List.of(
                  new Query.Whole(),
                  new Query.Size(),
                  new Query.Exists(),
                  new Query.Rights(),
                  new Query.Among(VALUES),
                  new Query.Range(Optional.empty(), Optional.empty(), false, 10),
                  new Query.Select(NAMES),
                  new Query.Select(List.of())),
              VALUES.stream().map(Query.Contains::new).toList(),
              NAMES.stream().map(name -> new Query.Select(List.of(name))).toList())
          .<Query>flatMap(List::stream)
          .toList();

  @Provide
  Arbitrary<History.Plan> plans() {
    return new History.Plans().get();
  }

  @Property(tries = 2_000)
  void bytesAnswer_asTheObject(@ForAll("plans") History.Plan plan) {
    History history = plan.run();
    for (History.Site site : history.sites) {
      check(site.state);
    }
    history.finish();
    check(history.sites.getFirst().state);
  }

  // ---------------------------------------------------------------- many elements and fields

  private record Step(int at, int what, boolean add, long timestamp) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 1),
            Arbitraries.integers().between(0, 59),
            Arbitraries.frequencyOf(
                Tuple.of(3, Arbitraries.just(true)), Tuple.of(1, Arbitraries.just(false))),
            Arbitraries.longs().between(1, 3))
        .as(Step::new)
        .list()
        .ofMaxSize(50);
  }

  @Provide
  Arbitrary<CrdtType> cellTypes() {
    return Arbitraries.of(
        Arrays.stream(CrdtType.values())
            .filter(t -> TypeRegistry.empty(t) instanceof EntryStore)
            .toList());
  }

  private static Operation operation(CrdtType type, Step step) {
    if (type == CrdtType.OR_MAP) {
      String name = NAMES.get(step.what % NAMES.size());
      List<CrdtType> types = Arrays.stream(CrdtType.values()).filter(CrdtType::isNestable).toList();
      CrdtType of = types.get(step.what % types.size());
      Operation update =
          switch (of) {
            case PN_COUNTER, G_COUNTER -> new Operation.Increment(step.what);
            case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
                new Operation.Assign(VALUES.get(step.what % 9));
            case STRING ->
                step.what % 2 == 0
                    ? new Operation.Append(VALUES.get(step.what % 9))
                    : new Operation.Assign(VALUES.get(step.what % 9));
            case EW_FLAG, DW_FLAG -> new Operation.SetFlag(step.what > 20);
            case OR_MAP ->
                new Operation.UpdateFields(
                    new FieldId(name, CrdtType.G_SET), new Operation.Add(VALUES));
            default -> new Operation.Add(VALUES.subList(0, step.what % 5));
          };
      return step.add
          ? new Operation.UpdateFields(new FieldId(name, of), update)
          : new Operation.RemoveFields(List.of(name));
    }
    List<Value> elements = List.of(VALUES.get(step.what % VALUES.size()));
    return step.add || type == CrdtType.G_SET
        ? new Operation.Add(elements)
        : new Operation.Remove(elements);
  }

  /** Returns states of two replicas that do not hear of each other. */
  private static List<CrdtState> states(CrdtType type, List<Step> steps) {
    CrdtState[] sites = {CrdtState.bottom(type), CrdtState.bottom(type)};
    long number = 0;
    for (Step step : steps) {
      number += 20;
      CrdtState site = sites[step.at];
      ReplicaId origin = new ReplicaId(step.at == 0 ? "b" : "a", 1 + step.at);
      long last = site.context().last(origin);
      sites[step.at] =
          site.join(site.prepare(operation(type, step), origin, number, last, step.timestamp, 0));
    }
    return List.of(sites[0], sites[1], sites[0].join(sites[1]));
  }

  @Property(tries = 1_000)
  void bytesOfSetsAndMaps_answerAsTheObject(
      @ForAll("cellTypes") CrdtType type, @ForAll("steps") List<Step> steps) {
    states(type, steps).forEach(PackedReaderProperties::check);
  }

  // ---------------------------------------------------------------- the check

  private static @Nullable PackedReader answer(CrdtState state, byte[] bytes, Query query) {
    return PackedReader.of(state.form(), state.context().replicas(), query, new WireInput(bytes));
  }

  private static void check(CrdtState state) {
    byte[] bytes = StateCodec.pack(state);
    for (Query query : QUERIES) {
      PackedReader answer = answer(state, bytes, query);
      assertThat(answer != null).as("%s of %s", query, state).isEqualTo(isAnswered(state, query));
      if (answer != null) {
        assertThat(answer).as("%s of %s", query, state).isEqualTo(decoded(state, query));
      }
    }
  }

  private static PackedReader decoded(CrdtState state, Query query) {
    return new PackedReader(state.type(), state.read(query), state.context().toVersionVector());
  }

  /** Whether the bytes are enough to answer; otherwise a read decodes the object as before. */
  private static boolean isAnswered(CrdtState state, Query query) {
    if (state.expires() || state.isBottom()) {
      return false;
    }
    return switch (query) {
      case Query.Exists q -> true;
      case Query.Whole q -> isSimple(state.store());
      case Query.Contains q -> state.store() instanceof SetStore;
      case Query.Size q -> state.store() instanceof EntryStore;
      case Query.Select q ->
          state.store() instanceof OrMap map
              && q.names().size() == 1
              && q.names().getFirst().chars().allMatch(c -> c < 0x80)
              && fieldsOf(map, q.names().getFirst()).allMatch(PackedReaderProperties::isSimple);
      default -> false;
    };
  }

  private static Stream<DotStore<?>> fieldsOf(OrMap map, String name) {
    return Arrays.stream(CrdtType.values())
        .map(type -> new FieldId(name, type))
        .filter(field -> map.find(field) != null)
        .map(map::cell);
  }

  /** Whether the store has a single value: not if several were written concurrently. */
  private static boolean isSimple(DotStore<?> store) {
    return !store.isBottom()
        && switch (store.type()) {
          case PN_COUNTER, G_COUNTER, EW_FLAG, DW_FLAG, STRING -> true;
          case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER -> writes(store) == 1;
          default -> false;
        };
  }

  /** Returns the first number in a register's bytes. */
  private static int writes(DotStore<?> register) {
    return new WireInput(WireOutput.bytesOf(register::write)).readCount(3);
  }

  // ---------------------------------------------------------------- wrong bytes

  /**
   * A reader that skips bytes misses some faults, but it answers nothing that the object would not.
   */
  @Property(tries = 3_000)
  void wrongBytes_failAsDecodingDoes_orAnswerAsTheObject(
      @ForAll("plans") History.Plan plan,
      @ForAll @IntRange(max = 500) int at,
      @ForAll byte other,
      @ForAll boolean isCut) {
    checkWrong(plan.run().sites.getFirst().state, at, other, isCut);
  }

  @Property(tries = 3_000)
  void wrongBytesOfSetsAndMaps_failAsDecodingDoes_orAnswerAsTheObject(
      @ForAll("cellTypes") CrdtType type,
      @ForAll("steps") List<Step> steps,
      @ForAll @IntRange(max = 500) int at,
      @ForAll byte other,
      @ForAll boolean isCut) {
    checkWrong(states(type, steps).getLast(), at, other, isCut);
  }

  private static void checkWrong(CrdtState state, int at, byte other, boolean isCut) {
    byte[] bytes = StateCodec.pack(state).clone();
    int place = bytes.length == 0 ? 0 : at % bytes.length;
    if (isCut) {
      bytes = Arrays.copyOf(bytes, place);
    } else if (bytes.length > 0) {
      bytes[place] = other;
    }
    CrdtState read = null;
    RuntimeException wrong = null;
    try {
      read =
          StateCodec.unpack(state.form(), true, state.context().replicas(), new WireInput(bytes));
    } catch (OsierException | KryoException | IllegalArgumentException e) {
      wrong = e;
    }
    for (Query query : QUERIES) {
      PackedReader answer = null;
      try {
        answer = answer(state, bytes, query);
      } catch (OsierException | KryoException | IllegalArgumentException e) {
        assertThat(wrong).as("%s of %s: %s", query, state, e).isNotNull();
      }
      if (answer != null && read != null) {
        assertThat(answer).as("%s of %s", query, read).isEqualTo(decoded(read, query));
      }
    }
  }

  /** Bytes behind the position where the element is, or would be, are not read. */
  @Property(tries = 100)
  void elementOrField_isReadUpToItsPlace(
      @ForAll @IntRange(max = 60) int place, @ForAll boolean isThere, @ForAll boolean isField) {
    CrdtType type = isField ? CrdtType.OR_MAP : CrdtType.AW_SET;
    CrdtState none = CrdtState.bottom(type);
    List<String> names = IntStream.range(100, 200).mapToObj(i -> "e" + i).toList();
    Operation all =
        isField
            ? new Operation.UpdateFields(
                names.stream().map(PackedReaderProperties::counterUpdate).toList())
            : new Operation.Add(names.stream().map(Value::of).toList());
    CrdtState state = none.join(none.prepare(all, new ReplicaId("a", 1), 1, 0, 1, 0));
    byte[] bytes = StateCodec.pack(state).clone();
    Arrays.fill(bytes, bytes.length * (place + 30) / 100, bytes.length, (byte) 0x7f); // no entries
    String name = names.get(place) + (isThere ? "" : "x");
    Query query = isField ? new Query.Select(List.of(name)) : new Query.Contains(Value.of(name));
    assertThat(answer(state, bytes, query)).isEqualTo(decoded(state, query));
  }

  private static Operation.FieldUpdate counterUpdate(String name) {
    return new Operation.FieldUpdate(
        new FieldId(name, CrdtType.PN_COUNTER), new Operation.Increment(1));
  }
}
