package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Utf8;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;

/**
 * A field of a map: its name and its type. If two datacenters create one name with two types at the
 * same time, there are two fields, so neither update is lost.
 *
 * @param name 1 to {@value #NAME_LENGTH_MAX} bytes in UTF-8
 * @param type the type of the field's value
 */
public record FieldId(String name, CrdtType type) implements Comparable<FieldId> {
  /** Longest name, in bytes of UTF-8. */
  public static final int NAME_LENGTH_MAX = 1024;

  public FieldId {
    Present.present(name, "a field's name");
    Present.present(type, "a field's type");
  }

  /** Writes the name, and the type's number. */
  public void write(WireOutput out) {
    out.writeText(name);
    out.writeByte(type.number());
  }

  /** Reads what {@link #write} wrote. */
  public static FieldId read(WireInput in) {
    return new FieldId(in.readText(NAME_LENGTH_MAX), CrdtType.of(in.readByte()));
  }

  /** Refuses a name that no format can carry. */
  static void checkName(String name) {
    int length = Utf8.length(name);
    if (length < 1 || length > NAME_LENGTH_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a field's name has 1 to " + NAME_LENGTH_MAX + " bytes, not " + length);
    }
  }

  /** Returns about how many bytes the field's identity takes in the heap. */
  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE)
        + HeapSize.text(name.length(), Utf8.length(name));
  }

  @Override
  public int compareTo(FieldId other) {
    int byName = name.compareTo(other.name);
    return byName != 0 ? byName : type.compareTo(other.type);
  }

  @Override
  public String toString() {
    return name + ":" + type;
  }
}
