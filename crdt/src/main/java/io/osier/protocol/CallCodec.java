package io.osier.protocol;

import static io.osier.protocol.WireParts.readInt;
import static io.osier.protocol.WireParts.readList;
import static io.osier.protocol.WireParts.readOptional;
import static io.osier.protocol.WireParts.readType;
import static io.osier.protocol.WireParts.writeOptional;
import static io.osier.protocol.WireParts.writeType;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.QueryCodec;
import io.osier.crdt.ReadingCodec;

/** Encodes a program's calls: kind, key, fields. Thread-safe. */
final class CallCodec {
  /** The fewest bytes of a call: its kind, an empty key and one more. */
  static final int BYTES_MIN = 2;

  private static final int READ = 1;
  private static final int VERSION = 2;
  private static final int UPDATE = 3;
  private static final int REPLACE = 4;
  private static final int RENAME = 5;
  private static final int COPY = 6;
  private static final int TAKE = 7;
  private static final int EXPIRE_IF = 8;
  private static final int TEST = 9;

  private CallCodec() {}

  static void write(WireOutput out, Call call) {
    switch (call) {
      case Call.Read c -> {
        start(out, READ, c);
        writeType(out, c.type());
        QueryCodec.write(out, c.query());
      }
      case Call.Version c -> start(out, VERSION, c);
      case Call.Update c -> {
        start(out, UPDATE, c);
        out.writeByte(c.type().number());
        OperationCodec.write(out, c.operation());
        writeOptional(out, c.ask(), CallCodec::writeAsk);
      }
      case Call.Replace c -> {
        start(out, REPLACE, c);
        out.writeByte(c.type().number());
        OperationCodec.write(out, c.operation());
        out.writeBoolean(c.keepsDeadline());
      }
      case Call.Rename c -> {
        start(out, RENAME, c);
        out.writeKey(c.to());
        out.writeBoolean(c.onlyIfAbsent());
      }
      case Call.Copy c -> {
        start(out, COPY, c);
        out.writeKey(c.to());
        out.writeBoolean(c.onlyIfAbsent());
      }
      case Call.Take c -> {
        start(out, TAKE, c);
        out.writeByte(c.type().number());
        out.writeNumber(c.count());
        out.writeLong(c.seed());
      }
      case Call.ExpireIf c -> {
        start(out, EXPIRE_IF, c);
        OperationCodec.write(out, c.deadline());
        out.writeByte(c.when().number());
      }
      case Call.Test c -> {
        start(out, TEST, c);
        writeType(out, c.type());
        writeCondition(out, c.condition());
      }
      case Call.Script c ->
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "a script runs only within its own process and cannot be sent");
    }
  }

  private static void start(WireOutput out, int kind, Call call) {
    out.writeByte(kind);
    out.writeKey(call.key());
  }

  static Call read(WireInput in) {
    int kind = in.readByte();
    Key key = in.readKey();
    return switch (kind) {
      case READ -> new Call.Read(key, readType(in), QueryCodec.read(in));
      case VERSION -> new Call.Version(key);
      case UPDATE ->
          new Call.Update(
              key,
              CrdtType.of(in.readByte()),
              OperationCodec.read(in),
              readOptional(in, CallCodec::readAsk));
      case REPLACE ->
          new Call.Replace(key, CrdtType.of(in.readByte()), OperationCodec.read(in), in.readFlag());
      case RENAME -> new Call.Rename(key, in.readKey(), in.readFlag());
      case COPY -> new Call.Copy(key, in.readKey(), in.readFlag());
      case TAKE -> new Call.Take(key, CrdtType.of(in.readByte()), readInt(in), in.readLong());
      case EXPIRE_IF -> new Call.ExpireIf(key, readDeadline(in), readWhen(in));
      case TEST -> new Call.Test(key, readType(in), readCondition(in));
      default -> throw new MalformedException("call " + kind + " of a program is unknown");
    };
  }

  private static Operation.Expire readDeadline(WireInput in) {
    Operation operation = OperationCodec.read(in);
    if (operation instanceof Operation.Expire deadline) {
      return deadline;
    }
    throw new MalformedException(
        "a deadline is wanted, not " + operation.getClass().getSimpleName());
  }

  private static Call.When readWhen(WireInput in) {
    int number = in.readByte();
    if (number < 0 || number >= Call.When.values().length) {
      throw new MalformedException("which deadline allows a new one is 0 to 4, not " + number);
    }
    return Call.When.values()[number];
  }

  static void writeGuard(WireOutput out, Call.Guard guard) {
    out.writeKey(guard.key());
    out.writeVector(guard.version());
  }

  static Call.Guard readGuard(WireInput in) {
    return new Call.Guard(in.readKey(), in.readVector());
  }

  static void writeAsk(WireOutput out, Request.Ask ask) {
    out.writeBoolean(ask.before());
    QueryCodec.write(out, ask.query());
  }

  static Request.Ask readAsk(WireInput in) {
    return new Request.Ask(in.readFlag(), QueryCodec.read(in));
  }

  static void writeCondition(WireOutput out, Request.Condition condition) {
    out.writeCount(condition.path().size());
    condition.path().forEach(field -> field.write(out));
    QueryCodec.write(out, condition.query());
    ReadingCodec.write(out, condition.expected());
  }

  static Request.Condition readCondition(WireInput in) {
    return new Request.Condition(
        readList(in, 2, FieldId::read), QueryCodec.read(in), ReadingCodec.read(in));
  }
}
