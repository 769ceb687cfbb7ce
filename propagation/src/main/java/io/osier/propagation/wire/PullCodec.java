package io.osier.propagation.wire;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.EntryRanges;
import java.util.ArrayList;
import java.util.List;

/** Encodes the frames by which large states are offered and pulled. Thread-safe. */
final class PullCodec {
  static final int OFFER = 11;
  static final int PULL = 12;
  static final int RANGES = 13;
  static final int ENTRIES = 14;
  static final int OFFER_WITH_DEADLINES = 15;

  /** The fewest bytes that a range takes: its key's length, and its hash. */
  private static final int RANGE_BYTES_MIN = 1 + 2 * Long.BYTES;

  private PullCodec() {}

  /**
   * Writes an offer with its type. One without deadlines has the bytes that it had before deadlines
   * existed.
   */
  static void writeOffer(WireOutput out, Frame.Offer offer) {
    EntryRanges.Head version = offer.version();
    out.writeByte(version.expires() ? OFFER_WITH_DEADLINES : OFFER);
    out.writeNumber(offer.epoch());
    out.writeNumber(offer.number());
    FrameParts.writeObject(out, offer.object());
    out.writeContext(version.context());
    if (version.expires()) {
      version.writeDeadlines(out);
    }
  }

  static Frame.Offer readOffer(WireInput in, int type) {
    if (type != OFFER && type != OFFER_WITH_DEADLINES) {
      throw new MalformedException("a frame of type " + type + " is no offer");
    }
    long epoch = in.readNumber();
    long number = in.readNumber();
    ObjectId object = FrameParts.readParted(in);
    CausalContext context = in.readContext();
    EntryRanges.Head version =
        type == OFFER
            ? EntryRanges.Head.of(context)
            : EntryRanges.Head.read(object.type(), context, in);
    return new Frame.Offer(epoch, number, object, version);
  }

  static void writePull(WireOutput out, Frame.Pull f) {
    out.writeByte(PULL);
    out.writeNumber(f.epoch());
    out.writeNumber(f.number());
    FrameParts.writeObject(out, f.object());
    out.writeBoolean(f.done());
    out.writeBlob(f.after().bytes());
    FrameParts.writePlaces(out, f.ranges());
  }

  static void writeRanges(WireOutput out, Frame.Ranges f) {
    out.writeByte(RANGES);
    out.writeNumber(f.epoch());
    out.writeNumber(f.number());
    FrameParts.writeObject(out, f.object());
    out.writeBlob(f.after().bytes());
    out.writeCount(f.ranges().size());
    for (EntryRanges.Range range : f.ranges()) {
      out.writeBlob(range.last().bytes());
      out.writeLong(range.high());
      out.writeLong(range.low());
    }
  }

  static void writeEntries(WireOutput out, ReplicaId sender, Frame.Entries f) {
    out.writeByte(ENTRIES);
    out.writeNumber(f.epoch());
    out.writeNumber(f.number());
    out.writeBlob(f.after().bytes());
    FrameParts.writePlaces(out, f.ranges());
    ShipmentCodec.writeShipment(out, sender, f.entries());
  }

  static Frame readPull(WireInput in) {
    Frame.Pull pull =
        new Frame.Pull(
            in.readNumber(),
            in.readNumber(),
            FrameParts.readObject(in),
            in.readFlag(),
            FrameParts.readEntryKey(in),
            FrameParts.readPlaces(in));
    EntryRanges.check(pull.object().type(), pull.after(), List.of());
    return pull;
  }

  static Frame readRanges(WireInput in) {
    long epoch = in.readNumber();
    long number = in.readNumber();
    ObjectId object = FrameParts.readObject(in);
    EntryKey after = FrameParts.readEntryKey(in);
    int n = in.readCount(RANGE_BYTES_MIN);
    List<EntryRanges.Range> ranges = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      EntryKey last = FrameParts.readEntryKey(in);
      ranges.add(new EntryRanges.Range(last, in.readLong(), in.readLong()));
    }
    if (ranges.isEmpty()) {
      throw new MalformedException("a page of ranges must have at least one range");
    }
    EntryRanges.check(object.type(), after, ranges);
    return new Frame.Ranges(epoch, number, object, after, ranges);
  }

  static Frame readEntries(WireInput in, ReplicaId sender) {
    Frame.Entries entries =
        new Frame.Entries(
            in.readNumber(),
            in.readNumber(),
            FrameParts.readEntryKey(in),
            FrameParts.readPlaces(in),
            ShipmentCodec.readShipment(in, sender));
    if (!EntryRanges.arePossible(entries.entries().content())) {
      throw new MalformedException(
          "a page of entries does not carry a state that can be divided into ranges");
    }
    return entries;
  }
}
