package io.osier.datacenter.trace;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells a peer which traced updates are in shipments of joined updates. A shipment names only its
 * last update, so the peer could not know this. It is a note of its own kind; datacenters of older
 * versions ignore it.
 *
 * @param keyspace the shipments' keyspace
 * @param partition the shipments' partition
 * @param joined the traced updates
 */
record TraceNote(String keyspace, int partition, List<Joined> joined) {
  /** The first byte of such a note; that of the dashboard's notes is smaller. */
  private static final byte KIND = 3;

  /** Most updates of one note; further ones are in the next note. */
  static final int JOINED_MAX = 1_000;

  private static final int NAME_MAX = 256;

  TraceNote {
    joined = List.copyOf(joined);
  }

  /**
   * A traced update in a shipment.
   *
   * @param last the number of the shipment's last update
   * @param number the update's number
   * @param ageMillis the update's age when the note was made
   */
  record Joined(long last, long number, long ageMillis) {}

  static boolean isOne(byte[] note) {
    return note.length > 0 && note[0] == KIND;
  }

  byte[] encode() {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(KIND);
          out.writeText(keyspace);
          out.writeNumber(partition);
          out.writeCount(joined.size());
          for (Joined j : joined) {
            out.writeNumber(j.number);
            out.writeNumber(j.last - j.number);
            out.writeNumber(j.ageMillis);
          }
        });
  }

  /** Decodes what {@link #encode} wrote. */
  static TraceNote decode(byte[] note) {
    return Codec.readAll(new WireInput(note), "a note of followed updates", TraceNote::read);
  }

  private static TraceNote read(WireInput in) {
    in.readByte();
    String keyspace = in.readText(NAME_MAX);
    long partition = in.readNumber();
    int n = in.readCount(3);
    List<Joined> joined = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      long number = in.readNumber();
      joined.add(new Joined(number + in.readNumber(), number, in.readNumber()));
    }
    return new TraceNote(keyspace, Math.toIntExact(partition), joined);
  }
}
