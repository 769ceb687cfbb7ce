package io.osier.proxy;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.protocol.EncodedText;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Request;
import java.util.List;

/**
 * How far a watcher has come: from there another one of the same keys goes on, in whatever process
 * and at whatever datacenter, without a gap. It may be told of some changes twice. Immutable.
 */
public final class WatchPosition {
  /** Largest encoded form, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = 64 << 10;

  private final List<Request.Place> places;

  WatchPosition(List<Request.Place> places) {
    this.places = List.copyOf(places);
  }

  List<Request.Place> places() {
    return places;
  }

  /** A text that {@link #decode} reads, of letters, digits, '-' and '_'. */
  public String encode() {
    return EncodedText.of(EncodedText.bytes(out -> ProtocolCodec.writePlaces(out, places)));
  }

  /**
   * Reads a position, which may come from anywhere. One that names what never was makes its own
   * watcher miss that.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is none
   */
  public static WatchPosition decode(String text) {
    return EncodedText.read(
        text, BYTES_MAX, "watcher's position", "WatchPosition.encode", WatchPosition::read);
  }

  private static WatchPosition read(WireInput in) {
    List<Request.Place> places = ProtocolCodec.readPlaces(in);
    if (places.isEmpty() || places.size() > KeyspacePolicy.PARTITIONS_MAX) {
      throw new MalformedException(places.size() + " partitions");
    }
    return new WatchPosition(places);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof WatchPosition other && places.equals(other.places);
  }

  @Override
  public int hashCode() {
    return places.hashCode();
  }

  /** What it tells, for people; {@link #encode} is for machines. */
  @Override
  public String toString() {
    return "WatchPosition" + places;
  }
}
