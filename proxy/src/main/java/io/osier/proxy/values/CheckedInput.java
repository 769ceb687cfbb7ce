package io.osier.proxy.values;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;

/**
 * Kryo's input, which allocates nothing for what is not there: a length is held against the bytes
 * that are left first. The one who wrote a value need not mean well.
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
    if (readVarIntFlag()) { // otherwise it is ASCII, and its end is marked
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
