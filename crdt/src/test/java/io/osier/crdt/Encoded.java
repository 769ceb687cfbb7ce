package io.osier.crdt;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/** An object's encoded form, as stores and frames hold it. */
final class Encoded {
  private Encoded() {}

  static byte[] encode(Causal value) {
    return WireOutput.bytesOf(value::write);
  }

  static Causal decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "an object", Causal::read);
  }
}
