package io.osier.crdt;

import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireOutput;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Encodes elements and fields as bytes whose unsigned order is the order of the elements and
 * fields: the form in which an LSM tree holds the entries of decomposed objects. Texts are in the
 * order of their UTF-16 code units, as in {@link String#compareTo}, so each unit is encoded by
 * itself (CESU-8), not each code point. Thread-safe.
 */
public final class KeyOrder {
  private static final byte END = 0;
  private static final byte ZERO = (byte) 0xFF;

  private KeyOrder() {}

  public static byte[] of(Value value) {
    byte kind = (byte) value.kind();
    return switch (value) {
      case Value.Bytes v -> {
        byte[] key = new byte[1 + v.content().length];
        key[0] = kind;
        System.arraycopy(v.content(), 0, key, 1, v.content().length);
        yield key;
      }
      case Value.Str v -> {
        WireOutput out = new WireOutput();
        out.writeByte(kind);
        writeText(out, v.content());
        yield out.toBytes();
      }
      case Value.Int v -> number(kind, v.content() ^ Long.MIN_VALUE);
      case Value.Real v -> number(kind, ordered(Double.doubleToLongBits(v.content())));
    };
  }

  private static byte[] number(byte kind, long unsigned) {
    return ByteBuffer.allocate(1 + Long.BYTES).put(kind).putLong(unsigned).array();
  }

  /**
   * Maps the bits of a double to an unsigned number of the same order; {@link #unordered} is the
   * inverse.
   */
  private static long ordered(long bits) {
    return bits < 0 ? ~bits : bits ^ Long.MIN_VALUE;
  }

  private static long unordered(long ordered) {
    return ordered < 0 ? ordered ^ Long.MIN_VALUE : ~ordered;
  }

  public static Value value(byte[] key) {
    if (key.length == 0) {
      throw new MalformedException("an element's key is empty");
    }
    return switch (key[0]) {
      case 0 -> new Value.Bytes(Arrays.copyOfRange(key, 1, key.length));
      case 1 -> Value.of(text(key, 1, key.length));
      case 2 -> Value.of(number(key) ^ Long.MIN_VALUE);
      case 3 -> Value.of(Double.longBitsToDouble(unordered(number(key))));
      default -> throw new MalformedException("kind " + key[0] + " of an element is unknown");
    };
  }

  private static long number(byte[] key) {
    if (key.length != 1 + Long.BYTES) {
      throw new MalformedException("a number's key has " + key.length + " bytes");
    }
    return ByteBuffer.wrap(key).getLong(1);
  }

  /**
   * Encodes a field. A zero in its name is followed by FF, so that no name is the beginning of
   * another.
   */
  public static byte[] of(FieldId field) {
    WireOutput out = new WireOutput();
    WireOutput name = new WireOutput();
    writeText(name, field.name());
    for (byte b : name.toBytes()) {
      out.writeByte(b);
      if (b == END) {
        out.writeByte(ZERO);
      }
    }
    out.writeByte(END);
    out.writeByte(field.type().ordinal());
    return out.toBytes();
  }

  public static FieldId field(byte[] key) {
    byte[] name = new byte[key.length];
    int length = 0;
    int at = 0;
    while (at < key.length - 1 && (key[at] != END || key[at + 1] == ZERO)) {
      name[length++] = key[at];
      at += key[at] == END ? 2 : 1;
    }
    if (at != key.length - 2 || key[at + 1] < 0 || key[at + 1] >= CrdtType.values().length) {
      throw new MalformedException("a field's key does not end with its type");
    }
    return new FieldId(text(name, 0, length), CrdtType.values()[key[at + 1]]);
  }

  private static void writeText(WireOutput out, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        out.writeByte(c);
      } else if (c < 0x800) {
        out.writeByte(0xC0 | (c >> 6));
        out.writeByte(0x80 | (c & 0x3F));
      } else {
        out.writeByte(0xE0 | (c >> 12));
        out.writeByte(0x80 | ((c >> 6) & 0x3F));
        out.writeByte(0x80 | (c & 0x3F));
      }
    }
  }

  private static String text(byte[] bytes, int from, int to) {
    StringBuilder text = new StringBuilder(to - from);
    int at = from;
    while (at < to) {
      int first = bytes[at++];
      if (first >= 0) {
        text.append((char) first);
        continue;
      }
      int more = (first & 0xE0) == 0xC0 ? 1 : (first & 0xF0) == 0xE0 ? 2 : -1;
      if (more < 0 || at + more > to) {
        throw new MalformedException("an element's or a field's key is no text");
      }
      int unit = first & (more == 1 ? 0x1F : 0x0F);
      for (int i = 0; i < more; i++) {
        unit = (unit << 6) | (bytes[at++] & 0x3F);
      }
      text.append((char) unit);
    }
    return text.toString();
  }
}
