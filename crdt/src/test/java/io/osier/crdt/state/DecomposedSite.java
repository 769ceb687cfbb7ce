package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A datacenter's object twice: in memory, and on a disk. */
final class DecomposedSite {
  static final int KEYS = 12;

  /** Elements of all kinds, including texts that UTF-8 and UTF-16 order differently. */
  static Value element(int i) {
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

  static FieldId field(int i) {
    List<CrdtType> types =
        List.of(CrdtType.PN_COUNTER, CrdtType.LWW_REGISTER, CrdtType.AW_SET, CrdtType.OR_MAP);
    List<String> names = List.of("a", "a\0", "a\0\0", "b", "\uFFFD", "\uD83D\uDE00");
    return new FieldId(names.get(i % names.size()), types.get(i % KEYS % types.size()));
  }

  /** A disk, of which copies are taken. */
  static final class Disk {
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

  /** The content of a disk at one time; after its end, the disk's present content. */
  static final class Source implements EntrySource {
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
      return EntrySource.pageOf(disk.entries, from, inclusive, down, max);
    }

    @Override
    public List<ReplicaId> replicas() {
      return disk.numbers;
    }
  }

  final ReplicaId origin;
  final Disk disk = new Disk();
  CrdtState plain;
  CrdtState decomposed;
  final List<CrdtState> updates = new ArrayList<>();
  CrdtState written;

  /** A version that was written since the source was taken; null if none was. */
  @Nullable CrdtState candidate;

  /** The version at the last pull: mostly it has the same source. */
  CrdtState former;

  long number;

  DecomposedSite(CrdtType type, String dc) {
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

  /** Turns a former version of its own into another site's version by pulling the difference. */
  void pull(DecomposedSite other, int draw) {
    if (EntryRanges.arePossible(other.plain)) {
      boolean isKept = !(Decomposition.source(former) instanceof Source s && s.hasEnded());
      CrdtState version = pulled(isKept ? former : decomposed, other.decomposed, draw);
      assertThat(version).isEqualTo(other.plain);
      assertThat(pulled(plain, other.decomposed, draw)).isEqualTo(other.plain);
      assertThat(pulled(decomposed, other.plain, draw)).isEqualTo(other.plain);
      assertThat(pulled(CrdtState.bottom(plain.type()), other.plain, draw)).isEqualTo(other.plain);
      join(version);
    }
    former = decomposed;
  }

  static CrdtState pulled(CrdtState mine, CrdtState theirs, int draw) {
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

  /** Moves entries to the later source, as a store does while it writes the next group. */
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
  void end(DecomposedSite other) {
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
    assertThat(StateCodec.pack(decomposed)).isEqualTo(StateCodec.pack(plain));
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
      Query one = map ? new Query.Select(List.of(field(i).name())) : new Query.Contains(element(i));
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

  /**
   * Returns the heap bytes of an equal state that is made anew; a join with an empty one would only
   * return the same object.
   */
  private long madeAnewBytes() {
    CausalContext other = CausalContext.EMPTY.withRange(new ReplicaId("z", 1), 0, 1);
    return CrdtState.bottom(plain.type()).seen(other).join(plain).store().heapBytes();
  }
}
