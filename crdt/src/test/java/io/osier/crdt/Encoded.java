package io.osier.crdt;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;

/** An object's encoded form, as stores and frames hold it. */
public final class Encoded {
  private Encoded() {}

  public static byte[] encode(CrdtState value) {
    return WireOutput.bytesOf(value::write);
  }

  public static CrdtState decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "an object", CrdtState::read);
  }
}
