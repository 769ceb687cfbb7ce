package io.osier.crdt;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.state.StateCodec;

/** States and deltas as bytes with all that their decoding needs, as former versions had them. */
public final class Encoded {
  private Encoded() {}

  public static byte[] encode(CrdtState value) {
    return WireOutput.bytesOf(
        out -> {
          int form = value.form();
          out.writeByte((ObjectForm.bits(form) << 1) | (value.isFull() ? 1 : 0));
          ObjectForm.writeRest(out, form);
          StateCodec.write(out, value);
        });
  }

  public static CrdtState decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "an object", Encoded::read);
  }

  private static CrdtState read(WireInput in) {
    int head = in.readByteUnsigned();
    return StateCodec.read(ObjectForm.read(head >> 1, in), (head & 1) == 1, in);
  }
}
