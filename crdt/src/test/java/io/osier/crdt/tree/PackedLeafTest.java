package io.osier.crdt.tree;

import static io.osier.crdt.tree.DotEntries.A;
import static io.osier.crdt.tree.DotEntries.B;
import static io.osier.crdt.tree.DotEntries.C;
import static io.osier.crdt.tree.DotEntries.CODEC;
import static io.osier.crdt.tree.DotEntries.NUMBERINGS;
import static io.osier.crdt.tree.DotEntries.entries;
import static io.osier.crdt.tree.DotEntries.same;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Single changes of packed leaves, and the leaves that they make. */
final class PackedLeafTest {
  /** Returns keys in their order: every second one is put first, the others between them. */
  private static List<Value> keysOfAllKinds(int count) {
    TreeSet<Value> keys = new TreeSet<>();
    for (int i = 0; keys.size() < count; i++) {
      keys.add(
          switch (i % 6) {
            case 0 -> Value.of(new byte[] {(byte) (i * 7), (byte) i});
            case 1 -> Value.of("a" + i);
            case 2 -> Value.of("a".repeat(i % 4) + (char) (0x7d + i % 6) + i);
            case 3 -> Value.of("a" + (i % 4 == 1 ? "\ud83d\ude00" : "\uffee") + i);
            case 4 -> Value.of(i * 1_000_003L - 50_000_000L);
            default -> Value.of(i / 7.0);
          });
    }
    return List.copyOf(keys);
  }

  private static EntryTree<Value, Dot> loaded(TreeMap<Value, Dot> entries, List<ReplicaId> by) {
    EntryTree.Loading<Value, Dot> loading = new EntryTree.Loading<>(new LeafPacking<>(CODEC, by));
    entries.forEach(loading::add);
    return loading.done();
  }

  /** Puts, replaces and removes at every index of one leaf: it stays packed, or becomes two. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 9, 16, 17, 64, 127, 128})
  void oneChangeOfAPackedLeaf_leavesItPacked(int size) {
    List<Value> keys = keysOfAllKinds(2 * size + 1);
    TreeMap<Value, Dot> entries = new TreeMap<>();
    for (int i = 1; i < keys.size(); i += 2) {
      entries.put(keys.get(i), new Dot(i % 3 == 0 ? A : B, 1 + i * 37 % 300));
    }
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    assertThat(map.root()).isInstanceOf(PackedLeaf.class);
    for (int i = 0; i < keys.size(); i++) {
      Value key = keys.get(i);
      for (long number : new long[] {1, 200, 1L << 40}) {
        TreeMap<Value, Dot> with = new TreeMap<>(entries);
        with.put(key, new Dot(A, number));
        EntryTree<Value, Dot> changed = map.put(key, new Dot(A, number));
        checkLeaves(changed, with, keys);
        boolean isSplit = with.size() > TreeNode.LEAF_MAX;
        assertThat(Nodes.of(changed).packed).isEqualTo(isSplit && i < 2 * size ? 2 : 1);
        assertThat(Nodes.of(changed).loose).isEqualTo(isSplit && i == 2 * size ? 1 : 0);
      }
      TreeMap<Value, Dot> without = new TreeMap<>(entries);
      without.remove(key);
      EntryTree<Value, Dot> changed = map.remove(key);
      assertThat(changed == map).isEqualTo(i % 2 == 0);
      checkLeaves(changed, without, keys);
      assertThat(Nodes.of(changed).packed).isEqualTo(without.isEmpty() ? 0 : 1);
    }
  }

  private static void checkLeaves(
      EntryTree<Value, Dot> map, TreeMap<Value, Dot> model, List<Value> keys) {
    same(entries(map.iterator()), entries(model));
    assertThat(map.size()).isEqualTo(model.size());
    for (Value key : keys) {
      assertThat(map.get(key)).isEqualTo(model.get(key));
    }
    assertThat(map.settledHeapBytes()).isEqualTo(Nodes.of(map).settledHeapBytes);
  }

  private static TreeMap<Value, Dot> numbered(int count, Function<Integer, Value> key) {
    TreeMap<Value, Dot> entries = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      entries.put(key.apply(i), new Dot(A, 1 + i));
    }
    return entries;
  }

  /** All keys between two neighbours: the bytes read for a search stay few, whatever the order. */
  @ParameterizedTest
  @ValueSource(ints = {1, -1, 37})
  void manyInsertionsAtOnePlace_leaveBlocksSmall(int each) {
    TreeMap<Value, Dot> entries = numbered(28, i -> Value.of(i < 9 ? i : 1_000L + i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    List<Value> keys = new ArrayList<>(entries.keySet());
    for (int i = 0; i < 100; i++) {
      Value key = Value.of(500L + Math.floorMod(i * each, 100));
      keys.add(key);
      entries.put(key, new Dot(B, 1 + i));
      map = map.put(key, new Dot(B, 1 + i));
      checkLeaves(map, entries, keys); // checks the blocks
      assertThat(Nodes.of(map).packed).isEqualTo(1);
    }
    for (Value key : keys) {
      entries.remove(key);
      map = map.remove(key);
      checkLeaves(map, entries, keys);
    }
  }

  /** One key after the other, in some order: leaves become small, are joined, or become empty. */
  @ParameterizedTest
  @ValueSource(ints = {1, 37})
  void removingAllOneByOne_leavesWhatIsLeft(int each) {
    int count = 1_000;
    TreeMap<Value, Dot> entries = numbered(count, i -> Value.of((long) i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    List<Value> keys = List.copyOf(entries.keySet());
    for (int i = 0; i < count; i++) {
      // The first leaf is kept whole until the end: the second one has no room to join it.
      Value key = keys.get((128 + i * each) % count);
      entries.remove(key);
      map = map.remove(key);
      assertThat(map.settledHeapBytes()).isEqualTo(Nodes.of(map).settledHeapBytes);
      if (i % 50 == 0) {
        checkLeaves(map, entries, keys);
      }
    }
    assertThat(map.isEmpty()).isTrue();
  }

  /** Full leaves are left behind, and new keys are collected in one that is not packed. */
  @Test
  void keysThatComeInTheirOrder_leaveFullLeavesBehind() {
    TreeMap<Value, Dot> entries = numbered(2 * TreeNode.LEAF_MAX, i -> Value.of((long) i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    for (long i = 1_000; i < 1_100; i++) {
      entries.put(Value.of(i), new Dot(B, i));
      map = map.put(Value.of(i), new Dot(B, i));
      checkLeaves(map, entries, List.copyOf(entries.keySet()));
      assertThat(Nodes.of(map).packed).isEqualTo(2);
      assertThat(Nodes.of(map).loose).isEqualTo(1);
    }
  }

  /** A wholly packed inner node is joined with one that is packed only in part. */
  @Test
  void innerNodesThatAreJoined_areNotTakenForPacked() {
    int leaves = TreeNode.CHILDREN_MAX + 29;
    int count = leaves * TreeNode.LEAF_MAX;
    TreeMap<Value, Dot> entries = numbered(count, i -> Value.of((long) i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    map = without(map, 0, 34 * TreeNode.LEAF_MAX).packed(CODEC, NUMBERINGS.get(1));
    assertThat(((TreeNode.Inner) map.root()).children).hasSize(2);
    map = without(map, count - 14 * TreeNode.LEAF_MAX - 20, count);
    assertThat(((TreeNode.Inner) map.root()).children).as("they are joined").hasSize(30 + 15);
    assertThat(Nodes.of(map).loose).isPositive();
    assertThat(Nodes.of(map.packed(CODEC, NUMBERINGS.get(1))).loose).isZero();
  }

  private static EntryTree<Value, Dot> without(EntryTree<Value, Dot> map, int from, int to) {
    TreeEdit<Value, Dot> edit = map.edit();
    for (long i = from; i < to; i++) {
      edit.remove(Value.of(i));
    }
    return edit.done();
  }

  /** The replica's number would be in one leaf alone. */
  @Test
  void aDotOfAReplicaWithoutANumber_unpacksItsLeaf() {
    List<Value> keys = keysOfAllKinds(1_000);
    TreeMap<Value, Dot> entries = numbered(1_000, keys::get);
    EntryTree<Value, Dot> map = loaded(entries, List.of(A, B));
    for (int i : new int[] {0, 300, 999}) {
      EntryTree<Value, Dot> changed = map.put(keys.get(i), new Dot(C, 7));
      TreeMap<Value, Dot> with = new TreeMap<>(entries);
      with.put(keys.get(i), new Dot(C, 7));
      checkLeaves(changed, with, keys);
      assertThat(Nodes.of(changed).loose).isEqualTo(1);
      assertThat(Nodes.of(changed.packed(CODEC, List.of(A, B, C))).loose).isZero();
    }
  }

  /** No packed leaf exceeds the allowed bytes; one of so few entries is not divided. */
  @Test
  void aLeafThatBecomesTooLarge_isUnpacked() {
    String rest = "x".repeat(1_850);
    List<Value> keys = IntStream.range(0, 9).mapToObj(i -> Value.of(1_000 + i + rest)).toList();
    EntryTree<Value, Dot> map = loaded(numbered(8, keys::get), NUMBERINGS.get(1));
    assertThat(Nodes.of(map.put(keys.getFirst(), new Dot(B, 1))).packed).isEqualTo(1);
    assertThat(Nodes.of(map.put(keys.getLast(), new Dot(B, 1))).packed).isZero();
  }

  /** The largest packed leaf, changed at every index. */
  @Test
  void aLargeLeaf_isDividedWhereItIsChanged() {
    int entry = LeafPacking.BYTES_MAX / 64;
    // Kind and length of the text, number of the replica, number of the dot.
    String rest = "x".repeat(entry - 1 - 2 - 4 - 1 - 1);
    List<Value> keys = IntStream.range(0, 128).mapToObj(i -> Value.of(1_000 + i + rest)).toList();
    TreeMap<Value, Dot> entries = numbered(64, i -> keys.get(2 * i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    assertThat(((PackedLeaf) map.root()).bytes).hasSize(LeafPacking.BYTES_MAX);
    for (Value key : keys) { // of the leaf, the first of its second half too, or between two
      EntryTree<Value, Dot> changed = map.put(key, new Dot(B, 128));
      TreeMap<Value, Dot> with = new TreeMap<>(entries);
      with.put(key, new Dot(B, 128));
      checkLeaves(changed, with, keys);
      assertThat(changed.size()).isEqualTo(with.size());
      Nodes nodes = Nodes.of(changed);
      assertThat(nodes.packed).isEqualTo(key.equals(keys.getLast()) ? 1 : 2);
      assertThat(nodes.packed + nodes.loose).isEqualTo(2);
    }
  }

  /** Keys that are updated again and again get into leaves that are not large. */
  @Test
  void largeLeaves_areDividedUntilTheyAreNot() {
    String rest = "x".repeat(100);
    List<Value> keys = IntStream.range(0, 500).mapToObj(i -> Value.of(1_000 + i + rest)).toList();
    TreeMap<Value, Dot> entries = numbered(keys.size(), keys::get);
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    int before = Nodes.of(map).packed;
    for (int round = 0; round < 4; round++) {
      for (Value key : keys) {
        map = map.put(key, new Dot(B, 100 + round));
        entries.put(key, new Dot(B, 100 + round));
      }
    }
    checkLeaves(map, entries, keys);
    assertThat(Nodes.of(map).packed).isGreaterThanOrEqualTo(3 * before);
    assertThat(Nodes.of(map).largest).isLessThanOrEqualTo(TreeEdit.SPLICED_BYTES_MAX);
    for (Value key : keys) {
      map = map.remove(key);
      entries.remove(key);
      assertThat(map.get(key)).isNull();
      assertThat(map.size()).isEqualTo(entries.size());
    }
  }

  /** A change copies bytes; many together cost less in an unpacked leaf. */
  @Test
  void manyChangesOfALeafInOneEdit_unpackIt() {
    TreeMap<Value, Dot> entries = numbered(1_000, i -> Value.of(2L * i));
    EntryTree<Value, Dot> map = loaded(entries, NUMBERINGS.get(1));
    TreeEdit<Value, Dot> edit = map.edit();
    for (int i = 0; i < TreeEdit.SPLICES_MAX; i++) {
      edit.put(Value.of(600L + 2L * i), new Dot(B, 1)); // in one leaf
      edit.put(Value.of(600L + 2L * i), new Dot(B, 2)); // in one leaf
    }
    assertThat(Nodes.of(edit.done()).loose).isEqualTo(1);
    edit = map.edit();
    for (int i = 0; i < 1_000; i += TreeNode.LEAF_MAX) {
      for (int k = 0; k < TreeEdit.SPLICES_MAX; k++) {
        edit.put(Value.of(2L * i + 1), new Dot(B, 1));
      }
    }
    assertThat(Nodes.of(edit.done()).loose).isZero();
    // Packed leaves are known to be packed: packing again need not look at them.
    assertThat(edit.done().packed(CODEC, NUMBERINGS.get(1)) == edit.done()).isTrue();
  }
}
