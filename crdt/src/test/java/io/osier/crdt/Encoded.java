package io.osier.crdt;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;

/** States and deltas as bytes, with everything that their decoding needs. */
public final class Encoded {
  private Encoded() {}

  public static byte[] encode(CrdtState value) {
    return WireOutput.bytesOf(out -> StateCodec.writeAll(out, value));
  }

  public static CrdtState decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "an object", StateCodec::readAll);
  }
}
