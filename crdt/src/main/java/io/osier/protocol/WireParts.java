package io.osier.protocol;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Encodes the common parts of requests and replies. Thread-safe. */
final class WireParts {
  /** Longest keyspace name, in bytes. */
  static final int KEYSPACE_MAX = 64;

  /**
   * Up to this many times the limit of a request's items are decoded, so that the check of the
   * limit can refuse them with its own message.
   */
  private static final int READ_FACTOR = 4;

  private WireParts() {}

  static int readInt(WireInput in) {
    long number = in.readNumber();
    if (number > Integer.MAX_VALUE) {
      throw new MalformedException("the number " + number + " is out of range");
    }
    return (int) number;
  }

  static void writeType(WireOutput out, Optional<CrdtType> type) {
    out.writeByte(type.map(CrdtType::number).orElse(0));
  }

  static Optional<CrdtType> readType(WireInput in) {
    int number = in.readByte();
    return number == 0 ? Optional.empty() : Optional.of(CrdtType.of(number));
  }

  interface Writer<T> {
    void write(WireOutput out, T value);
  }

  static <T> void writeOptional(WireOutput out, Optional<T> value, Writer<T> writer) {
    out.writeBoolean(value.isPresent());
    value.ifPresent(v -> writer.write(out, v));
  }

  static <T> Optional<T> readOptional(WireInput in, Function<WireInput, T> reader) {
    return in.readFlag() ? Optional.of(reader.apply(in)) : Optional.empty();
  }

  static <T> List<T> readList(WireInput in, int itemBytesMin, Function<WireInput, T> reader) {
    return readItems(in, in.readCount(itemBytesMin), reader);
  }

  private static <T> List<T> readItems(WireInput in, int n, Function<WireInput, T> reader) {
    List<T> items = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      items.add(reader.apply(in));
    }
    return items;
  }

  /**
   * Reads a list of which a request may have at most {@code max} items. With many more, none is
   * read, since they take far more memory decoded than as bytes.
   */
  static <T> List<T> readParts(
      WireInput in, int itemBytesMin, int max, Function<WireInput, T> reader) {
    int n = in.readCount(itemBytesMin);
    if (n > READ_FACTOR * max) {
      throw new MalformedException("a request has at most " + max + " of a kind, not " + n);
    }
    return readItems(in, n, reader);
  }

  static void writePlaces(WireOutput out, List<WatchRequest.Place> places) {
    out.writeCount(places.size());
    for (WatchRequest.Place place : places) {
      out.writeLong(place.life());
      out.writeNumber(place.tick());
      out.writeVector(place.seen());
      writeOptional(out, place.next(), WireOutput::writeKey);
    }
  }

  static List<WatchRequest.Place> readPlaces(WireInput in) {
    return readList(in, 11, WireParts::readPlace);
  }

  private static WatchRequest.Place readPlace(WireInput in) {
    return new WatchRequest.Place(
        in.readLong(), in.readNumber(), in.readVector(), readOptional(in, WireInput::readKey));
  }
}
