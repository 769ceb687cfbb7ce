package io.osier.crdt.tree;

import static io.osier.crdt.tree.PackedStates.DUE;
import static io.osier.crdt.tree.PackedStates.ELEMENTS;
import static io.osier.crdt.tree.PackedStates.ORIGINS;
import static io.osier.crdt.tree.PackedStates.TYPES;
import static io.osier.crdt.tree.PackedStates.checkSame;
import static io.osier.crdt.tree.PackedStates.checkSums;
import static io.osier.crdt.tree.PackedStates.deadline;
import static io.osier.crdt.tree.PackedStates.element;
import static io.osier.crdt.tree.PackedStates.large;
import static io.osier.crdt.tree.PackedStates.parts;
import static io.osier.crdt.tree.PackedStates.reread;
import static io.osier.crdt.tree.PackedStates.same;
import static io.osier.crdt.tree.PackedStates.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.Encoded;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.tree.PackedStates.Site;
import io.osier.crdt.types.EntryEditor;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.TaggedSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which leaves of large objects are packed, and when. */
final class PackedStateTest {
  /** The order is checked within leaves, and from one leaf to the next. */
  @Test
  void entriesThatAreNotInOrder_areRefused() {
    int each = write(setOf(1), List.of()).length - write(setOf(0), List.of()).length;
    byte[] bytes = write(setOf(ELEMENTS), List.of(ORIGINS.getFirst()));
    byte[] all = Arrays.copyOf(bytes, bytes.length);
    int entry = (bytes.length - 2) / ELEMENTS;
    assertThat(each).isGreaterThan(entry); // it names the replica
    for (int first : List.of(5, TreeNode.LEAF_MAX - 1, ELEMENTS - 2)) {
      byte[] damaged = all.clone();
      System.arraycopy(all, 2 + entry * first, damaged, 2 + entry * (first + 1), entry);
      assertThatThrownBy(() -> readSet(damaged))
          .isInstanceOf(MalformedException.class)
          .hasMessageContaining("not in order");
    }
    same(readSet(all), setOf(ELEMENTS));
  }

  /** Returns a set whose elements all have the same dot, so that all entries have one length. */
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

  /** The dot of a replica that is not in the context: its name would be in one leaf alone. */
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

  @Test
  void largeStates_arePackedWhenTheyAreRead() {
    for (CrdtType type : TYPES) {
      CrdtState read = Encoded.decode(Encoded.encode(large(type)));
      assertThat(read.looseHeapBytes()).as("%s", type).isZero();
      assertThat(read.packLeaves() == read).isTrue();
      assertThat(large(type).looseHeapBytes()).isGreaterThan(100L * 2_000);
    }
    TaggedSet small = setOf(LeafPacking.LOOSE_MAX);
    byte[] bytes = write(small, List.of(ORIGINS.getFirst()));
    assertThat(readSet(bytes).looseHeapBytes()).isEqualTo(small.looseHeapBytes());
  }

  /** The filtered view that readers see is kept beside the state, and is not counted. */
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

  /** An update copies one leaf or divides it, and leaves nothing to be packed. */
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
    // One update in a packed leaf and in an unpacked one: each entry is counted where it is.
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
    // A lookup alone unpacks nothing, not even for the removal of an absent element.
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

  /**
   * Fields of a leaf are changed beside a field that has packed leaves itself, and that field, too.
   */
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
