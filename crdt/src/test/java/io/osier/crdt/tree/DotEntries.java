package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Trees of values with dots, and how they are packed. */
final class DotEntries {
  private DotEntries() {}

  static final ReplicaId A = new ReplicaId("a", 1);
  static final ReplicaId B = new ReplicaId("b", 7);
  static final ReplicaId C = new ReplicaId("c", 2);

  /** The orders by which replicas may be numbered; the last one lacks one of them. */
  static final List<List<ReplicaId>> NUMBERINGS =
      List.of(List.of(B, C), List.of(A, B, C), List.of(A, B));

  static final int KEYS = 4_000;

  static final class Codec implements LeafCodec<Value, Dot> {
    @Override
    public void writeKey(WireOutput out, Value key) {
      out.writeValue(key);
    }

    @Override
    public void writeCell(WireOutput out, Dot cell) {
      out.writeDot(cell);
    }

    @Override
    public Value readKey(WireInput in) {
      return in.readValue();
    }

    @Override
    public Dot readCell(WireInput in, Value key, List<ReplicaId> replicas) {
      return in.readDot();
    }

    @Override
    public long cellHeapBytes(Value key, Dot cell) {
      return key.heapBytes() + Dot.HEAP_BYTES;
    }
  }

  static final Codec CODEC = new Codec();

  /** Asserts equality without thousands of entries in the message. */
  static void same(Object one, Object other) {
    assertThat(one.equals(other)).isTrue();
  }

  static List<TreeEntry<Value, Dot>> entries(Iterator<TreeEntry<Value, Dot>> walk) {
    List<TreeEntry<Value, Dot>> entries = new ArrayList<>();
    walk.forEachRemaining(entries::add);
    return entries;
  }

  static List<TreeEntry<Value, Dot>> entries(Map<Value, Dot> map) {
    List<TreeEntry<Value, Dot>> entries = new ArrayList<>();
    map.forEach((key, dot) -> entries.add(new TreeEntry<>(key, dot)));
    return entries;
  }
}
