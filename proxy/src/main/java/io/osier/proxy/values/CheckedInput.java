package io.osier.proxy.values;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;

/**
 * An input for Kryo that compares each length with the bytes that are left before it allocates
 * memory: the writer of a value need not be trusted.
 */
final class CheckedInput extends Input {
  CheckedInput(byte[] bytes, int offset) {
    super(bytes, offset, bytes.length - offset);
  }

  int remaining() {
    return limit - position;
  }

  /** Reads how many items follow, each of at least one byte. */
  int readCount() {
    int count = readVarInt(true);
    if (count < 0 || count > remaining()) {
      throw tooLong(count);
    }
    return count;
  }

  @Override
  public byte[] readBytes(int length) {
    if (length < 0 || length > remaining()) {
      throw tooLong(length);
    }
    return super.readBytes(length);
  }

  @Override
  public String readString() {
    int start = position;
    if (readVarIntFlag()) { // otherwise it is ASCII with a marked end
      int characters = readVarIntFlag(true) - 1;
      if (characters > remaining()) {
        throw tooLong(characters);
      }
    }
    position = start;
    return super.readString();
  }

  private KryoException tooLong(int length) {
    return new KryoException(
        "a length of " + (length & 0xffffffffL) + " does not fit in " + remaining() + " bytes");
  }
}
