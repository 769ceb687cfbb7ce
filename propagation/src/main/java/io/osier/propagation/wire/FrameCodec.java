package io.osier.propagation.wire;

import io.osier.core.HolderTerms;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.StateCodec;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Frame.Kind;
import io.osier.propagation.wire.Frame.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Encodes and decodes frames and shipments. A frame is a record: format version, type, content. A
 * shipment inside it is
 *
 * <pre>
 *   key | form and flags (1 byte) | the form's rest | origin, unless it is the sender | last
 *       | last − predecessor | needs, if any | updates | age in ms | the context's replicas | {@link StateCodec#pack}
 * </pre>
 *
 * <p>The sender is known to both sides from the connection, so it is preset in every dictionary of
 * replicas, and the dots of its own updates cost two or three bytes. Thread-safe.
 */
public final class FrameCodec {
  private static final int OUTAGE = 4;
  private static final int DEPS = 8;

  private static final ThreadLocal<WireOutput> SIZING = ThreadLocal.withInitial(WireOutput::new);

  private FrameCodec() {}

  /**
   * Encodes a frame.
   *
   * @param sender this datacenter
   */
  public static byte[] encode(ReplicaId sender, Frame frame) {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(Codec.FORMAT_VERSION);
          out.presetReplica(sender);
          write(out, sender, frame);
        });
  }

  /**
   * Decodes a frame.
   *
   * @param sender who sent it, as the handshake said
   * @throws MalformedException if the bytes are no frame
   */
  public static Frame decode(ReplicaId sender, byte[] bytes) {
    return decode(sender, bytes, 0, bytes.length);
  }

  /** Decodes a frame that fills a range of bytes. */
  public static Frame decode(ReplicaId sender, byte[] bytes, int offset, int length) {
    WireInput in = new WireInput(bytes, offset, length);
    in.presetReplica(sender);
    try {
      int version = in.readByte();
      if (version != Codec.FORMAT_VERSION) {
        throw new MalformedException(
            "format version " + version + " is not " + Codec.FORMAT_VERSION);
      }
      Frame frame = read(in, sender);
      in.expectEnd();
      return frame;
    } catch (MalformedException e) {
      throw e;
    } catch (RuntimeException e) {
      // Underflow and failed argument checks of the decoded types are the same thing to a caller.
      throw new MalformedException("not a frame: " + OsierException.reasonOf(e), e);
    }
  }

  /**
   * Returns the exact number of bytes that a shipment takes in a frame of its own.
   *
   * @param sender this datacenter, in any of its terms as a holder of the keyspace
   */
  public static int sizeOf(ReplicaId sender, Shipment shipment) {
    ReplicaId life = HolderTerms.life(sender); // the identity under which frames are sent
    WireOutput out = SIZING.get();
    out.reset();
    out.presetReplica(life);
    ShipmentCodec.writeHead(out, life, shipment);
    return out.position() + shipment.packed().length;
  }

  // ---------------------------------------------------------------- frames

  private static final int UPDATES = 1;
  private static final int ACK = 2;
  private static final int RESUME = 3;
  private static final int STATUS = 4;
  private static final int HEAL = 5;
  private static final int FETCH = 6;
  private static final int STATES = 7;
  private static final int VERIFY = 8;
  private static final int VERIFIED = 9;
  private static final int RIGHTS = 10;
  // 11 to 15 are the types of PullCodec.
  private static final int STATES_AND_OFFER = 16;
  private static final int WITHDRAWN = 17;

  private static void write(WireOutput out, ReplicaId sender, Frame frame) {
    switch (frame) {
      case Frame.Updates f -> {
        out.writeByte(UPDATES);
        out.writeByte(
            f.kind().number() | (f.outage() ? OUTAGE : 0) | (f.deps().isEmpty() ? 0 : DEPS));
        out.writeNumber(f.epoch());
        out.writeNumber(f.sequence());
        out.writeNumber(f.through());
        if (!f.deps().isEmpty()) {
          out.writeVector(f.deps());
        }
        FrameParts.writeCursor(out, f.cursor());
        out.writeNumber(f.sentMillis());
        ShipmentCodec.writeShipments(out, sender, f.shipments());
      }
      case Frame.Ack f -> {
        out.writeByte(ACK);
        out.writeNumber(f.epoch());
        out.writeNumber(f.sequence());
      }
      case Frame.Resume f -> {
        out.writeByte(RESUME);
        out.writeNumber(f.epoch());
        out.writeNumber(f.through());
        FrameParts.writeCursor(out, f.cursor());
      }
      case Frame.Status f -> {
        out.writeByte(STATUS);
        out.writeBoolean(f.wantResume());
        out.writeNumber(f.epoch());
        out.writeNumber(f.sequence());
        out.writeVector(f.through());
        out.writeNumber(f.life());
        out.writeVector(f.changes());
        out.writeNumber(f.committed());
        out.writeBoolean(f.waiting());
        out.writeNumber(f.sentMillis());
      }
      case Frame.Heal f -> {
        out.writeByte(HEAL);
        out.writeNumber(f.request());
        out.writeReplica(f.origin());
        out.writeNumber(f.after());
        out.writeContext(f.besides());
        FrameParts.writePage(out, f.page());
      }
      case Frame.Fetch f -> {
        out.writeByte(FETCH);
        out.writeNumber(f.request());
        out.writeCount(f.objects().size());
        f.objects().forEach(o -> FrameParts.writeObject(out, o));
      }
      case Frame.Verify f -> {
        out.writeByte(VERIFY);
        out.writeNumber(f.request());
        out.writeCount(f.objects().size());
        for (Frame.Known known : f.objects()) {
          FrameParts.writeObject(out, known.object());
          out.writeVector(known.through());
        }
      }
      case Frame.Verified f -> {
        out.writeByte(VERIFIED);
        out.writeNumber(f.request());
        FrameParts.writeObject(out, f.last());
        ShipmentCodec.writeShipments(out, sender, f.shipments());
        out.writeVector(f.deps());
      }
      case Frame.Rights f -> {
        out.writeByte(RIGHTS);
        FrameParts.writeObject(out, f.object());
        out.writeNumber(f.amount());
        out.writeBoolean(f.upward());
      }
      case Frame.States f -> {
        out.writeByte(STATES);
        writeStates(out, sender, f);
      }
      case Frame.StatesAndOffer f -> {
        out.writeByte(STATES_AND_OFFER);
        writeStates(out, sender, f.states());
        PullCodec.writeOffer(out, f.offer());
      }
      case Frame.Withdrawn f -> {
        out.writeByte(WITHDRAWN);
        out.writeNumber(f.number());
      }
      case Frame.Offer f -> PullCodec.writeOffer(out, f);
      case Frame.Pull f -> PullCodec.writePull(out, f);
      case Frame.Ranges f -> PullCodec.writeRanges(out, f);
      case Frame.Entries f -> PullCodec.writeEntries(out, sender, f);
    }
  }

  private static void writeStates(WireOutput out, ReplicaId sender, Frame.States states) {
    out.writeNumber(states.request());
    out.writeBoolean(states.origin().isPresent());
    states.origin().ifPresent(out::writeReplica);
    out.writeBoolean(states.next().isPresent());
    states.next().ifPresent(p -> FrameParts.writePage(out, p));
    out.writeNumber(states.through());
    FrameParts.writePlace(out, states.changes());
    out.writeVector(states.deps());
    ShipmentCodec.writeShipments(out, sender, states.shipments());
  }

  private static Frame.States readStates(WireInput in, ReplicaId sender) {
    long request = in.readNumber();
    Optional<ReplicaId> origin = in.readFlag() ? Optional.of(in.readReplica()) : Optional.empty();
    Optional<Page> next = in.readFlag() ? Optional.of(FrameParts.readPage(in)) : Optional.empty();
    return new Frame.States(
        request,
        origin,
        next,
        in.readNumber(),
        FrameParts.readPlace(in),
        in.readVector(),
        ShipmentCodec.readShipments(in, sender));
  }

  private static Frame.StatesAndOffer readStatesAndOffer(WireInput in, ReplicaId sender) {
    Frame.States states = readStates(in, sender);
    Frame.Offer offer = PullCodec.readOffer(in, in.readByte());
    if (offer.epoch() != Frame.Offer.OF_ANSWER) {
      throw new MalformedException("an offer with an answer is of stream epoch " + offer.epoch());
    }
    return new Frame.StatesAndOffer(states, offer);
  }

  private static Frame read(WireInput in, ReplicaId sender) {
    int type = in.readByte();
    return switch (type) {
      case UPDATES -> readUpdates(in, sender);
      case ACK -> new Frame.Ack(in.readNumber(), in.readNumber());
      case RESUME -> new Frame.Resume(in.readNumber(), in.readNumber(), FrameParts.readCursor(in));
      case STATUS ->
          new Frame.Status(
              in.readFlag(),
              in.readNumber(),
              in.readNumber(),
              in.readVector(),
              in.readNumber(),
              in.readVector(),
              in.readNumber(),
              in.readFlag(),
              in.readNumber());
      case HEAL ->
          new Frame.Heal(
              in.readNumber(),
              in.readReplica(),
              in.readNumber(),
              in.readContext(),
              FrameParts.readPage(in));
      case FETCH -> readFetch(in);
      case STATES -> readStates(in, sender);
      case STATES_AND_OFFER -> readStatesAndOffer(in, sender);
      case WITHDRAWN -> new Frame.Withdrawn(in.readNumber());
      case VERIFY -> {
        long request = in.readNumber();
        int n = in.readCount(FrameParts.OBJECT_BYTES_MIN + 1);
        List<Frame.Known> objects = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
          objects.add(new Frame.Known(FrameParts.readObject(in), in.readVector()));
        }
        yield new Frame.Verify(request, objects);
      }
      case VERIFIED ->
          new Frame.Verified(
              in.readNumber(),
              FrameParts.readObject(in),
              ShipmentCodec.readShipments(in, sender),
              in.readVector());
      case RIGHTS -> new Frame.Rights(FrameParts.readObject(in), in.readNumber(), in.readFlag());
      case PullCodec.OFFER, PullCodec.OFFER_WITH_DEADLINES -> PullCodec.readOffer(in, type);
      case PullCodec.PULL -> PullCodec.readPull(in);
      case PullCodec.RANGES -> PullCodec.readRanges(in);
      case PullCodec.ENTRIES -> PullCodec.readEntries(in, sender);
      default -> throw new MalformedException("frame type " + type + " is unknown");
    };
  }

  private static Frame readUpdates(WireInput in, ReplicaId sender) {
    int head = in.readByte();
    Kind kind =
        switch (head & ~(OUTAGE | DEPS)) {
          case 0 -> Kind.OPS;
          case 1 -> Kind.ROUND;
          case 2 -> Kind.CATCH_UP;
          default -> throw new MalformedException("kind of updates " + head + " is unknown");
        };
    return new Frame.Updates(
        kind,
        in.readNumber(),
        in.readNumber(),
        in.readNumber(),
        (head & DEPS) != 0 ? in.readVector() : VersionVector.EMPTY,
        FrameParts.readCursor(in),
        (head & OUTAGE) != 0,
        in.readNumber(),
        ShipmentCodec.readShipments(in, sender));
  }

  private static Frame readFetch(WireInput in) {
    long request = in.readNumber();
    int n = in.readCount(FrameParts.OBJECT_BYTES_MIN);
    List<ObjectId> objects = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      objects.add(FrameParts.readObject(in));
    }
    return new Frame.Fetch(request, objects);
  }

  /** Writes a place of a stream as a store keeps it. */
  public static void writeStoredCursor(WireOutput out, Cursor cursor) {
    FrameParts.writeCursor(out, Optional.of(cursor));
  }

  /** Reads what {@link #writeStoredCursor} wrote. */
  public static Cursor readStoredCursor(WireInput in) {
    return FrameParts.readCursor(in)
        .orElseThrow(() -> new MalformedException("a cursor is missing"));
  }
}
