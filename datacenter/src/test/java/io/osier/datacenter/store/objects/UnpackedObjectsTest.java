package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoredKey;
import org.junit.jupiter.api.Test;

final class UnpackedObjectsTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final long HASH = 7;

  private final PackedObjects packing = new PackedObjects();
  private final UnpackedObjects unpacked = new UnpackedObjects(packing);

  /** A key that was not used since it was packed. */
  private byte[] packed(String content) {
    CrdtState bottom = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of(content));
    CrdtState state = bottom.join(bottom.prepare(assign, EU, 1, 0, 1, 0));
    byte[] packed = packing.pack(Key.of("k"), KeyObjects.NOTHING.with(state, 0));
    boolean unused = PackedObjects.takeUse(packed);
    return packed;
  }

  @Test
  void smallKeyThatIsReadAgain_isUnpackedOnce() {
    byte[] packed = packed("a");
    KeyObjects objects = unpacked.objects(packed, HASH);
    assertThat(unpacked.objects(packed, HASH)).isSameAs(objects);
    assertThat(unpacked.stored(packed, HASH)).isSameAs(objects);
    byte[] next = packed("b");
    assertThat(unpacked.stored(next, HASH).states()).isNotEqualTo(objects.states());
    assertThat(unpacked.objects(next, HASH)).isNotEqualTo(objects);
  }

  /** No budget counts what is remembered. */
  @Test
  void largeKey_isNotRemembered() {
    byte[] packed = packed("a".repeat(300));
    KeyObjects objects = unpacked.objects(packed, HASH);
    assertThat(unpacked.objects(packed, HASH)).isEqualTo(objects).isNotSameAs(objects);
  }

  /** Otherwise what is read all the time would be evicted as if it were not. */
  @Test
  void keyThatIsRead_countsAsUsed() {
    byte[] packed = packed("a");
    StoredKey stored = unpacked.stored(packed, HASH);
    assertThat(stored.isPacked()).isTrue();
    assertThat(PackedObjects.takeUse(packed)).isTrue();
    unpacked.objects(packed, HASH);
    assertThat(PackedObjects.takeUse(packed)).isTrue();
    unpacked.objects(packed, HASH); // as it is remembered
    assertThat(PackedObjects.takeUse(packed)).isTrue();
    assertThat(PackedObjects.takeUse(packed)).isFalse();
  }

  @Test
  void packedKey_answersOneQuestion_andIsUnpackedForMore() {
    StoredKey stored = unpacked.stored(packed("a"), HASH);
    assertThat(stored.answer(new Query.Whole())).isNotNull();
    assertThat(stored.answer(new Query.Whole())).isNull();
    assertThat(stored.states()).hasSize(1).isSameAs(stored.states());
  }
}
