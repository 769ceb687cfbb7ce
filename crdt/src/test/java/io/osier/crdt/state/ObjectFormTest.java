package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Encoded;
import io.osier.crdt.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ObjectFormTest {
  /** Numbers of present types, and of types to come. */
  @ParameterizedTest
  @ValueSource(ints = {1, 13, 14, 15, 16, 31, 40, 127, 255})
  void number_isReadBack_whateverFlagsStandBesideIt(int number) {
    for (boolean expires : new boolean[] {false, true}) {
      int form = ObjectForm.of(number, expires);
      byte[] rest = WireOutput.bytesOf(out -> ObjectForm.writeRest(out, form));
      assertThat(rest).hasSize(number < 15 ? 0 : 1);
      assertThat(ObjectForm.bits(form)).isLessThan(1 << ObjectForm.BITS);
      int head = ObjectForm.bits(form) | 0xe0;
      int read = ObjectForm.read(head, new WireInput(rest));
      assertThat(read).isEqualTo(form);
      assertThat(ObjectForm.number(read)).isEqualTo(number);
      assertThat(ObjectForm.expires(read)).isEqualTo(expires);
    }
  }

  @Test
  void former_isWhatItWas() {
    for (CrdtType type : CrdtType.values()) {
      if (!type.isLater()) {
        assertThat(ObjectForm.of(type, false)).isEqualTo(type.number());
        assertThat(ObjectForm.of(type, true)).isEqualTo(type.number() | 16);
      }
    }
  }

  @Test
  void stateOfATypeOfTheFuture_isRefusedByItsNumber() {
    CrdtState bottom = CrdtState.bottom(CrdtType.MAX_REGISTER);
    CrdtState delta =
        bottom.prepare(new Operation.Assign(Value.of(5)), new ReplicaId("eu", 1), 1, 0, 1, 0);
    byte[] bytes = Encoded.encode(delta);
    assertThat(bytes).startsWith(0x1e, 0x10);
    assertThat(Encoded.decode(bytes)).isEqualTo(delta);
    bytes[1] = 40;
    assertThatThrownBy(() -> Encoded.decode(bytes))
        .hasMessageContaining("type number 40 is unknown");
    assertThatThrownBy(() -> ObjectForm.read(15, new WireInput(new byte[] {14})))
        .isInstanceOf(MalformedException.class);
  }
}
