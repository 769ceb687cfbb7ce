package io.osier.crdt;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Encodes the common parts of operations, queries and readings. Thread-safe. */
final class ItemCodec {
  private static final int ELEMENT = 1;
  private static final int FIELD = 2;

  private ItemCodec() {}

  static void writeParts(WireOutput out, List<Part> parts) {
    out.writeCount(parts.size());
    parts.forEach(part -> writePart(out, part));
  }

  static List<Part> readParts(WireInput in) {
    return readList(in, 2, ItemCodec::readPart);
  }

  static void writePart(WireOutput out, Part part) {
    switch (part) {
      case Part.Element p -> {
        out.writeByte(ELEMENT);
        out.writeValue(p.value());
      }
      case Part.Field p -> {
        out.writeByte(FIELD);
        out.writeText(p.name());
      }
    }
  }

  static Part readPart(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case ELEMENT -> new Part.Element(in.readValue());
      case FIELD -> new Part.Field(readName(in));
      default -> throw new MalformedException("part " + tag + " is unknown");
    };
  }

  static String readDc(WireInput in) {
    return ReplicaId.checkDcName(in.readText(ReplicaId.DC_NAME_LENGTH_MAX));
  }

  static String readName(WireInput in) {
    return in.readText(FieldId.NAME_LENGTH_MAX);
  }

  static void writeValues(WireOutput out, List<Value> values) {
    out.writeCount(values.size());
    values.forEach(out::writeValue);
  }

  static List<Value> readValues(WireInput in) {
    return readList(in, 2, WireInput::readValue);
  }

  static <T> List<T> readList(WireInput in, int itemBytesMin, Function<WireInput, T> reader) {
    int n = in.readCount(itemBytesMin);
    List<T> items = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      items.add(reader.apply(in));
    }
    return items;
  }
}
