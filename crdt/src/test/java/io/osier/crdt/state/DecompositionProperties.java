package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.FieldId;
import io.osier.crdt.KeyOrder;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.EntrySource;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Objects whose entries lie outside, written and read at any time, against ones in memory. */
final class DecompositionProperties {
  private static final List<CrdtType> TYPES =
      List.of(
          CrdtType.G_SET,
          CrdtType.AW_SET,
          CrdtType.RW_SET,
          CrdtType.LWW_SET_ADD_BIAS,
          CrdtType.LWW_SET_REMOVE_BIAS,
          CrdtType.OR_MAP);

  private static final int KEYS = 12;

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

  /** Elements of all kinds, also where UTF-8 and UTF-16 have different orders. */
  private static Value element(int i) {
    return switch (i % KEYS) {
      case 0 -> Value.of("");
      case 1 -> Value.of("a");
      case 2 -> Value.of("a\0");
      case 3 -> Value.of("\uFFFD");
      case 4 -> Value.of("\uD83D\uDE00");
      case 5 -> Value.of(-5);
      case 6 -> Value.of(5);
      case 7 -> Value.of(-1.5);
      case 8 -> Value.of(Double.NaN);
      case 9 -> Value.of(new byte[] {(byte) 0x80});
      case 10 -> Value.of(new byte[0]);
      default -> Value.of("é");
    };
  }

  private static FieldId field(int i) {
    List<CrdtType> types =
        List.of(CrdtType.PN_COUNTER, CrdtType.LWW_REGISTER, CrdtType.AW_SET, CrdtType.OR_MAP);
    List<String> names = List.of("a", "a\0", "a\0\0", "b", "\uFFFD", "\uD83D\uDE00");
    return new FieldId(names.get(i % names.size()), types.get(i % KEYS % types.size()));
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
                  : new Operation.Add(keys.mapToObj(DecompositionProperties::element).toList()));
      case REMOVE ->
          map
              ? Optional.of(
                  new Operation.RemoveFields(keys.mapToObj(i -> field(i).name()).toList()))
              : type == CrdtType.G_SET
                  ? Optional.empty()
                  : Optional.of(
                      new Operation.Remove(
                          keys.mapToObj(DecompositionProperties::element).toList()));
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

  /** A disk, of which copies are taken. */
  private static final class Disk {
    final NavigableMap<byte[], byte[]> entries;
    byte[] head = new byte[0];
    int form;
    List<ReplicaId> context = List.of();
    final List<ReplicaId> numbers;

    Disk() {
      entries = new TreeMap<>(Arrays::compareUnsigned);
      numbers = new ArrayList<>();
    }

    Disk(Disk other) {
      entries = new TreeMap<>(other.entries);
      head = other.head;
      form = other.form;
      context = other.context;
      numbers = new ArrayList<>(other.numbers);
    }

    void number(CrdtState state) {
      for (ReplicaId replica : state.context().replicas()) {
        if (!numbers.contains(replica)) {
          numbers.add(replica);
        }
      }
    }

    void writeHead(CrdtState state) {
      head = WireOutput.bytesOf(out -> writeHead(state, out));
      form = state.form();
      context = state.context().replicas();
    }

    private static void writeHead(CrdtState state, WireOutput out) {
      state.context().replicas().forEach(out::presetReplica);
      Decomposition.writeHead(state, out);
    }

    void put(byte[] key, byte @Nullable [] cell) {
      if (cell == null) {
        entries.remove(key);
      } else {
        entries.put(key, cell);
      }
    }

    Source source() {
      return new Source(new Disk(this), this);
    }

    CrdtState load() {
      return Decomposition.readHead(form, context, new WireInput(head), source());
    }
  }

  /** What was on a disk, and when that has ended what is there now. */
  private static final class Source implements EntrySource {
    private final Disk present;
    private Disk disk;

    Source(Disk then, Disk present) {
      this.disk = then;
      this.present = present;
    }

    void end() {
      disk = present;
    }

    boolean hasEnded() {
      return disk == present;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      return disk.entries.get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      NavigableMap<byte[], byte[]> all = down ? disk.entries.descendingMap() : disk.entries;
      NavigableMap<byte[], byte[]> rest = from == null ? all : all.tailMap(from, inclusive);
      return rest.entrySet().stream()
          .limit(max)
          .map(e -> new Entry(e.getKey(), e.getValue()))
          .toList();
    }

    @Override
    public List<ReplicaId> replicas() {
      return disk.numbers;
    }
  }

  /** A datacenter's object twice: in memory, and with a disk. */
  private static final class Site {
    final ReplicaId origin;
    final Disk disk = new Disk();
    CrdtState plain;
    CrdtState decomposed;
    final List<CrdtState> updates = new ArrayList<>();

    /** What was written last. */
    CrdtState written;

    /** What was written some time ago, since the source was taken. */
    @Nullable CrdtState candidate;

    /** What it was when it pulled last: mostly it has the same source. */
    CrdtState former;

    long number;

    Site(CrdtType type, String dc) {
      origin = new ReplicaId(dc, 1);
      plain = CrdtState.bottom(type);
      decomposed = Decomposition.of(plain);
      written = decomposed;
      former = decomposed;
      disk.writeHead(decomposed);
    }

    void update(Operation operation) {
      long last = plain.context().last(origin);
      number += 3;
      CrdtState delta = plain.prepare(operation, origin, number, last, number, 0);
      CrdtState same = decomposed.prepare(operation, origin, number, last, number, 0);
      assertThat(same.context().last(origin)).isEqualTo(delta.context().last(origin));
      if (same.isFull()) {
        assertThat(operation).isInstanceOf(Operation.Clear.class);
        assertThat(same.sizeBytes()).isLessThan(100);
        assertThat(plain.join(same)).isEqualTo(plain.join(delta));
      } else {
        assertThat(same).isEqualTo(delta);
      }
      Updates.Updated updated =
          Updates.updateAt(
              decomposed, 0, operation, new UpdateContext(origin, number, last, number, 0));
      Updates.Updated expected =
          Updates.updateAt(plain, 0, operation, new UpdateContext(origin, number, last, number, 0));
      assertThat(updated.after()).isEqualTo(expected.after());
      if (!updated.delta().isFull()) {
        assertThat(updated.delta()).isEqualTo(expected.delta());
      }
      number = delta.context().last(origin);
      join(same);
    }

    void join(CrdtState other) {
      plain = plain.join(other);
      decomposed = decomposed.join(other);
      updates.add(other);
    }

    /** Takes another one's version by what a former one of its own lacks of it. */
    void pull(Site other, int draw) {
      if (EntryRanges.arePossible(other.plain)) {
        boolean isKept = !(Decomposition.source(former) instanceof Source s && s.hasEnded());
        CrdtState version = pulled(isKept ? former : decomposed, other.decomposed, draw);
        assertThat(version).isEqualTo(other.plain);
        assertThat(pulled(plain, other.decomposed, draw)).isEqualTo(other.plain);
        assertThat(pulled(decomposed, other.plain, draw)).isEqualTo(other.plain);
        assertThat(pulled(CrdtState.bottom(plain.type()), other.plain, draw))
            .isEqualTo(other.plain);
        join(version);
      }
      former = decomposed;
    }

    private static CrdtState pulled(CrdtState mine, CrdtState theirs, int draw) {
      long rangeBytes = 1L + draw % 30;
      long bytesMax = 1L + draw % 70;
      CrdtState version = mine;
      EntryKey after = EntryKey.NONE;
      do {
        List<EntryRanges.Range> ranges = EntryRanges.of(theirs, after, rangeBytes, bytesMax);
        List<Integer> lacking = EntryRanges.differing(mine, after, ranges);
        while (!lacking.isEmpty()) {
          EntryRanges.Some some = EntryRanges.entries(theirs, after, ranges, lacking, bytesMax);
          assertThat(some.ranges()).isNotEmpty();
          version = EntryRanges.with(version, after, ranges, some);
          lacking = lacking.subList(some.ranges().size(), lacking.size());
        }
        after = ranges.getLast().last();
      } while (!after.isNone());
      return EntryRanges.completed(version, EntryRanges.Head.of(theirs));
    }

    void write() {
      disk.number(decomposed);
      boolean full = updates.stream().anyMatch(CrdtState::isFull);
      if (full) {
        if (!Decomposition.changedSince(decomposed, written, disk.numbers, disk::put)) {
          disk.entries.clear();
          Decomposition.all(decomposed, disk.numbers, disk::put);
        }
      } else if (!updates.isEmpty()) {
        Decomposition.changed(decomposed, updates, disk.numbers, disk::put);
      }
      disk.writeHead(decomposed);
      updates.clear();
      written = decomposed;
      if (candidate == null) {
        candidate = written;
      }
    }

    /** As a store does: while it writes the next group. */
    void rebase() {
      if (candidate == null) {
        return;
      }
      int before = Decomposition.inMemory(decomposed);
      decomposed = Decomposition.rebased(decomposed, candidate, disk.source());
      assertThat(Decomposition.inMemory(decomposed)).isLessThanOrEqualTo(before);
      candidate = null;
      write();
    }

    /** Only the present version can be read after that. */
    void end(Site other) {
      if (Decomposition.source(decomposed) instanceof Source source
          && source.present == disk
          && Decomposition.source(other.decomposed) != source
          && Decomposition.source(other.former) != source) {
        source.end();
      }
    }

    void reload() {
      write();
      decomposed = disk.load();
      written = decomposed;
      candidate = null;
      assertThat(Decomposition.inMemory(decomposed)).isZero();
    }

    void check() {
      assertThat(decomposed.equals(plain)).isTrue();
      assertThat(plain.equals(decomposed)).isTrue();
      assertThat(decomposed).hasSameHashCodeAs(plain);
      assertThat(decomposed.packed()).isEqualTo(plain.packed());
      assertThat(decomposed.sizeBytes()).isEqualTo(plain.sizeBytes());
      assertThat(decomposed.isBottom()).isEqualTo(plain.isBottom());
      assertThat(decomposed.isSpent()).isEqualTo(plain.isSpent());
      assertThat(decomposed.trimmed()).isEqualTo(plain.trimmed());
      assertThat(decomposed.overAt()).isEqualTo(plain.overAt());
      assertThat(decomposed.at(3)).isEqualTo(plain.at(3));
      for (Query query : List.of(new Query.Whole(), new Query.Size())) {
        assertThat(decomposed.read(query)).isEqualTo(plain.read(query));
      }
      boolean map = plain.type() == CrdtType.OR_MAP;
      for (boolean down : new boolean[] {true, false}) {
        for (int limit : new int[] {1, 3, 100}) {
          Query end = new Query.Range(Optional.empty(), Optional.empty(), down, limit);
          assertThat(decomposed.read(end)).isEqualTo(plain.read(end));
        }
      }
      for (int i = 0; i < KEYS; i++) {
        Query one =
            map ? new Query.Select(List.of(field(i).name())) : new Query.Contains(element(i));
        assertThat(decomposed.read(one)).isEqualTo(plain.read(one));
        Part part = map ? new Part.Field(field(i).name()) : new Part.Element(element(i));
        for (boolean down : new boolean[] {true, false}) {
          Query page =
              new Query.Range(
                  Optional.of(new Query.Bound(part, down)), Optional.empty(), down, 1 + i % 4);
          assertThat(decomposed.read(page)).isEqualTo(plain.read(page));
        }
      }
      assertThat(Decomposition.whole(decomposed).store().heapBytes()).isEqualTo(madeAnewBytes());
    }

    /** What it takes in memory when it is made anew, which the join with nothing alone does not. */
    private long madeAnewBytes() {
      CausalContext other = CausalContext.EMPTY.withRange(new ReplicaId("z", 1), 0, 1);
      return CrdtState.bottom(plain.type()).seen(other).join(plain).store().heapBytes();
    }
  }

  @Property(tries = 1_000)
  void decomposedAtAnyTime_isTheSame(
      @ForAll("types") CrdtType type, @ForAll("steps") List<Step> steps) {
    List<Site> sites = List.of(new Site(type, "b"), new Site(type, "a"));
    int number = 0;
    for (Step step : steps) {
      Site site = sites.get(step.site);
      Site other = sites.get(1 - step.site);
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

  /** Large enough for leaves to be packed and divided, and for pages of what lies outside. */
  @Property(tries = 40)
  void many_areTheSame(
      @ForAll @Size(max = 12) List<Kind> kinds, @ForAll @Size(12) List<Integer> draws) {
    Site site = new Site(CrdtType.AW_SET, "a");
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
        case END -> site.end(new Site(CrdtType.AW_SET, "b"));
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

  /** What was added and removed again since is in the source, and must not come back. */
  @Test
  void removedSinceItWasWritten_staysAway() {
    Site site = new Site(CrdtType.AW_SET, "a");
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

  /** Reading it would take as much of the heap, and no answer has room for it. */
  @Test
  void whatIsTooLargeForAnAnswer_isNotRead() {
    List<Value> large = IntStream.range(0, 66).mapToObj(DecompositionProperties::ofOneMiB).toList();
    CrdtState state = CrdtState.bottom(CrdtType.AW_SET);
    state = state.join(state.prepare(new Operation.Add(large), new ReplicaId("a", 1), 1, 0, 1, 0));
    CrdtState decomposed = Decomposition.of(state);
    assertThatThrownBy(() -> decomposed.read(new Query.Whole()))
        .is(Refused.with(ErrorCode.VALUE_TOO_LARGE))
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
        Arbitraries.integers().between(0, KEYS - 1).map(DecompositionProperties::element),
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
