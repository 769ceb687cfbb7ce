package io.osier.protocol;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The bytes of requests and replies: format version, id, type, fields. Every length is checked
 * against what is left. Thread-safe.
 */
public final class ProtocolCodec {
  /** Longest text of a client's name, in bytes. */
  private static final int CLIENT_NAME_MAX = 128;

  /** Longest keyspace name, in bytes. */
  private static final int KEYSPACE_MAX = 64;

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

  private static final int WELCOME = 1;
  private static final int PONG = 2;
  private static final int DONE = 3;
  private static final int ANSWER = 4;
  private static final int PAGE = 5;
  private static final int REPORT = 6;
  private static final int FAILURE = 7;
  private static final int TRANSACTED = 8;
  private static final int THROUGH = 9;
  private static final int KEYSPACES = 10;
  private static final int CHALLENGE = 11;
  private static final int DONE_ANSWERING = 12;
  private static final int ALL = 13;
  private static final int COUNTED = 14;
  private static final int CHANGES = 15;

  private ProtocolCodec() {}

  /** Encodes a request with its id. */
  public static byte[] encode(long id, Request request) {
    return WireOutput.bytesOf(out -> write(out, id, request));
  }

  /** Encodes a reply with the id of its request. */
  public static byte[] encode(long id, Reply reply) {
    return WireOutput.bytesOf(out -> write(out, id, reply));
  }

  /** Writes a request with its id, as a record of its own. */
  public static void write(WireOutput out, long id, Request request) {
    start(out, id);
    write(out, request);
  }

  /** Writes a reply with the id of its request, as a record of its own. */
  public static void write(WireOutput out, long id, Reply reply) {
    start(out, id);
    write(out, reply);
  }

  private static void start(WireOutput out, long id) {
    out.startRecord();
    Codec.writeVersion(out);
    out.writeNumber(id);
  }

  /**
   * Decodes a request.
   *
   * @throws MalformedException if the bytes are none, whatever they are
   */
  public static Envelope<Request> decodeRequest(byte[] bytes) {
    return decodeRequest(new WireInput(bytes));
  }

  /** As {@link #decodeRequest(byte[])}, of all that the input has. */
  public static Envelope<Request> decodeRequest(WireInput in) {
    return new Envelope<>(decodeId(in), decodeRequestBody(in));
  }

  /**
   * Decodes a message's beginning: its id. So what is wrong in the rest can be told to who waits.
   *
   * @throws MalformedException if there is none, or the message has another format
   */
  public static long decodeId(WireInput in) {
    Codec.expectVersion(in);
    try {
      return in.readNumber();
    } catch (KryoException e) {
      throw new MalformedException("not a message: " + e.getMessage(), e);
    }
  }

  /**
   * Decodes the rest of a request, after {@link #decodeId}.
   *
   * @throws MalformedException if it is none, whatever the bytes are
   */
  public static Request decodeRequestBody(WireInput in) {
    return Codec.readAll(in, "a message", ProtocolCodec::readRequest);
  }

  /**
   * Decodes a reply.
   *
   * @throws MalformedException if the bytes are none, whatever they are
   */
  public static Envelope<Reply> decodeReply(byte[] bytes) {
    return decodeReply(new WireInput(bytes));
  }

  /** As {@link #decodeReply(byte[])}, of all that the input has. */
  public static Envelope<Reply> decodeReply(WireInput in) {
    return new Envelope<>(decodeId(in), decodeReplyBody(in));
  }

  /**
   * Decodes the rest of a reply, after {@link #decodeId}.
   *
   * @throws MalformedException if it is none, whatever it is
   */
  public static Reply decodeReplyBody(WireInput in) {
    return Codec.readAll(in, "a message", ProtocolCodec::readReply);
  }

  // ---------------------------------------------------------------- requests

  private static void write(WireOutput out, Request request) {
    switch (request) {
      case Request.Hello r -> {
        out.writeByte(HELLO);
        out.writeNumber(r.protocolVersion());
        out.writeText(r.client());
      }
      case Request.Login r -> {
        out.writeByte(LOGIN);
        out.writeNumber(r.protocolVersion());
        out.writeText(r.client());
        out.writeText(r.message());
      }
      case Request.Proof r -> {
        out.writeByte(PROOF);
        out.writeText(r.message());
      }
      case Request.Ping r -> out.writeByte(PING);
      case Request.Read r -> {
        out.writeByte(READ);
        out.writeText(r.keyspace());
        out.writeKey(r.key());
        writeType(out, r.type());
        OperationCodec.write(out, r.query());
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
        if (r.condition().isPresent()) {
          out.writeCount(r.condition().get().path().size());
          r.condition().get().path().forEach(field -> OperationCodec.writeField(out, field));
          OperationCodec.write(out, r.condition().get().query());
          OperationCodec.write(out, r.condition().get().expected());
        }
        if (r.ask().isPresent()) {
          out.writeBoolean(r.ask().get().before());
          OperationCodec.write(out, r.ask().get().query());
        }
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
      case Request.Scan r -> {
        out.writeByte(r.isPlain() ? SCAN : SCAN_RANGE);
        out.writeText(r.keyspace());
        writeOptional(out, r.from(), WireOutput::writeKey);
        writeType(out, r.type());
        OperationCodec.write(out, r.query());
        out.writeNumber(r.limit());
        if (!r.isPlain()) {
          writeOptional(out, r.to(), WireOutput::writeKey);
          out.writeByte(r.want().number());
        }
      }
      case Request.Inspect r -> {
        out.writeByte(INSPECT);
        out.writeText(r.topic().name());
        writeOptional(out, r.keyspace(), WireOutput::writeText);
        out.writeNumber(r.limit());
      }
      case Request.Backup r -> {
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
        out.writeNumber(r.after());
        writeTransact(out, r.step());
      }
      case Request.Keyspaces r -> out.writeByte(ASK_KEYSPACES);
      case Request.Administer r -> {
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
      case Request.Watch r -> {
        out.writeByte(WATCH);
        out.writeText(r.keyspace());
        writeOptional(out, r.key(), WireOutput::writeKey);
        out.writeBoolean(r.prefix());
        writePlaces(out, r.places());
        out.writeBoolean(r.resumes());
        out.writeNumber(r.waitMillis());
      }
      case Request.Through r -> {
        out.writeByte(ASK_THROUGH);
        out.writeText(r.keyspace());
        out.writeNumber(r.partition());
      }
    }
  }

  private static Request.Write readWrite(WireInput in, int tag) {
    return new Request.Write(
        in.readName(KEYSPACE_MAX),
        in.readKey(),
        CrdtType.of(in.readByte()),
        OperationCodec.readOperation(in),
        in.readVector(),
        readInt(in),
        tag == WRITE_ASKING
            ? Optional.of(new Request.Ask(in.readFlag(), OperationCodec.readQuery(in)))
            : Optional.empty(),
        tag == WRITE_CONDITIONAL
            ? Optional.of(
                new Request.Condition(
                    readList(in, 2, OperationCodec::readField),
                    OperationCodec.readQuery(in),
                    OperationCodec.readReading(in)))
            : Optional.empty());
  }

  private static Request readRequest(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case HELLO -> new Request.Hello(readInt(in), in.readText(CLIENT_NAME_MAX));
      case LOGIN ->
          new Request.Login(
              readInt(in), in.readText(CLIENT_NAME_MAX), in.readText(Request.LOGIN_BYTES_MAX));
      case PROOF -> new Request.Proof(in.readText(Request.LOGIN_BYTES_MAX));
      case PING -> new Request.Ping();
      case READ ->
          new Request.Read(
              in.readName(KEYSPACE_MAX),
              in.readKey(),
              readType(in),
              OperationCodec.readQuery(in),
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
      case SCAN -> readScan(in);
      case SCAN_RANGE -> {
        Request.Scan s = readScan(in);
        Optional<Key> to = readOptional(in, WireInput::readKey);
        Request.Want want = readWant(in);
        yield new Request.Scan(s.keyspace(), s.from(), to, s.type(), s.query(), s.limit(), want);
      }
      case INSPECT ->
          new Request.Inspect(
              Request.Topic.valueOf(in.readText(KEYSPACE_MAX)),
              readOptional(in, i -> i.readText(KEYSPACE_MAX)),
              readInt(in));
      case BACKUP -> new Request.Backup(readOptional(in, i -> i.readText(Request.BACKUP_NAME_MAX)));
      case TRANSACT -> readTransact(in);
      case REPEAT -> new Request.Repeat(in.readReplica(), in.readNumber(), readTransact(in));
      case ASK_KEYSPACES -> new Request.Keyspaces();
      case ADMINISTER ->
          new Request.Administer(
              in.readText(KEYSPACE_MAX),
              in.readText(KEYSPACE_MAX),
              in.readText(Request.SETTING_BYTES_MAX),
              readSettings(in));
      case WATCH -> readWatch(in);
      case ASK_THROUGH -> new Request.Through(in.readName(KEYSPACE_MAX), readInt(in));
      default -> throw new MalformedException("request " + tag + " is unknown");
    };
  }

  private static Request.Scan readScan(WireInput in) {
    return new Request.Scan(
        in.readText(KEYSPACE_MAX),
        readOptional(in, WireInput::readKey),
        readType(in),
        OperationCodec.readQuery(in),
        readInt(in));
  }

  private static Request.Watch readWatch(WireInput in) {
    String keyspace = in.readName(KEYSPACE_MAX);
    Optional<Key> key = readOptional(in, WireInput::readKey);
    boolean prefix = in.readFlag();
    if (key.isEmpty() && !prefix) {
      throw new MalformedException("a watcher of no prefix is one of a key");
    }
    return new Request.Watch(
        keyspace,
        key,
        prefix,
        readList(in, 11, ProtocolCodec::readPlace),
        in.readFlag(),
        readInt(in));
  }

  private static void writePlaces(WireOutput out, List<Request.Place> places) {
    out.writeCount(places.size());
    for (Request.Place place : places) {
      out.writeLong(place.life());
      out.writeNumber(place.tick());
      out.writeVector(place.seen());
      writeOptional(out, place.next(), WireOutput::writeKey);
    }
  }

  private static Request.Place readPlace(WireInput in) {
    return new Request.Place(
        in.readLong(), in.readNumber(), in.readVector(), readOptional(in, WireInput::readKey));
  }

  private static Request.Want readWant(WireInput in) {
    int number = in.readByte();
    if (number < 0 || number >= Request.Want.values().length) {
      throw new MalformedException("what a scan is to tell must be 0, 1 or 2, not " + number);
    }
    return Request.Want.values()[number];
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
    return readList(
        in,
        4,
        i ->
            new Request.Update(
                i.readKey(), CrdtType.of(i.readByte()), OperationCodec.readOperation(i)));
  }

  private static void writeReads(WireOutput out, List<Request.Fetch> reads) {
    out.writeCount(reads.size());
    for (Request.Fetch f : reads) {
      out.writeKey(f.key());
      writeType(out, f.type());
      OperationCodec.write(out, f.query());
    }
  }

  private static List<Request.Fetch> readReads(WireInput in) {
    return readList(
        in, 4, i -> new Request.Fetch(i.readKey(), readType(i), OperationCodec.readQuery(i)));
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

  // ---------------------------------------------------------------- replies

  private static void write(WireOutput out, Reply reply) {
    switch (reply) {
      case Reply.Welcome r -> {
        out.writeByte(WELCOME);
        out.writeNumber(r.protocolVersion());
        out.writeReplica(r.replica());
        writeKeyspaces(out, r.keyspaces());
      }
      case Reply.Keyspaces r -> {
        out.writeByte(KEYSPACES);
        writeKeyspaces(out, r.keyspaces());
      }
      case Reply.Pong r -> out.writeByte(PONG);
      case Reply.Done r -> {
        out.writeByte(r.answer().isPresent() ? DONE_ANSWERING : DONE);
        out.writeDot(r.dot());
        r.answer().ifPresent(a -> writeAnswer(out, a));
      }
      case Reply.Answer r -> {
        out.writeByte(ANSWER);
        writeAnswer(out, r);
      }
      case Reply.Transacted r -> {
        out.writeByte(TRANSACTED);
        out.writeVector(r.clock());
        writeOptional(out, r.dot(), WireOutput::writeDot);
        out.writeCount(r.answers().size());
        r.answers().forEach(a -> writeAnswer(out, a));
      }
      case Reply.All r -> {
        out.writeByte(ALL);
        out.writeCount(r.parts().size());
        r.parts().forEach(part -> write(out, part));
      }
      case Reply.Page r -> {
        out.writeByte(PAGE);
        out.writeCount(r.rows().size());
        for (Reply.Row row : r.rows()) {
          out.writeKey(row.key());
          out.writeByte(row.type().number());
          OperationCodec.write(out, row.reading());
        }
        writeOptional(out, r.next(), WireOutput::writeKey);
        out.writeCount(r.seen().size());
        r.seen().forEach(out::writeVector);
      }
      case Reply.Counted r -> {
        out.writeByte(COUNTED);
        out.writeNumber(r.objects());
        writeOptional(out, r.next(), WireOutput::writeKey);
        out.writeCount(r.seen().size());
        r.seen().forEach(out::writeVector);
      }
      case Reply.Changes r -> {
        out.writeByte(CHANGES);
        out.writeCount(r.changes().size());
        for (Reply.Change change : r.changes()) {
          out.writeKey(change.key());
          writeType(out, change.type());
          writeOptional(out, change.origin(), WireOutput::writeReplica);
        }
        writePlaces(out, r.places());
        out.writeBoolean(r.whole());
      }
      case Reply.Report r -> {
        out.writeByte(REPORT);
        out.writeText(r.json());
      }
      case Reply.Through r -> {
        out.writeByte(THROUGH);
        out.writeVector(r.through());
      }
      case Reply.Challenge r -> {
        out.writeByte(CHALLENGE);
        out.writeText(r.message());
      }
      case Reply.Failure r -> {
        out.writeByte(FAILURE);
        out.writeNumber(r.code().number());
        out.writeText(r.message());
      }
    }
  }

  private static void writeKeyspaces(WireOutput out, List<Reply.KeyspaceInfo> keyspaces) {
    out.writeCount(keyspaces.size());
    for (Reply.KeyspaceInfo k : keyspaces) {
      out.writeText(k.name());
      out.writeNumber(k.slaMillis());
      out.writeNumber(k.partitions());
      out.writeBoolean(k.causal());
    }
  }

  private static Reply.KeyspaceInfo readKeyspace(WireInput in) {
    return new Reply.KeyspaceInfo(
        in.readText(KEYSPACE_MAX), in.readNumber(), readInt(in), in.readFlag());
  }

  private static void writeAnswer(WireOutput out, Reply.Answer r) {
    writeType(out, r.type());
    writeOptional(out, r.reading(), OperationCodec::write);
    out.writeBoolean(r.exists());
    out.writeVector(r.seen());
  }

  private static Reply readReply(WireInput in) {
    return readReply(in, in.readByte());
  }

  /** One of the kinds that a batch's parts have, so that a batch is in no batch. */
  private static Reply readPart(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case DONE, DONE_ANSWERING, ANSWER, FAILURE -> readReply(in, tag);
      default -> throw new MalformedException("reply " + tag + " is no part of a batch");
    };
  }

  private static Reply readReply(WireInput in, int tag) {
    return switch (tag) {
      case WELCOME ->
          new Reply.Welcome(
              readInt(in), in.readReplica(), readList(in, 4, ProtocolCodec::readKeyspace));
      case KEYSPACES -> new Reply.Keyspaces(readList(in, 4, ProtocolCodec::readKeyspace));
      case PONG -> new Reply.Pong();
      case DONE -> new Reply.Done(in.readDot());
      case DONE_ANSWERING -> new Reply.Done(in.readDot(), Optional.of(readAnswer(in)));
      case ANSWER -> readAnswer(in);
      case ALL -> new Reply.All(readList(in, 3, ProtocolCodec::readPart));
      case TRANSACTED ->
          new Reply.Transacted(
              in.readVector(),
              readOptional(in, WireInput::readDot),
              readList(in, 4, ProtocolCodec::readAnswer));
      case PAGE -> {
        List<Reply.Row> rows = readList(in, 4, ProtocolCodec::readRow);
        Optional<Key> next = readOptional(in, WireInput::readKey);
        List<VersionVector> seen = readList(in, 1, WireInput::readVector);
        yield new Reply.Page(rows, next, seen);
      }
      case COUNTED ->
          new Reply.Counted(
              in.readNumber(),
              readOptional(in, WireInput::readKey),
              readList(in, 1, WireInput::readVector));
      case CHANGES ->
          new Reply.Changes(
              readList(in, 4, ProtocolCodec::readChange),
              readList(in, 11, ProtocolCodec::readPlace),
              in.readFlag());
      case THROUGH -> new Reply.Through(in.readVector());
      case CHALLENGE -> new Reply.Challenge(in.readText(Request.LOGIN_BYTES_MAX));
      case REPORT -> new Reply.Report(in.readText(Codec.RECORD_BYTES_MAX));
      case FAILURE ->
          new Reply.Failure(ErrorCode.of(readInt(in)), in.readText(Codec.RECORD_BYTES_MAX));
      default -> throw new MalformedException("reply " + tag + " is unknown");
    };
  }

  private static Reply.Answer readAnswer(WireInput in) {
    return new Reply.Answer(
        readType(in),
        readOptional(in, OperationCodec::readReading),
        in.readFlag(),
        in.readVector());
  }

  private static Reply.Change readChange(WireInput in) {
    return new Reply.Change(in.readKey(), readType(in), readOptional(in, WireInput::readReplica));
  }

  private static Reply.Row readRow(WireInput in) {
    Key key = in.readKey();
    CrdtType type = CrdtType.of(in.readByte());
    Reading reading = OperationCodec.readReading(in);
    return new Reply.Row(key, type, reading);
  }

  // ---------------------------------------------------------------- parts

  private static int readInt(WireInput in) {
    long number = in.readNumber();
    if (number > Integer.MAX_VALUE) {
      throw new MalformedException("the number " + number + " is out of range");
    }
    return (int) number;
  }

  private static void writeType(WireOutput out, Optional<CrdtType> type) {
    out.writeByte(type.map(CrdtType::number).orElse(0));
  }

  private static Optional<CrdtType> readType(WireInput in) {
    int number = in.readByte();
    return number == 0 ? Optional.empty() : Optional.of(CrdtType.of(number));
  }

  private interface Writer<T> {
    void write(WireOutput out, T value);
  }

  private static <T> void writeOptional(WireOutput out, Optional<T> value, Writer<T> writer) {
    out.writeBoolean(value.isPresent());
    value.ifPresent(v -> writer.write(out, v));
  }

  private static <T> Optional<T> readOptional(WireInput in, Function<WireInput, T> reader) {
    return in.readFlag() ? Optional.of(reader.apply(in)) : Optional.empty();
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
