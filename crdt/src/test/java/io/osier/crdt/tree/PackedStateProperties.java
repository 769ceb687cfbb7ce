package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.DotStore;
import io.osier.crdt.Encoded;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.expiry.DeadlineOrder;
import io.osier.crdt.expiry.PartDeadlines;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.crdt.state.Updates;
import io.osier.crdt.types.EntryEditor;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.TaggedSet;
import io.osier.crdt.types.TypeRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
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
import org.junit.jupiter.api.Test;

/** Large states that were packed, written and read at any time, against ones that never were. */
final class PackedStateProperties {
  /** The first one comes late: then all numbers of the others are one more. */
  private static final List<ReplicaId> ORIGINS =
      List.of(new ReplicaId("b", 1), new ReplicaId("c", 3), new ReplicaId("a", 2));

  private static final List<CrdtType> TYPES =
      List.of(
          CrdtType.G_SET,
          CrdtType.AW_SET,
          CrdtType.RW_SET,
          CrdtType.LWW_SET_ADD_BIAS,
          CrdtType.LWW_SET_REMOVE_BIAS,
          CrdtType.OR_MAP);

  private static final int ELEMENTS = 2_500;
  private static final int FIELDS_AT_ONCE = 250;

  /** The first deadline; some are up to a hundred milliseconds later. */
  private static final long DUE = 1_000;

  private enum Kind {
    ADD,
    REMOVE,
    CLEAR,
    ADD_WITH_DEADLINE,
    EXPIRE,
    PERSIST,
    END,
    PACK,
    READ,
    MEET
  }

  /**
   * What one of two datacenters does.
   *
   * @param detail by which origin
   */
  private record Step(Kind kind, int site, int from, int count, int detail) {}

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

  private static Value element(int i) {
    return Value.of(String.format("%04d", i % ELEMENTS));
  }

  private static FieldId field(int i) {
    List<CrdtType> types = List.of(CrdtType.PN_COUNTER, CrdtType.LWW_REGISTER, CrdtType.AW_SET);
    return new FieldId(String.format("%04d", i % ELEMENTS), types.get(i % types.size()));
  }

  /**
   * Of a map one field in many is a large set: leaves with such ones are too large to be packed.
   */
  private static Operation ofField(int i, int number) {
    return switch (field(i).type()) {
      case PN_COUNTER -> new Operation.Increment(number);
      case LWW_REGISTER -> new Operation.Assign(Value.of("v" + number));
      default ->
          new Operation.Add(
              IntStream.range(0, i % 100 == 2 ? 1_200 : 1 + number % 3)
                  .mapToObj(k -> Value.of("element" + k * number))
                  .toList());
    };
  }

  private static Optional<Operation> operation(CrdtType type, Step step, int number) {
    IntStream keys = IntStream.range(step.from, step.from + step.count);
    return switch (step.kind) {
      case ADD ->
          Optional.of(
              type == CrdtType.OR_MAP
                  ? new Operation.UpdateFields(
                      keys.limit(FIELDS_AT_ONCE)
                          .mapToObj(i -> new Operation.FieldUpdate(field(i), ofField(i, number)))
                          .toList())
                  : new Operation.Add(keys.mapToObj(PackedStateProperties::element).toList()));
      case REMOVE ->
          type == CrdtType.OR_MAP
              ? Optional.of(
                  new Operation.RemoveFields(keys.mapToObj(i -> field(i).name()).toList()))
              : type == CrdtType.G_SET
                  ? Optional.empty()
                  : Optional.of(
                      new Operation.Remove(keys.mapToObj(PackedStateProperties::element).toList()));
      case CLEAR -> Optional.of(new Operation.Clear());
      case ADD_WITH_DEADLINE ->
          operation(type, new Step(Kind.ADD, step.site, step.from, step.count, 0), number)
              .map(add -> new Operation.WithPartDeadlines(add, deadline(number)));
      case EXPIRE -> Optional.of(new Operation.ExpireParts(parts(type, keys), deadline(number)));
      case PERSIST -> Optional.of(new Operation.PersistParts(parts(type, keys)));
      default -> Optional.empty();
    };
  }

  private static List<Part> parts(CrdtType type, IntStream keys) {
    return keys.mapToObj(i -> part(type, i)).toList();
  }

  private static Part part(CrdtType type, int i) {
    return type == CrdtType.OR_MAP ? new Part.Field(field(i).name()) : new Part.Element(element(i));
  }

  /** Later updates give earlier ones as often as later ones. */
  private static Operation.Expire deadline(int number) {
    return new Operation.Expire(DUE + number * 37L % 100, false);
  }

  // ---------------------------------------------------------------- the property

  /** A datacenter's state twice: as it comes, and one that is packed now and then. */
  private static final class Site {
    CrdtState plain;
    CrdtState packed;

    Site(CrdtState state) {
      plain = state;
      packed = state;
    }

    void join(CrdtState ofPlain, CrdtState ofPacked) {
      plain = plain.join(ofPlain);
      packed = packed.join(ofPacked);
    }
  }

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
      Site site = sites.get(step.site);
      Site other = sites.get(1 - step.site);
      // Each has an origin of its own, and late ones another one.
      int at = step.detail == 0 ? 2 + step.site : step.site;
      ReplicaId origin = at == 3 ? new ReplicaId("a", 9) : ORIGINS.get(at);
      done++;
      switch (step.kind) {
        case PACK -> site.packed = site.packed.packLeaves();
        case READ -> site.packed = reread(site.packed);
        case MEET -> site.join(other.plain, other.packed);
        default -> {
          long number = numbers[at];
          numbers[at] += 10_000;
          int time = 1 + step.detail;
          int made = done;
          Function<CrdtState, Optional<CrdtState>> update =
              state -> {
                long last = state.context().last(origin);
                return step.kind == Kind.END
                    ? Updates.prepareExpiry(
                        state,
                        DUE + 50,
                        step.count,
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

  private static CrdtState reread(CrdtState state) {
    return StateCodec.unpack(
        state.form(), true, state.context().replicas(), new WireInput(state.packed()));
  }

  private static void checkSame(Site site) {
    CrdtState packed = site.packed;
    CrdtState plain = site.plain;
    same(packed, plain);
    same(plain, packed);
    assertThat(packed).hasSameHashCodeAs(plain);
    assertThat(Arrays.equals(packed.packed(), plain.packed())).isTrue();
    assertThat(Arrays.equals(Encoded.encode(packed), Encoded.encode(plain))).isTrue();
    assertThat(Arrays.equals(content(packed), content(plain))).as("no replica known").isTrue();
    same(Encoded.decode(Encoded.encode(packed)), plain);
    assertThat(packed.sizeBytes()).isEqualTo(plain.sizeBytes());
    assertThat(packed.isBottom()).isEqualTo(plain.isBottom());
    assertThat(packed.isSpent()).isEqualTo(plain.isSpent());
    same(packed.trimmed(), plain.trimmed());
    assertThat(packed.latestTimestamp()).isEqualTo(plain.latestTimestamp());
    same(packed.read(new Query.Whole()), plain.read(new Query.Whole()));
    assertThat(packed.read(new Query.Size())).isEqualTo(plain.read(new Query.Size()));
    for (int i = 0; i < ELEMENTS; i += 311) {
      boolean fields = packed.type() == CrdtType.OR_MAP;
      Query one =
          fields
              ? new Query.Select(List.of(field(i).name(), "none"))
              : new Query.Contains(element(i));
      same(packed.read(one), plain.read(one));
      Part part = part(packed.type(), i);
      for (boolean down : new boolean[] {true, false}) {
        Query page =
            new Query.Range(
                Optional.of(new Query.Bound(part, down)), Optional.empty(), down, 1 + i % 200);
        same(packed.read(page), plain.read(page));
      }
    }
    checkDeadlines(packed, plain);
    checkSums(packed);
    checkSums(packed.packLeaves());
    checkSums(plain);
  }

  private static void checkDeadlines(CrdtState packed, CrdtState plain) {
    // Both know what readers saw before the last update; this one does not.
    CrdtState anew = Encoded.decode(Encoded.encode(plain));
    assertThat(packed.overAt()).isEqualTo(plain.overAt());
    assertThat(packed.deadlineOrigin()).isEqualTo(plain.deadlineOrigin());
    assertThat(packed.mortalParts()).isEqualTo(plain.mortalParts());
    for (long millis : new long[] {0, DUE + 30, DUE + 70, DUE + 100}) {
      assertThat(packed.isNothing(millis)).isEqualTo(plain.isNothing(millis));
      same(packed.at(millis), plain.at(millis));
      same(plain.at(millis), anew.at(millis));
      same(plain.at(millis).overAt(), anew.at(millis).overAt());
      assertThat(packed.at(millis).overAt()).isEqualTo(plain.at(millis).overAt());
    }
    for (int i = 0; i < ELEMENTS; i += 311) {
      Part part = part(packed.type(), i);
      assertThat(packed.deadline(part)).isEqualTo(plain.deadline(part));
    }
  }

  private static void checkSums(CrdtState state) {
    checkSums(state.store());
    PartDeadlines<?> deadlines = state.expiry().parts();
    if (!deadlines.isEmpty()) {
      checkSums(deadlines, (EntryStore<?, ?, ?>) state.store());
    }
  }

  private static <K extends Comparable<K>> void checkSums(
      PartDeadlines<?> deadlines, EntryStore<?, K, ?> content) {
    @SuppressWarnings("unchecked") // of one object
    PartDeadlines<K> parts = (PartDeadlines<K>) deadlines;
    long loose =
        looseBytes(parts.cells, PartDeadlines.packing(content, List.of()))
            + looseBytes(parts.order.dues, DeadlineOrder.packing(content));
    assertThat(parts.looseHeapBytes()).isEqualTo(loose);
  }

  /** Without thousands of elements in a message. */
  private static void same(Object one, Object other) {
    assertThat(one.equals(other)).isTrue();
  }

  private static byte[] content(CrdtState state) {
    return WireOutput.bytesOf(out -> StateCodec.writeContent(out, state));
  }

  /** What is counted along the way agrees with what a walk finds. */
  private static <K extends Comparable<K>, V> void checkSums(DotStore<?> store) {
    if (!(store instanceof EntryStore<?, ?, ?>)) {
      return;
    }
    @SuppressWarnings("unchecked") // a store of some type
    EntryStore<?, K, V> cells = (EntryStore<?, K, V>) store;
    EntryTree<K, V> map = (EntryTree<K, V>) cells.cells();
    long loose = looseBytes(map, new LeafPacking<>(cells.codecType(), List.of()));
    assertThat(cells.looseHeapBytes()).isEqualTo(loose);
    for (TreeEntry<K, V> entry : map) {
      if (entry.cell() instanceof DotStore<?> field) {
        checkSums(field);
      }
    }
  }

  /** What the leaves that are not settled take, by a walk. */
  private static <K extends Comparable<K>, V> long looseBytes(
      EntryTree<K, V> map, LeafPacking<K, V> any) {
    PackedLeafProperties.Nodes nodes = PackedLeafProperties.Nodes.of(map);
    assertThat(map.settledHeapBytes()).isEqualTo(nodes.settledHeapBytes);
    return nodes.looseLeaves.stream().mapToLong(any::entriesHeapBytes).sum();
  }

  // ---------------------------------------------------------------- bytes

  private static CrdtState large(CrdtType type) {
    CrdtState state = CrdtState.bottom(type);
    for (int from = 0; from < ELEMENTS; from += FIELDS_AT_ONCE) {
      Step step = new Step(Kind.ADD, 0, from, FIELDS_AT_ONCE, 0);
      ReplicaId origin = ORIGINS.get(from / FIELDS_AT_ONCE % 2);
      long last = state.context().last(origin);
      Operation operation = operation(type, step, 1).orElseThrow();
      state = state.join(state.prepare(operation, origin, last + 1, last, 1, 0));
    }
    return state;
  }

  private static DotStore<?> read(CrdtType type, byte[] content, List<ReplicaId> packedBy) {
    WireInput in = new WireInput(content);
    large(type).context().replicas().forEach(in::presetReplica);
    return Codec.readAll(in, "a content", i -> TypeRegistry.read(type, i, packedBy));
  }

  private static byte[] write(DotStore<?> store, List<ReplicaId> replicas) {
    return WireOutput.bytesOf(
        out -> {
          replicas.forEach(out::presetReplica);
          store.write(out);
        });
  }

  /** Damaged bytes are refused when they are read, or what was read is sound. */
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
    return Arbitraries.of(TYPES.subList(0, 5));
  }

  /** Not only within a leaf, also from one to the next. */
  @Test
  void entriesThatAreNotInOrder_areRefused() {
    int each = write(setOf(1), List.of()).length - write(setOf(0), List.of()).length;
    byte[] bytes = write(setOf(ELEMENTS), List.of(ORIGINS.getFirst()));
    byte[] all = Arrays.copyOf(bytes, bytes.length);
    int entry = (bytes.length - 2) / ELEMENTS;
    assertThat(each).isGreaterThan(entry); // which names the replica
    for (int first : List.of(5, TreeNode.LEAF_MAX - 1, ELEMENTS - 2)) {
      byte[] damaged = all.clone();
      System.arraycopy(all, 2 + entry * first, damaged, 2 + entry * (first + 1), entry);
      assertThatThrownBy(() -> readSet(damaged))
          .isInstanceOf(MalformedException.class)
          .hasMessageContaining("not in order");
    }
    same(readSet(all), setOf(ELEMENTS));
  }

  /** Each with the same dot, so that all entries have one length. */
  private static TaggedSet setOf(int count) {
    EntryEditor<TaggedSet, Value, DotSet> set = TaggedSet.ADD_WINS.edit();
    for (int i = 0; i < count; i++) {
      set.put(element(i), DotSet.of(new Dot(ORIGINS.getFirst(), 1)));
    }
    return set.done();
  }

  private static TaggedSet readSet(byte[] bytes) {
    WireInput in = new WireInput(bytes);
    in.presetReplica(ORIGINS.getFirst());
    return TaggedSet.ADD_WINS.read(in, List.of(ORIGINS.getFirst()));
  }

  /** A dot of a replica that the context does not have: its name would be in one leaf alone. */
  @Test
  void replicasThatTheContextLacks_areKept() {
    TaggedSet set = setOf(ELEMENTS);
    byte[] bytes = write(set, List.of());
    List<ReplicaId> others = List.of(ORIGINS.get(1));
    TaggedSet read = TaggedSet.ADD_WINS.read(new WireInput(bytes), others);
    same(read, set);
    for (List<ReplicaId> preset : List.of(List.<ReplicaId>of(), others, ORIGINS)) {
      assertThat(write(read, preset)).isEqualTo(write(set, preset));
    }
  }

  /** Reading packs what is large, and only that. */
  @Test
  void largeStates_arePackedWhenTheyAreRead() {
    for (CrdtType type : TYPES) {
      CrdtState read = Encoded.decode(Encoded.encode(large(type)));
      assertThat(read.looseHeapBytes()).as("%s", type).isZero();
      assertThat(read.packLeaves() == read).isTrue();
      assertThat(large(type).looseHeapBytes()).isGreaterThan(100L * 2_000);
    }
    TaggedSet small = setOf(EntryStore.LOOSE_MAX);
    byte[] bytes = write(small, List.of(ORIGINS.getFirst()));
    assertThat(readSet(bytes).looseHeapBytes()).isEqualTo(small.looseHeapBytes());
  }

  /** What readers see of it is kept beside it, and nobody counts that. */
  @Test
  void whatIsLeftOfManyThatAreOver_isPacked() {
    for (CrdtType type : TYPES) {
      CrdtState state = large(type);
      List<Part> parts = parts(type, IntStream.range(0, ELEMENTS / 2));
      Operation expire = new Operation.ExpireParts(parts, deadline(0));
      state = state.join(state.prepare(expire, ORIGINS.get(1), 90_000, 0, 2, 0)).packLeaves();
      CrdtState left = state.at(DUE);
      assertThat(left.read(new Query.Size())).isEqualTo(new Reading.Count(ELEMENTS / 2));
      assertThat(left.looseHeapBytes()).as("%s", type).isZero();
    }
  }

  /** An update copies one leaf or divides it, and nothing is left to be packed. */
  @Test
  void anUpdate_changesOneLeaf() {
    CrdtState read = Encoded.decode(Encoded.encode(large(CrdtType.AW_SET)));
    Operation add = new Operation.Add(List.of(Value.of("0700x")));
    CrdtState after = read.join(read.prepare(add, ORIGINS.get(1), 9_000, 1, 3, 0));
    assertThat(after.looseHeapBytes()).isZero();
    assertThat(after.packLeaves() == after).isTrue();
    assertThat(newLeaves(read, after)).hasSizeBetween(1, 2).allMatch(PackedLeaf.class::isInstance);
    Operation remove = new Operation.Remove(List.of(Value.of("0700x")));
    CrdtState again = after.join(after.prepare(remove, ORIGINS.get(1), 9_100, 9_000, 4, 0));
    assertThat(again.looseHeapBytes()).isZero();
    assertThat(newLeaves(after, again)).hasSize(1);
  }

  /** An update of many neighbours unpacks their leaf, and packing again looks at no other one. */
  @Test
  void anUpdateOfManyNeighbours_unpacksTheirLeaf() {
    CrdtState read = Encoded.decode(Encoded.encode(large(CrdtType.AW_SET)));
    Operation add =
        new Operation.Add(
            IntStream.range(0, 2 * TreeEdit.SPLICES_MAX)
                .mapToObj(i -> Value.of("0700x" + i))
                .toList());
    CrdtState after = read.join(read.prepare(add, ORIGINS.get(1), 9_000, 1, 3, 0));
    assertThat(after.looseHeapBytes()).isPositive();
    assertThat(newLeaves(read, after))
        .hasSizeBetween(1, 2)
        .anyMatch(TreeNode.Leaf.class::isInstance);
    // One update in a packed leaf and in that one: each entry is counted where it is.
    Operation remove = new Operation.Remove(List.of(Value.of("0100"), Value.of("0700x7")));
    checkSums(after.join(after.prepare(remove, ORIGINS.get(1), 9_100, 9_015, 4, 0)).store());
    CrdtState packed = after.packLeaves();
    assertThat(packed.looseHeapBytes()).isZero();
    assertThat(newLeaves(after, packed))
        .hasSizeBetween(1, 2)
        .allMatch(PackedLeaf.class::isInstance);
  }

  @Test
  void lookups_unpackNothing() {
    CrdtState read = Encoded.decode(Encoded.encode(large(CrdtType.AW_SET)));
    // A lookup alone unpacks nothing, also one of a removal of what is not there.
    Operation remove = new Operation.Remove(List.of(Value.of("0700x")));
    CrdtState same = read.join(read.prepare(remove, ORIGINS.get(1), 9_000, 1, 3, 0));
    assertThat(same.looseHeapBytes()).isZero();
    assertThat(same.trimmed().looseHeapBytes()).isZero();
    assertThat(same.join(read).looseHeapBytes()).isZero();
  }

  private static EntryTree<?, ?> cells(CrdtState state) {
    Object cells = ((EntryStore<?, ?, ?>) state.store()).cells();
    return (EntryTree<?, ?>) cells;
  }

  private static List<TreeNode> newLeaves(CrdtState before, CrdtState after) {
    List<TreeNode> known = leaves(cells(before));
    List<TreeNode> leaves = leaves(cells(after));
    leaves.removeIf(leaf -> known.stream().anyMatch(k -> k == leaf));
    return leaves;
  }

  /** Fields of a leaf are changed beside one that has packed leaves itself, and that one too. */
  @Test
  void nestedPackedLeaves_areRightWhenTheLeafAroundThemChanges() {
    Site site = new Site(CrdtState.bottom(CrdtType.OR_MAP));
    long[] last = {0};
    apply(site, last, fields(IntStream.range(0, 300)));
    Operation many =
        new Operation.Add(IntStream.range(0, 1_100).mapToObj(i -> Value.of(5_000L + i)).toList());
    FieldId large = new FieldId("0150", CrdtType.AW_SET);
    apply(site, last, updateOf(large, many));
    site.packed = reread(site.packed.packLeaves()).packLeaves();
    assertThat(site.packed.looseHeapBytes()).isZero();
    assertThat(site.packed.store().heapBytes()).isLessThan(40_000);

    apply(site, last, fields(IntStream.of(149)));
    apply(site, last, fields(IntStream.of(151)));
    apply(site, last, new Operation.RemoveFields(List.of("0148")));
    assertThat(site.packed.looseHeapBytes()).as("beside it").isZero();
    apply(site, last, updateOf(large, new Operation.Add(List.of(Value.of(7L)))));
    assertThat(site.packed.looseHeapBytes()).as("a large field is not spliced").isPositive();
    apply(site, last, fields(IntStream.of(152)));
    site.packed = site.packed.packLeaves();
    CrdtState packed = site.packed;
    apply(site, last, new Operation.RemoveFields(List.of("0150")));
    apply(site, last, fields(IntStream.of(153)));
    assertThat(newLeaves(packed, site.packed))
        .as("one is joined with its neighbour, one spliced")
        .hasSize(2)
        .anyMatch(TreeNode.Leaf.class::isInstance)
        .anyMatch(PackedLeaf.class::isInstance);
  }

  private static Operation fields(IntStream numbers) {
    return new Operation.UpdateFields(
        numbers
            .mapToObj(i -> new FieldId(String.format("%04d", i), CrdtType.LWW_REGISTER))
            .map(f -> new Operation.FieldUpdate(f, new Operation.Assign(Value.of("v" + f.name()))))
            .toList());
  }

  private static Operation updateOf(FieldId field, Operation operation) {
    return new Operation.UpdateFields(field, operation);
  }

  private static void apply(Site site, long[] last, Operation operation) {
    ReplicaId origin = ORIGINS.getFirst();
    CrdtState delta = site.plain.prepare(operation, origin, last[0] + 1, last[0], 1 + last[0], 0);
    last[0] = delta.context().last(origin);
    site.join(delta, delta);
    checkSame(site);
  }

  private static List<TreeNode> leaves(EntryTree<?, ?> map) {
    List<TreeNode> leaves = new ArrayList<>();
    List<TreeNode> nodes = new ArrayList<>(List.of(map.root()));
    while (!nodes.isEmpty()) {
      TreeNode node = nodes.removeLast();
      if (node instanceof TreeNode.Inner inner) {
        nodes.addAll(Arrays.asList(inner.children));
      } else {
        leaves.add(node);
      }
    }
    return leaves;
  }
}
