package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.Encoded;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.expiry.DeadlineOrder;
import io.osier.crdt.expiry.PartDeadlines;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.TypeRegistry;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Large objects, packed and unpacked, and the results that must be the same for both. */
final class PackedStates {
  private PackedStates() {}

  /** The first one is used late: then the numbers of all others grow by one. */
  static final List<ReplicaId> ORIGINS =
      List.of(new ReplicaId("b", 1), new ReplicaId("c", 3), new ReplicaId("a", 2));

  static final List<CrdtType> TYPES =
      Stream.of(CrdtType.values()).filter(CrdtType::hasParts).toList();

  static final int ELEMENTS = 2_500;
  static final int FIELDS_AT_ONCE = 250;

  /** The first deadline; some are up to a hundred milliseconds later. */
  static final long DUE = 1_000;

  static Value element(int i) {
    return Value.of(String.format("%04d", i % ELEMENTS));
  }

  static FieldId field(int i) {
    List<CrdtType> types = List.of(CrdtType.PN_COUNTER, CrdtType.LWW_REGISTER, CrdtType.AW_SET);
    return new FieldId(String.format("%04d", i % ELEMENTS), types.get(i % types.size()));
  }

  enum Kind {
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
   * A step of one of two datacenters.
   *
   * @param detail chooses the origin
   */
  record Step(Kind kind, int site, int from, int count, int detail) {}

  /**
   * In a map, one field in many is a large set: leaves with such fields are too large to be packed.
   */
  static Operation ofField(int i, int number) {
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

  static Optional<Operation> operation(CrdtType type, Step step, int number) {
    IntStream keys = IntStream.range(step.from, step.from + step.count);
    return switch (step.kind) {
      case ADD ->
          Optional.of(
              type == CrdtType.OR_MAP
                  ? new Operation.UpdateFields(
                      keys.limit(FIELDS_AT_ONCE)
                          .mapToObj(i -> new Operation.FieldUpdate(field(i), ofField(i, number)))
                          .toList())
                  : new Operation.Add(keys.mapToObj(PackedStates::element).toList()));
      case REMOVE ->
          type == CrdtType.OR_MAP
              ? Optional.of(
                  new Operation.RemoveFields(keys.mapToObj(i -> field(i).name()).toList()))
              : type == CrdtType.G_SET
                  ? Optional.empty()
                  : Optional.of(
                      new Operation.Remove(keys.mapToObj(PackedStates::element).toList()));
      case CLEAR -> Optional.of(new Operation.Clear());
      case ADD_WITH_DEADLINE ->
          operation(type, new Step(Kind.ADD, step.site, step.from, step.count, 0), number)
              .map(add -> new Operation.WithPartDeadlines(add, deadline(number)));
      case EXPIRE -> Optional.of(new Operation.ExpireParts(parts(type, keys), deadline(number)));
      case PERSIST -> Optional.of(new Operation.PersistParts(parts(type, keys)));
      default -> Optional.empty();
    };
  }

  static List<Part> parts(CrdtType type, IntStream keys) {
    return keys.mapToObj(i -> part(type, i)).toList();
  }

  static Part part(CrdtType type, int i) {
    return type == CrdtType.OR_MAP ? new Part.Field(field(i).name()) : new Part.Element(element(i));
  }

  /** Later updates give earlier deadlines as often as later ones. */
  static Operation.Expire deadline(int number) {
    return new Operation.Expire(DUE + number * 37L % 100, false);
  }

  // ---------------------------------------------------------------- the property

  /** A datacenter's state twice: unpacked, and packed now and then. */
  static final class Site {
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

  static CrdtState reread(CrdtState state) {
    return StateCodec.unpack(
        state.form(), true, state.context().replicas(), new WireInput(StateCodec.pack(state)));
  }

  static void checkSame(Site site) {
    CrdtState packed = site.packed;
    CrdtState plain = site.plain;
    same(packed, plain);
    same(plain, packed);
    assertThat(packed).hasSameHashCodeAs(plain);
    assertThat(Arrays.equals(StateCodec.pack(packed), StateCodec.pack(plain))).isTrue();
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

  static void checkDeadlines(CrdtState packed, CrdtState plain) {
    // Both states know what readers saw before the last update; this one does not.
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

  static void checkSums(CrdtState state) {
    checkSums(state.store());
    PartDeadlines<?> deadlines = state.expiry().parts();
    if (!deadlines.isEmpty()) {
      checkSums(deadlines, (EntryStore<?, ?, ?>) state.store());
    }
  }

  static <K extends Comparable<K>> void checkSums(
      PartDeadlines<?> deadlines, EntryStore<?, K, ?> content) {
    @SuppressWarnings("unchecked") // of one object
    PartDeadlines<K> parts = (PartDeadlines<K>) deadlines;
    long loose =
        looseBytes(parts.cells, PartDeadlines.packing(content, List.of()))
            + looseBytes(parts.order.dues, DeadlineOrder.packing(content));
    assertThat(parts.looseHeapBytes()).isEqualTo(loose);
  }

  /** Asserts equality without thousands of elements in the message. */
  static void same(Object one, Object other) {
    assertThat(one.equals(other)).isTrue();
  }

  static byte[] content(CrdtState state) {
    return WireOutput.bytesOf(out -> StateCodec.writeContent(out, state));
  }

  /** Checks that the sums that are kept up to date agree with those of a walk. */
  static <K extends Comparable<K>, V> void checkSums(DotStore<?> store) {
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

  /** Returns the bytes of the leaves that are not settled, by a walk. */
  static <K extends Comparable<K>, V> long looseBytes(EntryTree<K, V> map, LeafPacking<K, V> any) {
    Nodes nodes = Nodes.of(map);
    assertThat(map.settledHeapBytes()).isEqualTo(nodes.settledHeapBytes);
    return nodes.looseLeaves.stream().mapToLong(leaf -> leaf.entriesHeapBytes(any)).sum();
  }

  // ---------------------------------------------------------------- bytes

  static CrdtState large(CrdtType type) {
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

  static DotStore<?> read(CrdtType type, byte[] content, List<ReplicaId> packedBy) {
    WireInput in = new WireInput(content);
    large(type).context().replicas().forEach(in::presetReplica);
    return Codec.readAll(in, "a content", i -> TypeRegistry.read(type, i, packedBy));
  }

  static byte[] write(DotStore<?> store, List<ReplicaId> replicas) {
    return WireOutput.bytesOf(
        out -> {
          replicas.forEach(out::presetReplica);
          store.write(out);
        });
  }
}
