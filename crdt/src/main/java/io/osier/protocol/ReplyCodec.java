package io.osier.protocol;

import static io.osier.protocol.WireParts.KEYSPACE_MAX;
import static io.osier.protocol.WireParts.readInt;
import static io.osier.protocol.WireParts.readList;
import static io.osier.protocol.WireParts.readOptional;
import static io.osier.protocol.WireParts.readPlaces;
import static io.osier.protocol.WireParts.readType;
import static io.osier.protocol.WireParts.writeOptional;
import static io.osier.protocol.WireParts.writePlaces;
import static io.osier.protocol.WireParts.writeType;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.Partitioning.Hash;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.crdt.ReadingCodec;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Encodes replies: type, fields. Thread-safe. */
final class ReplyCodec {
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
  private static final int EVALUATED = 16;
  private static final int WELCOME_ELSEWHERE = 17;
  private static final int KEYSPACES_ELSEWHERE = 18;
  private static final int ANSWER_AGED = 19;

  /** Longest name of a datacenter, and longest address, in bytes. */
  private static final int DATACENTER_MAX = 64;

  private static final int ADDRESS_MAX = 1_024;

  // Flags of a keyspace. Clients of versions before Request.BY_TAG_VERSION know the first, those
  // before Request.HOMES_VERSION the first two.
  private static final int CAUSAL = 1;
  private static final int BY_TAG = 2;
  private static final int WITH_HOMES = 4;

  private ReplyCodec() {}

  static void write(WireOutput out, Reply reply) {
    switch (reply) {
      case Reply.Welcome r -> {
        out.writeByte(r.elsewhere().isEmpty() ? WELCOME : WELCOME_ELSEWHERE);
        out.writeNumber(r.protocolVersion());
        out.writeReplica(r.replica());
        writeKeyspaces(out, r.keyspaces());
        writeElsewhere(out, r.elsewhere());
      }
      case Reply.Keyspaces r -> {
        out.writeByte(r.elsewhere().isEmpty() ? KEYSPACES : KEYSPACES_ELSEWHERE);
        writeKeyspaces(out, r.keyspaces());
        writeElsewhere(out, r.elsewhere());
      }
      case Reply.Pong r -> out.writeByte(PONG);
      case Reply.Done r -> {
        out.writeByte(r.answer().isPresent() ? DONE_ANSWERING : DONE);
        out.writeDot(r.dot());
        r.answer().ifPresent(a -> writeAnswer(out, a));
      }
      case Reply.Answer r -> {
        out.writeByte(r.age().isPresent() ? ANSWER_AGED : ANSWER);
        r.age().ifPresent(age -> out.writeNumber(age.toMillis()));
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
      case Reply.Evaluated r -> {
        out.writeByte(EVALUATED);
        out.writeBoolean(r.held());
        writeOptional(out, r.dot(), WireOutput::writeDot);
        out.writeCount(r.parts().size());
        r.parts().forEach(part -> write(out, part));
      }
      case Reply.Page r -> {
        out.writeByte(PAGE);
        out.writeCount(r.rows().size());
        for (Reply.Row row : r.rows()) {
          out.writeKey(row.key());
          out.writeByte(row.type().number());
          ReadingCodec.write(out, row.reading());
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
      case Reply.Spread r ->
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "the reply 'how far an update has come' exists only within a process and cannot be"
                  + " sent");
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
    keyspaces.forEach(k -> writeKeyspace(out, k));
  }

  private static void writeKeyspace(WireOutput out, Reply.KeyspaceInfo k) {
    out.writeText(k.name());
    out.writeNumber(k.slaMillis());
    out.writeNumber(k.partitions());
    List<String> homes = k.partitioning().homes().names();
    out.writeByte(
        (k.causal() ? CAUSAL : 0)
            | (k.partitioning().isByTag() ? BY_TAG : 0)
            | (homes.isEmpty() ? 0 : WITH_HOMES));
    if (!homes.isEmpty()) {
      out.writeCount(homes.size());
      homes.forEach(out::writeText);
    }
  }

  private static Reply.KeyspaceInfo readKeyspace(WireInput in) {
    String name = in.readText(KEYSPACE_MAX);
    long slaMillis = in.readNumber();
    int partitions = readInt(in);
    int flags = in.readByte();
    if (partitions < 1
        || partitions > KeyspacePolicy.PARTITIONS_MAX
        || flags > (CAUSAL | BY_TAG | WITH_HOMES)) {
      throw new MalformedException(
          "keyspace '" + name + "' with " + partitions + " partitions and flags " + flags);
    }
    Hash hash = (flags & BY_TAG) != 0 ? Hash.TAG : Hash.KEY;
    Homes homes = (flags & WITH_HOMES) != 0 ? readHomes(in) : Homes.NONE;
    return new Reply.KeyspaceInfo(
        name, slaMillis, new Partitioning(partitions, hash, homes), (flags & CAUSAL) != 0);
  }

  private static Homes readHomes(WireInput in) {
    List<String> names = readList(in, 1, home -> home.readText(DATACENTER_MAX));
    if (names.isEmpty()) {
      throw new MalformedException("a keyspace with homes, but without their names");
    }
    try {
      return new Homes(names, 0, List.of());
    } catch (IllegalArgumentException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  /** Writes nothing if there are no such keyspaces: the reply's type says so. */
  private static void writeElsewhere(WireOutput out, Reply.Elsewhere elsewhere) {
    if (elsewhere.isEmpty()) {
      return;
    }
    out.writeCount(elsewhere.keyspaces().size());
    for (Reply.HeldElsewhere held : elsewhere.keyspaces()) {
      writeKeyspace(out, held.keyspace());
      out.writeCount(held.holders().size());
      held.holders().forEach(out::writeText);
    }
    out.writeCount(elsewhere.addresses().size());
    new TreeMap<>(elsewhere.addresses())
        .forEach(
            (dc, address) -> {
              out.writeText(dc);
              out.writeText(address);
            });
  }

  private static Reply.Elsewhere readElsewhere(WireInput in) {
    List<Reply.HeldElsewhere> keyspaces =
        readList(
            in,
            5,
            i ->
                new Reply.HeldElsewhere(
                    readKeyspace(i), readList(i, 1, dc -> dc.readText(DATACENTER_MAX))));
    Map<String, String> addresses = new HashMap<>();
    for (int n = in.readCount(2); n > 0; n--) {
      String dc = in.readText(DATACENTER_MAX);
      addresses.put(dc, in.readText(ADDRESS_MAX));
    }
    return new Reply.Elsewhere(keyspaces, addresses);
  }

  private static void writeAnswer(WireOutput out, Reply.Answer r) {
    writeType(out, r.type());
    writeOptional(out, r.reading(), ReadingCodec::write);
    out.writeBoolean(r.exists());
    out.writeVector(r.seen());
  }

  static Reply read(WireInput in) {
    return read(in, in.readByte());
  }

  /**
   * Reads one of the kinds of replies that a batch's parts may have, so that batches are not
   * nested.
   */
  private static Reply readPart(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case DONE, DONE_ANSWERING, ANSWER, FAILURE -> read(in, tag);
      default -> throw new MalformedException("reply " + tag + " is no part of a batch");
    };
  }

  private static Reply read(WireInput in, int tag) {
    return switch (tag) {
      case WELCOME ->
          new Reply.Welcome(
              readInt(in), in.readReplica(), readList(in, 4, ReplyCodec::readKeyspace));
      case WELCOME_ELSEWHERE ->
          new Reply.Welcome(
              readInt(in),
              in.readReplica(),
              readList(in, 4, ReplyCodec::readKeyspace),
              readElsewhere(in));
      case KEYSPACES -> new Reply.Keyspaces(readList(in, 4, ReplyCodec::readKeyspace));
      case KEYSPACES_ELSEWHERE ->
          new Reply.Keyspaces(readList(in, 4, ReplyCodec::readKeyspace), readElsewhere(in));
      case PONG -> new Reply.Pong();
      case DONE -> new Reply.Done(in.readDot());
      case DONE_ANSWERING -> new Reply.Done(in.readDot(), Optional.of(readAnswer(in)));
      case ANSWER -> readAnswer(in);
      case ANSWER_AGED -> {
        Duration age = Duration.ofMillis(in.readNumber());
        yield readAnswer(in).aged(age);
      }
      case ALL -> new Reply.All(readList(in, 3, ReplyCodec::readPart));
      case EVALUATED ->
          new Reply.Evaluated(
              in.readFlag(),
              readOptional(in, WireInput::readDot),
              readList(in, 3, ReplyCodec::readPart));
      case TRANSACTED ->
          new Reply.Transacted(
              in.readVector(),
              readOptional(in, WireInput::readDot),
              readList(in, 4, ReplyCodec::readAnswer));
      case PAGE -> {
        List<Reply.Row> rows = readList(in, 4, ReplyCodec::readRow);
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
          new Reply.Changes(readList(in, 4, ReplyCodec::readChange), readPlaces(in), in.readFlag());
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
        readType(in), readOptional(in, ReadingCodec::read), in.readFlag(), in.readVector());
  }

  private static Reply.Change readChange(WireInput in) {
    return new Reply.Change(in.readKey(), readType(in), readOptional(in, WireInput::readReplica));
  }

  private static Reply.Row readRow(WireInput in) {
    Key key = in.readKey();
    CrdtType type = CrdtType.of(in.readByte());
    Reading reading = ReadingCodec.read(in);
    return new Reply.Row(key, type, reading);
  }
}
