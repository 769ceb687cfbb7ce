package io.osier.propagation.wire;

import io.osier.core.Key;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Frame.Page;
import io.osier.propagation.wire.Frame.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Encodes the parts that several kinds of frames consist of. Thread-safe. */
final class FrameParts {
  /** The fewest bytes that an object's identity takes. */
  static final int OBJECT_BYTES_MIN = 3;

  private FrameParts() {}

  static void writeCursor(WireOutput out, Optional<Cursor> cursor) {
    out.writeByte(cursor.isEmpty() ? 0 : cursor.get().scanned().isPresent() ? 2 : 1);
    cursor.ifPresent(
        c -> {
          out.writeNumber(c.base());
          c.scanned().ifPresent(o -> writeObject(out, o));
          out.writeNumber(c.life());
          out.writeNumber(c.done() - c.base());
          out.writeNumber(c.sent());
        });
  }

  static Optional<Cursor> readCursor(WireInput in) {
    int head = readHead(in);
    if (head == 0) {
      return Optional.empty();
    }
    long base = in.readNumber();
    Optional<ObjectId> scanned = head == 2 ? Optional.of(readObject(in)) : Optional.empty();
    long life = in.readNumber();
    long done = base + in.readNumber();
    if (done < base) {
      throw new MalformedException("a cursor is out of range");
    }
    return Optional.of(new Cursor(life, base, done, in.readNumber(), scanned));
  }

  static void writePage(WireOutput out, Page page) {
    writePlace(out, page.place());
    out.writeBoolean(page.scanned().isPresent());
    page.scanned().ifPresent(o -> writeObject(out, o));
  }

  static Page readPage(WireInput in) {
    return new Page(readPlace(in), in.readFlag() ? Optional.of(readObject(in)) : Optional.empty());
  }

  static void writePlace(WireOutput out, Place place) {
    out.writeNumber(place.life());
    out.writeNumber(place.change());
  }

  static Place readPlace(WireInput in) {
    return new Place(in.readNumber(), in.readNumber());
  }

  private static int readHead(WireInput in) {
    int head = in.readByte();
    if (head < 0 || head > 2) {
      throw new MalformedException("a cursor must be 0, 1 or 2, not " + head);
    }
    return head;
  }

  static void writeObject(WireOutput out, ObjectId object) {
    out.writeKey(object.key());
    out.writeByte(object.type().number());
  }

  static ObjectId readObject(WireInput in) {
    Key key = in.readKey();
    return new ObjectId(key, CrdtType.of(in.readByte()));
  }

  static void writePlaces(WireOutput out, List<Integer> places) {
    out.writeCount(places.size());
    int before = -1;
    for (int place : places) {
      out.writeCount(place - before - 1);
      before = place;
    }
  }

  static List<Integer> readPlaces(WireInput in) {
    int n = in.readCount(1);
    List<Integer> places = new ArrayList<>(n);
    long before = -1;
    for (int i = 0; i < n; i++) {
      before += 1 + in.readNumber();
      if (before > Integer.MAX_VALUE) {
        throw new MalformedException("there is no range " + before);
      }
      places.add((int) before);
    }
    return places;
  }

  static EntryKey readEntryKey(WireInput in) {
    return new EntryKey(in.readBlob(Codec.RECORD_BYTES_MAX));
  }

  /** Reads an object of a type that has entries. */
  static ObjectId readParted(WireInput in) {
    ObjectId object = readObject(in);
    EntryRanges.check(object.type(), EntryKey.NONE, List.of());
    return object;
  }
}
