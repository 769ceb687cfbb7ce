package io.osier.crdt;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;

/**
 * Encodes operations: a tag, then the fields. For use inside the records of the client protocol.
 * Thread-safe.
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

  /** As {@link #BOUND}, with the first value before the bounds. */
  private static final int BOUND_FROM = 24;

  private OperationCodec() {}

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
        out.writeSigned(DecimalAmount.whole(o.amount()));
        out.writeNumber(DecimalAmount.fraction(o.amount()));
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
        ItemCodec.writeValues(out, o.elements());
      }
      case Operation.Remove o -> {
        out.writeByte(REMOVE);
        ItemCodec.writeValues(out, o.elements());
      }
      case Operation.UpdateFields o -> {
        out.writeByte(UPDATE_FIELDS);
        out.writeCount(o.updates().size());
        for (Operation.FieldUpdate update : o.updates()) {
          update.field().write(out);
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
        ItemCodec.writeParts(out, o.of());
      }
      case Operation.PersistParts o -> {
        out.writeByte(PERSIST_PARTS);
        ItemCodec.writeParts(out, o.of());
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

  public static Operation read(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case INCREMENT -> new Operation.Increment(in.readSigned());
      case ASSIGN -> new Operation.Assign(in.readValue());
      case INCREMENT_DECIMAL ->
          new Operation.IncrementDecimal(DecimalAmount.of(in.readSigned(), in.readNumber()));
      case APPEND -> new Operation.Append(in.readValue());
      case SET_RANGE -> new Operation.SetRange(in.readNumber(), in.readValue());
      case SET_BIT -> new Operation.SetBit(in.readNumber(), in.readFlag());
      case SET_FLAG -> new Operation.SetFlag(in.readFlag());
      case ADD -> new Operation.Add(ItemCodec.readValues(in));
      case REMOVE -> new Operation.Remove(ItemCodec.readValues(in));
      case UPDATE_FIELDS -> {
        in.enter();
        List<Operation.FieldUpdate> updates =
            ItemCodec.readList(in, 4, i -> new Operation.FieldUpdate(FieldId.read(i), read(i)));
        in.leave();
        yield new Operation.UpdateFields(updates);
      }
      case REMOVE_FIELDS ->
          new Operation.RemoveFields(ItemCodec.readList(in, 1, ItemCodec::readName));
      case CLEAR -> new Operation.Clear();
      case DELETE -> new Operation.Delete();
      case EXPIRE -> readDeadline(in);
      case PERSIST -> new Operation.Persist();
      case WITH_DEADLINE -> {
        in.enter();
        Operation.Expire deadline = readDeadline(in);
        Operation update = read(in);
        in.leave();
        yield new Operation.WithDeadline(update, deadline);
      }
      case EXPIRE_PARTS -> {
        Operation.Expire deadline = readDeadline(in);
        yield new Operation.ExpireParts(ItemCodec.readParts(in), deadline);
      }
      case PERSIST_PARTS -> new Operation.PersistParts(ItemCodec.readParts(in));
      case WITH_PART_DEADLINES -> {
        in.enter();
        Operation.Expire deadline = readDeadline(in);
        Operation update = read(in);
        in.leave();
        yield new Operation.WithPartDeadlines(update, deadline);
      }
      case BOUND ->
          new Operation.Bound(
              in.readSigned(), in.readSigned(), ItemCodec.readList(in, 2, ItemCodec::readDc));
      case BOUND_FROM -> {
        long first = in.readSigned();
        yield new Operation.Bound(
            in.readSigned(), in.readSigned(), ItemCodec.readList(in, 2, ItemCodec::readDc), first);
      }
      case INCREMENT_WITHIN ->
          new Operation.IncrementWithin(in.readSigned(), Math.toIntExact(in.readNumber()));
      case TRANSFER -> new Operation.Transfer(ItemCodec.readDc(in), in.readSigned(), in.readFlag());
      case INHERIT -> new Operation.Inherit(ItemCodec.readDc(in));
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
}
