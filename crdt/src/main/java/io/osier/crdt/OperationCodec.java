package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The bytes of operations, queries and readings: a tag, then the fields. For use inside the records
 * of the client protocol. Thread-safe.
 */
public final class OperationCodec {
  private static final int INCREMENT = 1;
  private static final int ASSIGN = 2;
  private static final int SET_FLAG = 3;
  private static final int ADD = 4;
  private static final int REMOVE = 5;
  private static final int UPDATE_FIELDS = 6;
  private static final int REMOVE_FIELDS = 7;
  private static final int CLEAR = 8;
  private static final int BOUND = 9;
  private static final int INCREMENT_WITHIN = 10;
  private static final int TRANSFER = 11;
  private static final int INHERIT = 12;
  private static final int DELETE = 13;
  private static final int EXPIRE = 14;
  private static final int PERSIST = 15;
  private static final int WITH_DEADLINE = 16;
  private static final int EXPIRE_PARTS = 17;
  private static final int PERSIST_PARTS = 18;
  private static final int WITH_PART_DEADLINES = 19;
  private static final int INCREMENT_DECIMAL = 20;
  private static final int APPEND = 21;
  private static final int SET_RANGE = 22;
  private static final int SET_BIT = 23;

  /** As {@link #BOUND}, with what it starts at before the bounds. */
  private static final int BOUND_FROM = 24;

  private static final int WHOLE = 1;
  private static final int CONTAINS = 2;
  private static final int SIZE = 3;
  private static final int SELECT = 4;
  private static final int QUERY_RIGHTS = 5;
  private static final int AMONG = 6;
  private static final int EXISTS = 7;
  private static final int TIME_TO_LIVE = 8;
  private static final int PART_TIME_TO_LIVE = 9;
  private static final int UNTIL_EXPIRY = 10;
  private static final int RANGE = 11;

  // A range's flags.
  private static final int DESCENDING = 1;
  private static final int FROM = 2;
  private static final int FROM_INCLUSIVE = 4;
  private static final int TO = 8;
  private static final int TO_INCLUSIVE = 16;

  private static final int ELEMENT = 1;
  private static final int FIELD = 2;

  private static final int COUNT = 1;
  private static final int FLAG = 2;
  private static final int SINGLE = 3;
  private static final int MANY = 4;
  private static final int FIELDS = 5;
  private static final int RIGHTS = 6;

  private OperationCodec() {}

  /** Writes an operation. */
  public static void write(WireOutput out, Operation operation) {
    switch (operation) {
      case Operation.Increment o -> {
        out.writeByte(INCREMENT);
        out.writeSigned(o.amount());
      }
      case Operation.Assign o -> {
        out.writeByte(ASSIGN);
        out.writeValue(o.value());
      }
      case Operation.IncrementDecimal o -> {
        out.writeByte(INCREMENT_DECIMAL);
        out.writeSigned(Operation.IncrementDecimal.whole(o.amount()));
        out.writeNumber(Operation.IncrementDecimal.fraction(o.amount()));
      }
      case Operation.Append o -> {
        out.writeByte(APPEND);
        out.writeValue(o.value());
      }
      case Operation.SetRange o -> {
        out.writeByte(SET_RANGE);
        out.writeNumber(o.offset());
        out.writeValue(o.value());
      }
      case Operation.SetBit o -> {
        out.writeByte(SET_BIT);
        out.writeNumber(o.offset());
        out.writeBoolean(o.on());
      }
      case Operation.SetFlag o -> {
        out.writeByte(SET_FLAG);
        out.writeBoolean(o.enabled());
      }
      case Operation.Add o -> {
        out.writeByte(ADD);
        writeValues(out, o.elements());
      }
      case Operation.Remove o -> {
        out.writeByte(REMOVE);
        writeValues(out, o.elements());
      }
      case Operation.UpdateFields o -> {
        out.writeByte(UPDATE_FIELDS);
        out.writeCount(o.updates().size());
        for (Operation.FieldUpdate update : o.updates()) {
          writeField(out, update.field());
          write(out, update.operation());
        }
      }
      case Operation.RemoveFields o -> {
        out.writeByte(REMOVE_FIELDS);
        out.writeCount(o.names().size());
        o.names().forEach(out::writeText);
      }
      case Operation.Clear o -> out.writeByte(CLEAR);
      case Operation.Delete o -> out.writeByte(DELETE);
      case Operation.Expire o -> {
        out.writeByte(EXPIRE);
        writeDeadline(out, o);
      }
      case Operation.Persist o -> out.writeByte(PERSIST);
      case Operation.WithDeadline o -> {
        out.writeByte(WITH_DEADLINE);
        writeDeadline(out, o.deadline());
        write(out, o.update());
      }
      case Operation.ExpireParts o -> {
        out.writeByte(EXPIRE_PARTS);
        writeDeadline(out, o.deadline());
        writeParts(out, o.of());
      }
      case Operation.PersistParts o -> {
        out.writeByte(PERSIST_PARTS);
        writeParts(out, o.of());
      }
      case Operation.WithPartDeadlines o -> {
        out.writeByte(WITH_PART_DEADLINES);
        writeDeadline(out, o.deadline());
        write(out, o.update());
      }
      case Operation.Bound o -> {
        out.writeByte(o.first() == 0 ? BOUND : BOUND_FROM);
        if (o.first() != 0) {
          out.writeSigned(o.first());
        }
        out.writeSigned(o.lower());
        out.writeSigned(o.upper());
        out.writeCount(o.sharers().size());
        o.sharers().forEach(out::writeText);
      }
      case Operation.IncrementWithin o -> {
        out.writeByte(INCREMENT_WITHIN);
        out.writeSigned(o.amount());
        out.writeNumber(o.waitMillis());
      }
      case Operation.Transfer o -> {
        out.writeByte(TRANSFER);
        out.writeText(o.to());
        out.writeSigned(o.amount());
        out.writeBoolean(o.upward());
      }
      case Operation.Inherit o -> {
        out.writeByte(INHERIT);
        out.writeText(o.from());
      }
    }
  }

  /** Reads an operation. */
  public static Operation readOperation(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case INCREMENT -> new Operation.Increment(in.readSigned());
      case ASSIGN -> new Operation.Assign(in.readValue());
      case INCREMENT_DECIMAL -> Operation.IncrementDecimal.of(in.readSigned(), in.readNumber());
      case APPEND -> new Operation.Append(in.readValue());
      case SET_RANGE -> new Operation.SetRange(in.readNumber(), in.readValue());
      case SET_BIT -> new Operation.SetBit(in.readNumber(), in.readFlag());
      case SET_FLAG -> new Operation.SetFlag(in.readFlag());
      case ADD -> new Operation.Add(readValues(in));
      case REMOVE -> new Operation.Remove(readValues(in));
      case UPDATE_FIELDS -> {
        in.enter();
        List<Operation.FieldUpdate> updates =
            readList(in, 4, i -> new Operation.FieldUpdate(readField(i), readOperation(i)));
        in.leave();
        yield new Operation.UpdateFields(updates);
      }
      case REMOVE_FIELDS -> new Operation.RemoveFields(readList(in, 1, OperationCodec::readName));
      case CLEAR -> new Operation.Clear();
      case DELETE -> new Operation.Delete();
      case EXPIRE -> readDeadline(in);
      case PERSIST -> new Operation.Persist();
      case WITH_DEADLINE -> {
        in.enter();
        Operation.Expire deadline = readDeadline(in);
        Operation update = readOperation(in);
        in.leave();
        yield new Operation.WithDeadline(update, deadline);
      }
      case EXPIRE_PARTS -> {
        Operation.Expire deadline = readDeadline(in);
        yield new Operation.ExpireParts(readParts(in), deadline);
      }
      case PERSIST_PARTS -> new Operation.PersistParts(readParts(in));
      case WITH_PART_DEADLINES -> {
        in.enter();
        Operation.Expire deadline = readDeadline(in);
        Operation update = readOperation(in);
        in.leave();
        yield new Operation.WithPartDeadlines(update, deadline);
      }
      case BOUND ->
          new Operation.Bound(
              in.readSigned(), in.readSigned(), readList(in, 2, OperationCodec::readDc));
      case BOUND_FROM -> {
        long first = in.readSigned();
        yield new Operation.Bound(
            in.readSigned(), in.readSigned(), readList(in, 2, OperationCodec::readDc), first);
      }
      case INCREMENT_WITHIN ->
          new Operation.IncrementWithin(in.readSigned(), Math.toIntExact(in.readNumber()));
      case TRANSFER -> new Operation.Transfer(readDc(in), in.readSigned(), in.readFlag());
      case INHERIT -> new Operation.Inherit(readDc(in));
      default -> throw new MalformedException("operation " + tag + " is unknown");
    };
  }

  private static void writeDeadline(WireOutput out, Operation.Expire deadline) {
    out.writeSigned(deadline.millis());
    out.writeBoolean(deadline.fromNow());
  }

  private static Operation.Expire readDeadline(WireInput in) {
    return new Operation.Expire(in.readSigned(), in.readFlag());
  }

  private static void writeParts(WireOutput out, List<Part> parts) {
    out.writeCount(parts.size());
    parts.forEach(part -> write(out, part));
  }

  private static List<Part> readParts(WireInput in) {
    return readList(in, 2, OperationCodec::readPart);
  }

  private static void write(WireOutput out, Part part) {
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

  private static Part readPart(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case ELEMENT -> new Part.Element(in.readValue());
      case FIELD -> new Part.Field(readName(in));
      default -> throw new MalformedException("part " + tag + " is unknown");
    };
  }

  /** Writes a query. */
  public static void write(WireOutput out, Query query) {
    switch (query) {
      case Query.Whole q -> out.writeByte(WHOLE);
      case Query.Contains q -> {
        out.writeByte(CONTAINS);
        out.writeValue(q.element());
      }
      case Query.Among q -> {
        out.writeByte(AMONG);
        writeValues(out, q.elements());
      }
      case Query.Size q -> out.writeByte(SIZE);
      case Query.Rights q -> out.writeByte(QUERY_RIGHTS);
      case Query.Exists q -> out.writeByte(EXISTS);
      case Query.TimeToLive q -> out.writeByte(TIME_TO_LIVE);
      case Query.UntilExpiry q -> out.writeByte(UNTIL_EXPIRY);
      case Query.PartTimeToLive q -> {
        out.writeByte(PART_TIME_TO_LIVE);
        write(out, q.part());
      }
      case Query.Deadline q ->
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT, "a deadline is told as the time that is left of it");
      case Query.Range q -> {
        out.writeByte(RANGE);
        out.writeByte(
            (q.descending() ? DESCENDING : 0)
                | endFlags(q.from(), FROM, FROM_INCLUSIVE)
                | endFlags(q.to(), TO, TO_INCLUSIVE));
        q.from().ifPresent(bound -> write(out, bound.part()));
        q.to().ifPresent(bound -> write(out, bound.part()));
        out.writeNumber(q.limit());
      }
      case Query.Select q -> {
        out.writeByte(SELECT);
        out.writeCount(q.names().size());
        q.names().forEach(out::writeText);
      }
    }
  }

  /** Reads a query. */
  public static Query readQuery(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case WHOLE -> new Query.Whole();
      case CONTAINS -> new Query.Contains(in.readValue());
      case AMONG -> new Query.Among(readValues(in));
      case SIZE -> new Query.Size();
      case QUERY_RIGHTS -> new Query.Rights();
      case EXISTS -> new Query.Exists();
      case TIME_TO_LIVE -> new Query.TimeToLive();
      case UNTIL_EXPIRY -> new Query.UntilExpiry();
      case PART_TIME_TO_LIVE -> new Query.PartTimeToLive(readPart(in));
      case RANGE -> readRange(in);
      case SELECT -> new Query.Select(readList(in, 1, OperationCodec::readName));
      default -> throw new MalformedException("query " + tag + " is unknown");
    };
  }

  private static int endFlags(Optional<Query.Bound> end, int there, int inclusive) {
    return end.map(bound -> there | (bound.inclusive() ? inclusive : 0)).orElse(0);
  }

  private static Query.Range readRange(WireInput in) {
    int flags = in.readByteUnsigned();
    if ((flags & ~(DESCENDING | FROM | FROM_INCLUSIVE | TO | TO_INCLUSIVE)) != 0) {
      throw new MalformedException("flags " + flags + " of a range are unknown");
    }
    Optional<Query.Bound> from = readBound(in, flags, FROM, FROM_INCLUSIVE);
    Optional<Query.Bound> to = readBound(in, flags, TO, TO_INCLUSIVE);
    long limit = in.readNumber();
    return new Query.Range(
        from, to, (flags & DESCENDING) != 0, (int) Math.min(limit, Integer.MAX_VALUE));
  }

  private static Optional<Query.Bound> readBound(
      WireInput in, int flags, int there, int inclusive) {
    return (flags & there) == 0
        ? Optional.empty()
        : Optional.of(new Query.Bound(readPart(in), (flags & inclusive) != 0));
  }

  /** Writes a reading. */
  public static void write(WireOutput out, Reading reading) {
    switch (reading) {
      case Reading.Count r -> {
        out.writeByte(COUNT);
        out.writeSigned(r.value());
      }
      case Reading.Flag r -> {
        out.writeByte(FLAG);
        out.writeBoolean(r.value());
      }
      case Reading.Single r -> {
        out.writeByte(SINGLE);
        out.writeBoolean(r.value().isPresent());
        r.value().ifPresent(out::writeValue);
      }
      case Reading.Many r -> {
        out.writeByte(MANY);
        writeValues(out, r.values());
      }
      case Reading.Rights r -> {
        out.writeByte(RIGHTS);
        out.writeSigned(r.value());
        out.writeSigned(r.lower());
        out.writeSigned(r.upper());
        out.writeCount(r.shares().size());
        r.shares()
            .forEach(
                (dc, share) -> {
                  out.writeText(dc);
                  out.writeSigned(share.down());
                  out.writeSigned(share.up());
                });
      }
      case Reading.Fields r -> {
        out.writeByte(FIELDS);
        out.writeCount(r.fields().size());
        r.fields()
            .forEach(
                (field, value) -> {
                  writeField(out, field);
                  write(out, value);
                });
      }
    }
  }

  /** Reads a reading. */
  public static Reading readReading(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case COUNT -> new Reading.Count(in.readSigned());
      case FLAG -> new Reading.Flag(in.readFlag());
      case SINGLE ->
          new Reading.Single(in.readFlag() ? Optional.of(in.readValue()) : Optional.empty());
      case MANY -> new Reading.Many(readValues(in));
      case FIELDS -> {
        in.enter();
        int n = in.readCount(4);
        SortedMap<FieldId, Reading> fields = new TreeMap<>();
        for (int i = 0; i < n; i++) {
          FieldId field = readField(in);
          fields.put(field, readReading(in));
        }
        in.leave();
        yield new Reading.Fields(fields);
      }
      case RIGHTS -> {
        long value = in.readSigned();
        long lower = in.readSigned();
        long upper = in.readSigned();
        SortedMap<String, Reading.Share> shares = new TreeMap<>();
        for (int n = in.readCount(4); n > 0; n--) {
          shares.put(readDc(in), new Reading.Share(in.readSigned(), in.readSigned()));
        }
        yield new Reading.Rights(value, lower, upper, shares);
      }
      default -> throw new MalformedException("reading " + tag + " is unknown");
    };
  }

  /** Writes a field's name and type. */
  public static void writeField(WireOutput out, FieldId field) {
    out.writeText(field.name());
    out.writeByte(field.type().number());
  }

  /** Reads what {@link #writeField} wrote. */
  public static FieldId readField(WireInput in) {
    return FieldId.read(in);
  }

  private static String readDc(WireInput in) {
    return ReplicaId.checkDcName(in.readText(ReplicaId.DC_NAME_LENGTH_MAX));
  }

  private static String readName(WireInput in) {
    return in.readText(FieldId.NAME_LENGTH_MAX);
  }

  private static void writeValues(WireOutput out, List<Value> values) {
    out.writeCount(values.size());
    values.forEach(out::writeValue);
  }

  private static List<Value> readValues(WireInput in) {
    return readList(in, 2, WireInput::readValue);
  }

  private static <T> List<T> readList(
      WireInput in, int itemBytesMin, Function<WireInput, T> reader) {
    int n = in.readCount(itemBytesMin);
    List<T> items = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      items.add(reader.apply(in));
    }
    return items;
  }
}
