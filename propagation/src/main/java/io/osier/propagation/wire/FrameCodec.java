package io.osier.propagation.wire;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.EntryRanges;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Frame.Kind;
import io.osier.propagation.wire.Frame.Page;
import io.osier.propagation.wire.Frame.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The bytes of frames and shipments. A frame is a record: format version, type, content. A shipment
 * inside it is
 *
 * <pre>
 *   key | {@link Causal#form} and flags (1 byte) | origin, unless it is the sender | last | last − predecessor
 *       | needs, if any | updates | age in ms | the context's replicas | {@link Causal#packed}
 * </pre>
 *
 * <p>The sender is known to both sides from the connection, so it is preset in every dictionary of
 * replicas, and the dots of its own updates cost two or three bytes. Thread-safe.
 */
public final class FrameCodec {
  private static final int FLAG_FULL = 1 << 5;
  private static final int FLAG_FOREIGN = 1 << 6;
  private static final int FLAG_NEEDS = 1 << 7;
  private static final int OUTAGE = 4;
  private static final int DEPS = 8;
  private static final int FORM_MASK = (1 << 5) - 1;

  /** The fewest bytes that a shipment takes. */
  private static final int SHIPMENT_BYTES_MIN = 8;

  /** The fewest bytes that a replica takes in a context: its number, and one range. */
  private static final int CONTEXT_BYTES_MIN = 4;

  /** The fewest bytes that an object's identity takes. */
  private static final int OBJECT_BYTES_MIN = 3;

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
      // Underflow, argument checks of the decoded types: to a caller they are one thing.
      throw new MalformedException("not a frame: " + e.getMessage(), e);
    }
  }

  /**
   * The exact number of bytes that a shipment takes in a frame of its own.
   *
   * @param sender this datacenter
   */
  public static int sizeOf(ReplicaId sender, Shipment shipment) {
    WireOutput out = SIZING.get();
    out.reset();
    out.presetReplica(sender);
    writeHead(out, sender, shipment);
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
  private static final int OFFER = 11;
  private static final int PULL = 12;
  private static final int RANGES = 13;
  private static final int ENTRIES = 14;
  private static final int OFFER_WITH_DEADLINES = 15;
  private static final int STATES_AND_OFFER = 16;
  private static final int WITHDRAWN = 17;

  /** The fewest bytes that a range takes: its key's length, and its hash. */
  private static final int RANGE_BYTES_MIN = 1 + 2 * Long.BYTES;

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
        writeCursor(out, f.cursor());
        out.writeNumber(f.sentMillis());
        writeShipments(out, sender, f.shipments());
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
        writeCursor(out, f.cursor());
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
        writePage(out, f.page());
      }
      case Frame.Fetch f -> {
        out.writeByte(FETCH);
        out.writeNumber(f.request());
        out.writeCount(f.objects().size());
        f.objects().forEach(o -> writeObject(out, o));
      }
      case Frame.Verify f -> {
        out.writeByte(VERIFY);
        out.writeNumber(f.request());
        out.writeCount(f.objects().size());
        for (Frame.Known known : f.objects()) {
          writeObject(out, known.object());
          out.writeVector(known.through());
        }
      }
      case Frame.Verified f -> {
        out.writeByte(VERIFIED);
        out.writeNumber(f.request());
        writeObject(out, f.last());
        writeShipments(out, sender, f.shipments());
        out.writeVector(f.deps());
      }
      case Frame.Rights f -> {
        out.writeByte(RIGHTS);
        writeObject(out, f.object());
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
        writeOffer(out, f.offer());
      }
      case Frame.Withdrawn f -> {
        out.writeByte(WITHDRAWN);
        out.writeNumber(f.number());
      }
      case Frame.Offer f -> writeOffer(out, f);
      case Frame.Pull f -> {
        out.writeByte(PULL);
        out.writeNumber(f.epoch());
        out.writeNumber(f.number());
        writeObject(out, f.object());
        out.writeBoolean(f.done());
        out.writeBlob(f.after().bytes());
        writePlaces(out, f.ranges());
      }
      case Frame.Ranges f -> {
        out.writeByte(RANGES);
        out.writeNumber(f.epoch());
        out.writeNumber(f.number());
        writeObject(out, f.object());
        out.writeBlob(f.after().bytes());
        out.writeCount(f.ranges().size());
        for (EntryRanges.Range range : f.ranges()) {
          out.writeBlob(range.last().bytes());
          out.writeLong(range.high());
          out.writeLong(range.low());
        }
      }
      case Frame.Entries f -> {
        out.writeByte(ENTRIES);
        out.writeNumber(f.epoch());
        out.writeNumber(f.number());
        out.writeBlob(f.after().bytes());
        writePlaces(out, f.ranges());
        writeShipment(out, sender, f.entries());
      }
    }
  }

  private static void writeStates(WireOutput out, ReplicaId sender, Frame.States states) {
    out.writeNumber(states.request());
    out.writeBoolean(states.origin().isPresent());
    states.origin().ifPresent(out::writeReplica);
    out.writeBoolean(states.next().isPresent());
    states.next().ifPresent(p -> writePage(out, p));
    out.writeNumber(states.through());
    writePlace(out, states.changes());
    out.writeVector(states.deps());
    writeShipments(out, sender, states.shipments());
  }

  private static Frame.States readStates(WireInput in, ReplicaId sender) {
    long request = in.readNumber();
    Optional<ReplicaId> origin = in.readFlag() ? Optional.of(in.readReplica()) : Optional.empty();
    Optional<Page> next = in.readFlag() ? Optional.of(readPage(in)) : Optional.empty();
    return new Frame.States(
        request,
        origin,
        next,
        in.readNumber(),
        readPlace(in),
        in.readVector(),
        readShipments(in, sender));
  }

  private static Frame.StatesAndOffer readStatesAndOffer(WireInput in, ReplicaId sender) {
    Frame.States states = readStates(in, sender);
    Frame.Offer offer = readOffer(in, in.readByte());
    if (offer.epoch() != Frame.Offer.OF_ANSWER) {
      throw new MalformedException("an offer with an answer is of stream epoch " + offer.epoch());
    }
    return new Frame.StatesAndOffer(states, offer);
  }

  /** With its type: those without deadlines are what they were before there were others. */
  private static void writeOffer(WireOutput out, Frame.Offer offer) {
    EntryRanges.Head version = offer.version();
    out.writeByte(version.expires() ? OFFER_WITH_DEADLINES : OFFER);
    out.writeNumber(offer.epoch());
    out.writeNumber(offer.number());
    writeObject(out, offer.object());
    out.writeContext(version.context());
    if (version.expires()) {
      version.writeDeadlines(out);
    }
  }

  private static Frame.Offer readOffer(WireInput in, int type) {
    if (type != OFFER && type != OFFER_WITH_DEADLINES) {
      throw new MalformedException("a frame of type " + type + " is no offer");
    }
    long epoch = in.readNumber();
    long number = in.readNumber();
    ObjectId object = readParted(in);
    CausalContext context = in.readContext();
    EntryRanges.Head version =
        type == OFFER
            ? EntryRanges.Head.of(context)
            : EntryRanges.Head.read(object.type(), context, in);
    return new Frame.Offer(epoch, number, object, version);
  }

  private static void writePlaces(WireOutput out, List<Integer> places) {
    out.writeCount(places.size());
    int before = -1;
    for (int place : places) {
      out.writeCount(place - before - 1);
      before = place;
    }
  }

  private static List<Integer> readPlaces(WireInput in) {
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

  private static Frame read(WireInput in, ReplicaId sender) {
    int type = in.readByte();
    return switch (type) {
      case UPDATES -> readUpdates(in, sender);
      case ACK -> new Frame.Ack(in.readNumber(), in.readNumber());
      case RESUME -> new Frame.Resume(in.readNumber(), in.readNumber(), readCursor(in));
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
              in.readNumber(), in.readReplica(), in.readNumber(), in.readContext(), readPage(in));
      case FETCH -> readFetch(in);
      case STATES -> readStates(in, sender);
      case STATES_AND_OFFER -> readStatesAndOffer(in, sender);
      case WITHDRAWN -> new Frame.Withdrawn(in.readNumber());
      case VERIFY -> {
        long request = in.readNumber();
        int n = in.readCount(OBJECT_BYTES_MIN + 1);
        List<Frame.Known> objects = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
          objects.add(new Frame.Known(readObject(in), in.readVector()));
        }
        yield new Frame.Verify(request, objects);
      }
      case VERIFIED ->
          new Frame.Verified(
              in.readNumber(), readObject(in), readShipments(in, sender), in.readVector());
      case RIGHTS -> new Frame.Rights(readObject(in), in.readNumber(), in.readFlag());
      case OFFER, OFFER_WITH_DEADLINES -> readOffer(in, type);
      case PULL -> readPull(in);
      case RANGES -> readRanges(in);
      case ENTRIES -> readEntries(in, sender);
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
        readCursor(in),
        (head & OUTAGE) != 0,
        in.readNumber(),
        readShipments(in, sender));
  }

  /** An object that has entries. */
  private static ObjectId readParted(WireInput in) {
    ObjectId object = readObject(in);
    EntryRanges.check(object.type(), EntryKey.NONE, List.of());
    return object;
  }

  private static EntryKey readEntryKey(WireInput in) {
    return new EntryKey(in.readBlob(Codec.RECORD_BYTES_MAX));
  }

  private static Frame readPull(WireInput in) {
    Frame.Pull pull =
        new Frame.Pull(
            in.readNumber(),
            in.readNumber(),
            readObject(in),
            in.readFlag(),
            readEntryKey(in),
            readPlaces(in));
    EntryRanges.check(pull.object().type(), pull.after(), List.of());
    return pull;
  }

  private static Frame readRanges(WireInput in) {
    long epoch = in.readNumber();
    long number = in.readNumber();
    ObjectId object = readObject(in);
    EntryKey after = readEntryKey(in);
    int n = in.readCount(RANGE_BYTES_MIN);
    List<EntryRanges.Range> ranges = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      EntryKey last = readEntryKey(in);
      ranges.add(new EntryRanges.Range(last, in.readLong(), in.readLong()));
    }
    if (ranges.isEmpty()) {
      throw new MalformedException("a page of ranges has none");
    }
    EntryRanges.check(object.type(), after, ranges);
    return new Frame.Ranges(epoch, number, object, after, ranges);
  }

  private static Frame readEntries(WireInput in, ReplicaId sender) {
    Frame.Entries entries =
        new Frame.Entries(
            in.readNumber(),
            in.readNumber(),
            readEntryKey(in),
            readPlaces(in),
            readShipment(in, sender));
    if (!EntryRanges.arePossible(entries.entries().content())) {
      throw new MalformedException("entries came as something else");
    }
    return entries;
  }

  private static Frame readFetch(WireInput in) {
    long request = in.readNumber();
    int n = in.readCount(OBJECT_BYTES_MIN);
    List<ObjectId> objects = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      objects.add(readObject(in));
    }
    return new Frame.Fetch(request, objects);
  }

  private static void writeCursor(WireOutput out, Optional<Cursor> cursor) {
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

  private static Optional<Cursor> readCursor(WireInput in) {
    int head = readHead(in);
    if (head == 0) {
      return Optional.empty();
    }
    long base = in.readNumber();
    Optional<ObjectId> scanned = readScanned(in, head);
    long life = in.readNumber();
    long done = base + in.readNumber();
    if (done < base) {
      throw new MalformedException("a cursor is out of range");
    }
    return Optional.of(new Cursor(life, base, done, in.readNumber(), scanned));
  }

  private static void writePage(WireOutput out, Page page) {
    writePlace(out, page.place());
    out.writeBoolean(page.scanned().isPresent());
    page.scanned().ifPresent(o -> writeObject(out, o));
  }

  private static Page readPage(WireInput in) {
    return new Page(readPlace(in), in.readFlag() ? Optional.of(readObject(in)) : Optional.empty());
  }

  private static void writePlace(WireOutput out, Place place) {
    out.writeNumber(place.life());
    out.writeNumber(place.change());
  }

  private static Place readPlace(WireInput in) {
    return new Place(in.readNumber(), in.readNumber());
  }

  private static int readHead(WireInput in) {
    int head = in.readByte();
    if (head < 0 || head > 2) {
      throw new MalformedException("a cursor must be 0, 1 or 2, not " + head);
    }
    return head;
  }

  private static Optional<ObjectId> readScanned(WireInput in, int head) {
    return head == 2 ? Optional.of(readObject(in)) : Optional.empty();
  }

  private static void writeObject(WireOutput out, ObjectId object) {
    out.writeKey(object.key());
    out.writeByte(object.type().number());
  }

  private static ObjectId readObject(WireInput in) {
    Key key = in.readKey();
    return new ObjectId(key, CrdtType.of(in.readByte()));
  }

  // ---------------------------------------------------------------- shipments

  private static void writeShipments(WireOutput out, ReplicaId sender, List<Shipment> shipments) {
    out.writeCount(shipments.size());
    for (Shipment s : shipments) {
      writeShipment(out, sender, s);
    }
  }

  private static List<Shipment> readShipments(WireInput in, ReplicaId sender) {
    int n = in.readCount(SHIPMENT_BYTES_MIN);
    List<Shipment> shipments = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      shipments.add(readShipment(in, sender));
    }
    return shipments;
  }

  private static void writeShipment(WireOutput out, ReplicaId sender, Shipment s) {
    writeHead(out, sender, s);
    out.writeBytes(s.packed());
  }

  private static void writeHead(WireOutput out, ReplicaId sender, Shipment s) {
    boolean foreign = !s.origin().equals(sender);
    boolean needs = !s.needs().isEmpty();
    out.writeKey(s.object().key());
    out.writeByte(
        s.content().form()
            | (s.content().isFull() ? FLAG_FULL : 0)
            | (foreign ? FLAG_FOREIGN : 0)
            | (needs ? FLAG_NEEDS : 0));
    if (foreign) {
      out.writeReplica(s.origin());
    }
    out.writeNumber(s.last());
    out.writeNumber(s.last() - s.predecessor());
    if (needs) {
      out.writeVector(s.needs());
    }
    out.writeNumber(s.updates());
    out.writeNumber(s.ageMillis());
    CausalContext context = s.content().context();
    out.writeCount(context.size());
    for (int i = 0; i < context.size(); i++) {
      out.writeReplica(context.replica(i));
    }
  }

  private static Shipment readShipment(WireInput in, ReplicaId sender) {
    Key key = in.readKey();
    int head = in.readByteUnsigned();
    int form = head & FORM_MASK;
    ReplicaId origin = (head & FLAG_FOREIGN) != 0 ? in.readReplica() : sender;
    long last = in.readNumber();
    long step = in.readNumber();
    if (step > last) {
      throw new MalformedException("a shipment's predecessor is negative");
    }
    VersionVector needs = (head & FLAG_NEEDS) != 0 ? in.readVector() : VersionVector.EMPTY;
    long updates = in.readNumber();
    if (updates > Integer.MAX_VALUE) {
      throw new MalformedException("a shipment of " + updates + " updates is out of range");
    }
    long age = in.readNumber();
    int n = in.readCount(CONTEXT_BYTES_MIN);
    List<ReplicaId> replicas = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      replicas.add(in.readReplica());
    }
    Causal content = Causal.unpack(form, (head & FLAG_FULL) != 0, replicas, in);
    return new Shipment(
        new ObjectId(key, content.type()),
        origin,
        last - step,
        needs,
        last,
        (int) updates,
        age,
        content);
  }

  /** Writes a place of a stream, as a store keeps it. */
  public static void writeStoredCursor(WireOutput out, Cursor cursor) {
    writeCursor(out, Optional.of(cursor));
  }

  /** Reads what {@link #writeStoredCursor} wrote. */
  public static Cursor readStoredCursor(WireInput in) {
    return readCursor(in).orElseThrow(() -> new MalformedException("a cursor is missing"));
  }
}
