package io.osier.core.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;

/**
 * An explicit serializer of one type. Fields are written in a fixed order and collections sorted,
 * so that equal values have equal bytes. Implementations have no state.
 *
 * @param <T> the type
 */
public abstract class WireSerializer<T> extends Serializer<T> {
  /** For subclasses. */
  protected WireSerializer() {
    super(false, true);
  }

  /** Writes a value. */
  public abstract void write(WireOutput out, T value);

  /**
   * Reads a value.
   *
   * @throws MalformedException if the bytes are no such value
   */
  public abstract T read(WireInput in);

  @Override
  public final void write(Kryo kryo, Output output, T value) {
    write((WireOutput) output, value);
  }

  @Override
  public final T read(Kryo kryo, Input input, Class<? extends T> type) {
    return read((WireInput) input);
  }
}
