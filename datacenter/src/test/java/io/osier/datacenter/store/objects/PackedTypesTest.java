package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Types whose numbers have no room in the byte before a packed object. */
final class PackedTypesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final Key KEY = Key.of("k");

  private final PackedObjects packing = new PackedObjects();

  private static CrdtState assigned(CrdtType type, boolean expires) {
    Operation assign = new Operation.Assign(Value.of(5));
    Operation operation =
        expires ? new Operation.WithDeadline(assign, new Operation.Expire(9, false)) : assign;
    CrdtState bottom = CrdtState.bottom(type);
    return bottom.join(bottom.prepare(operation, EU, 1, 0, 1, 0));
  }

  @Test
  void objectsOfLaterTypes_areUnpacked_alsoSeveralOfAKey_withDeadlinesAndWithout() {
    for (boolean expires : new boolean[] {false, true}) {
      KeyObjects all = KeyObjects.NOTHING;
      for (CrdtType type :
          List.of(
              CrdtType.LWW_REGISTER,
              CrdtType.STRING,
              CrdtType.MIN_REGISTER,
              CrdtType.MAX_REGISTER)) {
        CrdtState state = assigned(type, expires);
        byte[] one = packing.pack(KEY, KeyObjects.NOTHING.with(state, 0));
        assertThat(packing.unpack(one).states()).containsExactly(state);
        assertThat(PackedObjects.onlyForm(one)).isEqualTo(state.form());
        all = all.with(state, 0);
      }
      byte[] packed = packing.pack(KEY, all);
      assertThat(packing.unpack(packed).states()).isEqualTo(all.states());
      assertThat(PackedObjects.onlyForm(packed)).isNegative();
    }
  }

  @Test
  void typeOfTheFuture_isRefusedByItsNumber() {
    byte[] packed =
        packing.pack(KEY, KeyObjects.NOTHING.with(assigned(CrdtType.MAX_REGISTER, false), 0));
    int at = 4; // behind flags, length, key and head
    assertThat(packed[at]).isEqualTo((byte) CrdtType.MAX_REGISTER.number());
    packed[at] = 40;
    assertThatThrownBy(() -> packing.unpack(packed))
        .hasMessageContaining("type number 40 is unknown");
    assertThatThrownBy(() -> packing.answer(packed, new Query.Whole()))
        .hasMessageContaining("type number 40 is unknown");
    packed[at] = 3;
    assertThatThrownBy(() -> packing.unpack(packed)).isInstanceOf(MalformedException.class);
  }
}
