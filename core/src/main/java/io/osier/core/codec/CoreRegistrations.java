package io.osier.core.codec;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The registered forms of this module's types. */
public final class CoreRegistrations {
  /** All of them. */
  public static final List<Codec.Registration<?>> ALL =
      List.of(
          of(ReplicaId.class, 20, WireOutput::writeReplica, WireInput::readReplica),
          of(Dot.class, 21, WireOutput::writeDot, WireInput::readDot),
          of(VersionVector.class, 22, WireOutput::writeVector, WireInput::readVector),
          of(CausalContext.class, 23, WireOutput::writeContext, WireInput::readContext),
          of(Key.class, 24, WireOutput::writeKey, WireInput::readKey),
          of(Value.Bytes.class, 25, WireOutput::writeValue, in -> (Value.Bytes) in.readValue()),
          of(Value.Str.class, 26, WireOutput::writeValue, in -> (Value.Str) in.readValue()),
          of(Value.Int.class, 27, WireOutput::writeValue, in -> (Value.Int) in.readValue()),
          of(Value.Real.class, 28, WireOutput::writeValue, in -> (Value.Real) in.readValue()));

  private CoreRegistrations() {}

  /** A registration whose form is a pair of functions. */
  public static <T> Codec.Registration<T> of(
      Class<T> type, int id, BiConsumer<WireOutput, T> writer, Function<WireInput, T> reader) {
    return new Codec.Registration<>(
        type,
        id,
        new WireSerializer<>() {
          @Override
          public void write(WireOutput out, T value) {
            writer.accept(out, value);
          }

          @Override
          public T read(WireInput in) {
            return reader.apply(in);
          }
        });
  }
}
