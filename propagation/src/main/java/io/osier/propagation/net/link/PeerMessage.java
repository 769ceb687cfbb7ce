package io.osier.propagation.net.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.Framing;
import io.osier.propagation.net.ProcessIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A message on a connection between two datacenters. */
public sealed interface PeerMessage {
  /** Longest text in a handshake, in bytes: a keyspace may name 64 replicas. */
  int TEXT_MAX = 8192;

  /** Largest note, in bytes. */
  int NOTE_BYTES_MAX = 64 << 10;

  /** The content of a message that consists only of its head. */
  byte[] NOTHING = {};

  /**
   * Introduces the dialler.
   *
   * @param to the datacenter that it means to reach
   * @param keyspaces the fingerprints of the keyspaces that both hold, as it is configured
   * @param dial counts the process's dials, from 1: one that hung in the network must not replace a
   *     later one
   * @param start of the process, as in {@link ProcessIdentity}; 0 if its version has no start
   *     numbers
   * @param former the earlier starts, as there
   */
  record Hello(
      int protocolVersion,
      String cluster,
      ReplicaId replica,
      String to,
      List<String> keyspaces,
      long dial,
      long start,
      List<Long> former)
      implements PeerMessage {}

  /**
   * Accepts the dialler; frames of the keyspaces on which both agree may follow.
   *
   * @param keyspaces the fingerprints of the keyspaces that both hold, as the acceptor is
   *     configured; empty if they are the dialler's
   * @param start of the process, as in {@link ProcessIdentity}; 0 if the version of either end has
   *     no start numbers
   * @param former the earlier starts, as there
   */
  record Welcome(ReplicaId replica, Optional<List<String>> keyspaces, long start, List<Long> former)
      implements PeerMessage {}

  /**
   * Refuses the dialler.
   *
   * @param newest with DUPLICATE_DC the newest incarnation known of the dialler's name, otherwise 0
   */
  record Refused(ErrorCode code, String message, long newest) implements PeerMessage {}

  /** Asks for a pong: the dialler checks whether the connection works. */
  record Ping() implements PeerMessage {}

  /** Answers a ping. */
  record Pong() implements PeerMessage {}

  /**
   * Asks whether the other end is alive. Either end may send it, if the other one has a start
   * number.
   *
   * @param number that {@link Alive} repeats
   */
  record Probe(long number) implements PeerMessage {}

  /** Answers {@link Probe}. */
  record Alive(long number) implements PeerMessage {}

  /**
   * Carries one partition's frame, encoded.
   *
   * @param keyspace its number in the list of fingerprints that the dialler has sent last
   */
  record Data(int keyspace, int partition, byte[] frame) implements PeerMessage {}

  /**
   * Carries data about one datacenter for another's operators, or a message that a client has
   * published: not replication, and nobody waits for it.
   *
   * @param content at most {@link #NOTE_BYTES_MAX}; the transport does not look at it
   */
  record Note(byte[] content) implements PeerMessage {}

  /**
   * Carries a client's request, which the dialler forwards.
   *
   * @param content the transport does not look at it
   */
  record Ask(byte[] content) implements PeerMessage {}

  /** Answers an {@link Ask}, over the connection on which that came. */
  record Answer(byte[] content) implements PeerMessage {}

  /**
   * Carries messages of the dialler that leave together, each in its frame: a block that {@link
   * LinkCompressor} made and {@link LinkInflater} reads.
   */
  record Compressed(byte[] block) implements PeerMessage {}

  /**
   * Says that the sender's keyspaces have changed. Sent by the dialler, whose frames are numbered
   * by this list from then on, and by the acceptor.
   *
   * @param fingerprints as in the greeting; older programs put an empty text in the place of a
   *     keyspace that is held no more
   */
  record Keyspaces(List<String> fingerprints) implements PeerMessage {
    public Keyspaces {
      fingerprints = List.copyOf(fingerprints);
    }
  }

  /** Returns a message in its frame. Content at which the transport does not look is not copied. */
  static ByteBuf frame(PeerMessage message) {
    byte[] content =
        switch (message) {
          case Data data -> data.frame;
          case Note note -> note.content;
          case Ask ask -> ask.content;
          case Answer answer -> answer.content;
          case Compressed compressed -> compressed.block;
          default -> NOTHING;
        };
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              out.writeInt(0);
              writeHead(out, message);
              int length = out.position() - Framing.LENGTH_BYTES + content.length;
              Framing.putLength(out.getBuffer(), 0, length);
            });
    return Unpooled.wrappedBuffer(head, content);
  }

  private static void writeHead(WireOutput out, PeerMessage message) {
    out.writeByte(Codec.FORMAT_VERSION);
    switch (message) {
      case Hello m -> {
        out.writeByte(1);
        out.writeNumber(m.protocolVersion);
        out.writeText(m.cluster);
        out.writeReplica(inEveryVersion(m.replica));
        out.writeText(m.to);
        writeTexts(out, m.keyspaces);
        out.writeNumber(m.dial);
        if (m.protocolVersion >= PeerVersions.STARTS) {
          out.writeNumber(m.start);
          out.writeText(m.replica.dc().substring(inEveryVersion(m.replica).dc().length()));
          writeNumbers(out, m.former);
        }
      }
      case Welcome m -> {
        out.writeByte(m.start == 0 ? 2 : 9);
        out.writeReplica(m.replica);
        if (m.start != 0) {
          out.writeNumber(m.start);
          writeNumbers(out, m.former);
        }
        m.keyspaces.ifPresent(keyspaces -> writeTexts(out, keyspaces));
      }
      case Refused m -> {
        out.writeByte(3);
        out.writeNumber(m.code.number());
        out.writeText(m.message);
        out.writeNumber(m.newest);
      }
      case Probe m -> {
        out.writeByte(10);
        out.writeNumber(m.number);
      }
      case Alive m -> {
        out.writeByte(11);
        out.writeNumber(m.number);
      }
      case Ping m -> out.writeByte(4);
      case Pong m -> out.writeByte(5);
      case Data m -> {
        out.writeByte(6);
        out.writeNumber(m.keyspace);
        out.writeNumber(m.partition);
      }
      case Note m -> out.writeByte(7);
      case Ask m -> out.writeByte(12);
      case Answer m -> out.writeByte(13);
      case Compressed m -> out.writeByte(14);
      case Keyspaces m -> {
        out.writeByte(8);
        writeTexts(out, m.fingerprints);
      }
    }
  }

  /**
   * Returns the part of a replica's name that older versions read in a greeting. The rest of the
   * name follows where they do not look, so that they refuse the greeting because of its version.
   */
  private static ReplicaId inEveryVersion(ReplicaId replica) {
    String dc = replica.dc();
    return dc.length() <= PeerVersions.NAME_MAX
        ? replica
        : new ReplicaId(dc.substring(0, PeerVersions.NAME_MAX), replica.incarnation());
  }

  /**
   * Decodes a message that fills the rest of the input; keeps no reference to the input.
   *
   * @throws MalformedException if the bytes are no message
   */
  static PeerMessage decode(WireInput in) {
    try {
      int version = in.readByte();
      if (version != Codec.FORMAT_VERSION) {
        throw new MalformedException(
            "format version " + version + " is not " + Codec.FORMAT_VERSION);
      }
      PeerMessage message = read(in);
      in.expectEnd();
      return message;
    } catch (MalformedException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new MalformedException("not a peer message: " + OsierException.reasonOf(e), e);
    }
  }

  private static PeerMessage read(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case 1 -> readHello(in);
      case 2 -> readWelcome(in.readReplica(), 0, List.of(), in);
      case 3 ->
          new Refused(ErrorCode.of((int) in.readNumber()), in.readText(TEXT_MAX), in.readNumber());
      case 4 -> new Ping();
      case 5 -> new Pong();
      case 6 -> {
        long keyspace = in.readNumber();
        long partition = in.readNumber();
        if (keyspace > Integer.MAX_VALUE || partition > Integer.MAX_VALUE) {
          throw new MalformedException(
              "partition " + partition + " of keyspace " + keyspace + " is out of range");
        }
        yield new Data((int) keyspace, (int) partition, in.readBytes(in.remaining()));
      }
      case 7 -> {
        if (in.remaining() > NOTE_BYTES_MAX) {
          throw new MalformedException("a note of " + in.remaining() + " bytes is too large");
        }
        yield new Note(in.readBytes(in.remaining()));
      }
      case 8 -> new Keyspaces(readTexts(in));
      case 9 -> readWelcome(in.readReplica(), in.readNumber(), readList(in, in::readNumber), in);
      case 10 -> new Probe(in.readNumber());
      case 11 -> new Alive(in.readNumber());
      case 12 -> new Ask(in.readBytes(in.remaining()));
      case 13 -> new Answer(in.readBytes(in.remaining()));
      case 14 -> {
        if (in.remaining() > 2 * LinkCompressor.BLOCK_BYTES_MAX) {
          throw new MalformedException("a block of " + in.remaining() + " bytes is too large");
        }
        yield new Compressed(in.readBytes(in.remaining()));
      }
      default -> throw new MalformedException("peer message " + tag + " is unknown");
    };
  }

  private static Hello readHello(WireInput in) {
    int version = (int) in.readNumber();
    String cluster = in.readText(TEXT_MAX);
    ReplicaId replica = in.readReplica();
    String to = in.readText(TEXT_MAX);
    List<String> keyspaces = readTexts(in);
    boolean isTooOld = version < PeerVersions.OLDEST;
    long dial = isTooOld ? 0 : in.readNumber();
    long start = version < PeerVersions.STARTS ? 0 : in.readNumber();
    if (version >= PeerVersions.LONG_NAMES) {
      String rest = in.readText(TEXT_MAX);
      replica =
          rest.isEmpty() ? replica : new ReplicaId(replica.dc() + rest, replica.incarnation());
    }
    List<Long> former = version < PeerVersions.STARTS ? List.of() : readList(in, in::readNumber);
    if (isTooOld || version > PeerVersions.NEWEST) {
      // The rest of its greeting is unknown here: it is refused by its version.
      in.setPosition(in.limit());
    }
    return new Hello(version, cluster, replica, to, keyspaces, dial, start, former);
  }

  private static Welcome readWelcome(
      ReplicaId replica, long start, List<Long> former, WireInput in) {
    return new Welcome(
        replica,
        in.remaining() == 0 ? Optional.empty() : Optional.of(readTexts(in)),
        start,
        former);
  }

  private static void writeNumbers(WireOutput out, List<Long> numbers) {
    out.writeCount(numbers.size());
    numbers.forEach(out::writeNumber);
  }

  private static void writeTexts(WireOutput out, List<String> texts) {
    out.writeCount(texts.size());
    texts.forEach(out::writeText);
  }

  private static List<String> readTexts(WireInput in) {
    return readList(in, () -> in.readText(TEXT_MAX));
  }

  private static <T> List<T> readList(WireInput in, Supplier<T> reads) {
    int n = in.readCount(1);
    List<T> list = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      list.add(reads.get());
    }
    return list;
  }
}
