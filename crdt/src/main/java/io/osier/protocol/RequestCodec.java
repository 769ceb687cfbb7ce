package io.osier.protocol;

import static io.osier.protocol.WireParts.KEYSPACE_MAX;
import static io.osier.protocol.WireParts.readInt;
import static io.osier.protocol.WireParts.readOptional;
import static io.osier.protocol.WireParts.readParts;
import static io.osier.protocol.WireParts.readPlaces;
import static io.osier.protocol.WireParts.readType;
import static io.osier.protocol.WireParts.writeOptional;
import static io.osier.protocol.WireParts.writePlaces;
import static io.osier.protocol.WireParts.writeType;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.QueryCodec;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Encodes requests: type, fields. Thread-safe. */
final class RequestCodec {
  /** Longest text of a client's name, in bytes. */
  private static final int CLIENT_NAME_MAX = 128;

  private static final int HELLO = 1;
  private static final int PING = 2;
  private static final int READ = 3;
  private static final int WRITE = 4;
  private static final int SCAN = 5;
  private static final int INSPECT = 6;
  private static final int BACKUP = 7;
  private static final int TRANSACT = 8;
  private static final int REPEAT = 9;
  private static final int ASK_THROUGH = 10;
  private static final int ADMINISTER = 11;
  private static final int LOGIN = 12;
  private static final int PROOF = 13;
  private static final int ASK_KEYSPACES = 14;
  private static final int WRITE_ASKING = 15;
  private static final int READ_ALL = 16;
  private static final int WRITE_ALL = 17;
  private static final int SCAN_RANGE = 18;
  private static final int WATCH = 19;
  private static final int WRITE_CONDITIONAL = 24;
  private static final int EVALUATE = 25;

  private RequestCodec() {}

  static void write(WireOutput out, Request request) {
    switch (request) {
      case Greeting.Hello r -> {
        out.writeByte(HELLO);
        out.writeNumber(r.protocolVersion());
        out.writeText(r.client());
      }
      case Greeting.Login r -> {
        out.writeByte(LOGIN);
        out.writeNumber(r.protocolVersion());
        out.writeText(r.client());
        out.writeText(r.message());
      }
      case Greeting.Proof r -> {
        out.writeByte(PROOF);
        out.writeText(r.message());
      }
      case Request.Ping r -> out.writeByte(PING);
      case Request.Read r -> {
        out.writeByte(READ);
        out.writeText(r.keyspace());
        out.writeKey(r.key());
        writeType(out, r.type());
        QueryCodec.write(out, r.query());
        out.writeVector(r.after());
        out.writeBoolean(r.ordered());
        out.writeNumber(r.waitMillis());
      }
      case Request.Write r -> {
        boolean isPlain = r.ask().isEmpty() && r.condition().isEmpty();
        out.writeByte(isPlain ? WRITE : r.condition().isEmpty() ? WRITE_ASKING : WRITE_CONDITIONAL);
        out.writeText(r.keyspace());
        out.writeKey(r.key());
        out.writeByte(r.type().number());
        OperationCodec.write(out, r.operation());
        out.writeVector(r.after());
        out.writeNumber(r.waitMillis());
        r.condition().ifPresent(condition -> CallCodec.writeCondition(out, condition));
        r.ask().ifPresent(ask -> CallCodec.writeAsk(out, ask));
      }
      case Request.ReadAll r -> {
        out.writeByte(READ_ALL);
        out.writeText(r.keyspace());
        writeReads(out, r.reads());
        out.writeVector(r.after());
        out.writeBoolean(r.ordered());
        out.writeNumber(r.waitMillis());
      }
      case Request.WriteAll r -> {
        out.writeByte(WRITE_ALL);
        out.writeText(r.keyspace());
        writeUpdates(out, r.updates());
        out.writeVector(r.after());
        out.writeNumber(r.waitMillis());
      }
      case Request.Evaluate r -> {
        out.writeByte(EVALUATE);
        out.writeText(r.keyspace());
        out.writeCount(r.calls().size());
        r.calls().forEach(call -> CallCodec.write(out, call));
        out.writeCount(r.guards().size());
        r.guards().forEach(guard -> CallCodec.writeGuard(out, guard));
        out.writeVector(r.after());
        out.writeNumber(r.waitMillis());
      }
      case ScanRequest r -> {
        out.writeByte(r.isPlain() ? SCAN : SCAN_RANGE);
        out.writeText(r.keyspace());
        writeOptional(out, r.from(), WireOutput::writeKey);
        writeType(out, r.type());
        QueryCodec.write(out, r.query());
        out.writeNumber(r.limit());
        if (!r.isPlain()) {
          writeOptional(out, r.to(), WireOutput::writeKey);
          out.writeByte(r.want().number());
        }
      }
      case AdminRequest.Inspect r -> {
        out.writeByte(INSPECT);
        out.writeText(r.topic().name());
        writeOptional(out, r.keyspace(), WireOutput::writeText);
        out.writeNumber(r.limit());
      }
      case AdminRequest.Backup r -> {
        out.writeByte(BACKUP);
        writeOptional(out, r.name(), WireOutput::writeText);
      }
      case Request.Transact r -> {
        out.writeByte(TRANSACT);
        writeTransact(out, r);
      }
      case Request.Repeat r -> {
        out.writeByte(REPEAT);
        out.writeReplica(r.to());
        out.writeNumber(r.known());
        writeTransact(out, r.step());
      }
      case Request.Keyspaces r -> out.writeByte(ASK_KEYSPACES);
      case AdminRequest.Administer r -> {
        out.writeByte(ADMINISTER);
        out.writeText(r.subject());
        out.writeText(r.action());
        out.writeText(r.name());
        out.writeCount(r.settings().size());
        r.settings()
            .forEach(
                (name, value) -> {
                  out.writeText(name);
                  out.writeText(value);
                });
      }
      case WatchRequest r -> {
        out.writeByte(WATCH);
        out.writeText(r.keyspace());
        writeOptional(out, r.key(), WireOutput::writeKey);
        out.writeBoolean(r.prefix());
        writePlaces(out, r.places());
        out.writeBoolean(r.resumes());
        out.writeNumber(r.waitMillis());
      }
      case ProgressRequest.Through r -> {
        out.writeByte(ASK_THROUGH);
        out.writeText(r.keyspace());
        out.writeNumber(r.partition());
      }
      case ProgressRequest.Spread r -> throw staysHere();
      case ProgressRequest.Reach r -> throw staysHere();
    }
  }

  private static OsierException staysHere() {
    return OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "the request 'how far updates have come' exists only within a process and cannot be sent");
  }

  private static Request.Write readWrite(WireInput in, int tag) {
    return new Request.Write(
        in.readName(KEYSPACE_MAX),
        in.readKey(),
        CrdtType.of(in.readByte()),
        OperationCodec.read(in),
        in.readVector(),
        readInt(in),
        tag == WRITE_ASKING ? Optional.of(CallCodec.readAsk(in)) : Optional.empty(),
        tag == WRITE_CONDITIONAL ? Optional.of(CallCodec.readCondition(in)) : Optional.empty());
  }

  static Request read(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case HELLO -> new Greeting.Hello(readInt(in), in.readText(CLIENT_NAME_MAX));
      case LOGIN ->
          new Greeting.Login(
              readInt(in), in.readText(CLIENT_NAME_MAX), in.readText(Request.LOGIN_BYTES_MAX));
      case PROOF -> new Greeting.Proof(in.readText(Request.LOGIN_BYTES_MAX));
      case PING -> new Request.Ping();
      case READ ->
          new Request.Read(
              in.readName(KEYSPACE_MAX),
              in.readKey(),
              readType(in),
              QueryCodec.read(in),
              in.readVector(),
              in.readFlag(),
              readInt(in));
      case WRITE, WRITE_ASKING, WRITE_CONDITIONAL -> readWrite(in, tag);
      case READ_ALL ->
          new Request.ReadAll(
              in.readName(KEYSPACE_MAX),
              readReads(in),
              in.readVector(),
              in.readFlag(),
              readInt(in));
      case WRITE_ALL ->
          new Request.WriteAll(
              in.readName(KEYSPACE_MAX), readUpdates(in), in.readVector(), readInt(in));
      case EVALUATE ->
          new Request.Evaluate(
              in.readName(KEYSPACE_MAX),
              readParts(in, CallCodec.BYTES_MIN, Request.PROGRAM_MAX, CallCodec::read),
              readParts(in, 2, Request.PROGRAM_MAX, CallCodec::readGuard),
              in.readVector(),
              readInt(in));
      case SCAN -> readScan(in);
      case SCAN_RANGE -> {
        ScanRequest s = readScan(in);
        Optional<Key> to = readOptional(in, WireInput::readKey);
        ScanRequest.Want want = readWant(in);
        yield new ScanRequest(s.keyspace(), s.from(), to, s.type(), s.query(), s.limit(), want);
      }
      case INSPECT ->
          new AdminRequest.Inspect(
              Request.Topic.valueOf(in.readText(KEYSPACE_MAX)),
              readOptional(in, i -> i.readText(KEYSPACE_MAX)),
              readInt(in));
      case BACKUP ->
          new AdminRequest.Backup(readOptional(in, i -> i.readText(Request.BACKUP_NAME_MAX)));
      case TRANSACT -> readTransact(in);
      case REPEAT -> new Request.Repeat(in.readReplica(), in.readNumber(), readTransact(in));
      case ASK_KEYSPACES -> new Request.Keyspaces();
      case ADMINISTER ->
          new AdminRequest.Administer(
              in.readText(KEYSPACE_MAX),
              in.readText(KEYSPACE_MAX),
              in.readText(Request.SETTING_BYTES_MAX),
              readSettings(in));
      case WATCH -> readWatch(in);
      case ASK_THROUGH -> new ProgressRequest.Through(in.readName(KEYSPACE_MAX), readInt(in));
      default -> throw new MalformedException("request " + tag + " is unknown");
    };
  }

  private static ScanRequest readScan(WireInput in) {
    return new ScanRequest(
        in.readText(KEYSPACE_MAX),
        readOptional(in, WireInput::readKey),
        readType(in),
        QueryCodec.read(in),
        readInt(in));
  }

  private static WatchRequest readWatch(WireInput in) {
    String keyspace = in.readName(KEYSPACE_MAX);
    Optional<Key> key = readOptional(in, WireInput::readKey);
    boolean prefix = in.readFlag();
    if (key.isEmpty() && !prefix) {
      throw new MalformedException("a watcher of no prefix is one of a key");
    }
    return new WatchRequest(keyspace, key, prefix, readPlaces(in), in.readFlag(), readInt(in));
  }

  private static ScanRequest.Want readWant(WireInput in) {
    int number = in.readByte();
    if (number < 0 || number >= ScanRequest.Want.values().length) {
      throw new MalformedException("what a scan is to tell must be 0, 1 or 2, not " + number);
    }
    return ScanRequest.Want.values()[number];
  }

  private static SortedMap<String, String> readSettings(WireInput in) {
    int n = in.readCount(2);
    if (n > Request.SETTINGS_MAX) {
      throw new MalformedException("there may be " + Request.SETTINGS_MAX + " settings, not " + n);
    }
    SortedMap<String, String> settings = new TreeMap<>();
    for (int i = 0; i < n; i++) {
      settings.put(in.readText(KEYSPACE_MAX), in.readText(Request.SETTING_BYTES_MAX));
    }
    return settings;
  }

  private static void writeTransact(WireOutput out, Request.Transact r) {
    out.writeText(r.keyspace());
    out.writeLong(r.transaction().high());
    out.writeLong(r.transaction().low());
    out.writeNumber(r.step());
    writeOptional(
        out,
        r.begin(),
        (o, b) -> {
          o.writeVector(b.clock());
          o.writeBoolean(b.past());
          o.writeNumber(b.waitMillis());
          o.writeNumber(b.limitMillis());
        });
    writeUpdates(out, r.updates());
    writeReads(out, r.reads());
    out.writeByte(r.end().number());
  }

  private static void writeUpdates(WireOutput out, List<Request.Update> updates) {
    out.writeCount(updates.size());
    for (Request.Update u : updates) {
      out.writeKey(u.key());
      out.writeByte(u.type().number());
      OperationCodec.write(out, u.operation());
    }
  }

  private static List<Request.Update> readUpdates(WireInput in) {
    return readParts(
        in,
        4,
        Request.BATCH_MAX,
        i -> new Request.Update(i.readKey(), CrdtType.of(i.readByte()), OperationCodec.read(i)));
  }

  private static void writeReads(WireOutput out, List<Request.Fetch> reads) {
    out.writeCount(reads.size());
    for (Request.Fetch f : reads) {
      out.writeKey(f.key());
      writeType(out, f.type());
      QueryCodec.write(out, f.query());
    }
  }

  private static List<Request.Fetch> readReads(WireInput in) {
    return readParts(
        in,
        4,
        Request.BATCH_MAX,
        i -> new Request.Fetch(i.readKey(), readType(i), QueryCodec.read(i)));
  }

  private static Request.Transact readTransact(WireInput in) {
    String keyspace = in.readName(KEYSPACE_MAX);
    TransactionId id = new TransactionId(in.readLong(), in.readLong());
    int step = readInt(in);
    Optional<Request.Begin> begin =
        readOptional(
            in, i -> new Request.Begin(i.readVector(), i.readFlag(), readInt(i), readInt(i)));
    List<Request.Update> updates = readUpdates(in);
    List<Request.Fetch> reads = readReads(in);
    int end = in.readByte();
    if (end < 0 || end >= Request.End.values().length) {
      throw new MalformedException("a transaction's end must be 0, 1 or 2, not " + end);
    }
    return new Request.Transact(
        keyspace, id, step, begin, updates, reads, Request.End.values()[end]);
  }
}
