package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

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
    return Base64.getUrlEncoder().withoutPadding().encodeToString(WireOutput.bytesOf(this::write));
  }

  private void write(WireOutput out) {
    out.startRecord();
    Codec.writeVersion(out);
    out.writeCount(places.size());
    for (Request.Place place : places) {
      out.writeLong(place.life());
      out.writeNumber(place.tick());
      out.writeVector(place.seen());
      out.writeBoolean(place.next().isPresent());
      place.next().ifPresent(out::writeKey);
    }
  }

  /**
   * Reads a position, which may come from anywhere. One that names what never was makes its own
   * watcher miss that.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is none
   */
  public static WatchPosition decode(String text) {
    try {
      if (text.length() > (BYTES_MAX * 4L + 2) / 3) {
        throw new MalformedException("it has " + text.length() + " characters");
      }
      return read(new WireInput(Base64.getUrlDecoder().decode(text)));
    } catch (RuntimeException e) {
      // Whatever is wrong with it (base 64, underflow, names, order): to a caller it is one thing.
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "this is no watcher's position ("
              + e.getMessage()
              + "); pass what WatchPosition.encode gave",
          e);
    }
  }

  private static WatchPosition read(WireInput in) {
    Codec.expectVersion(in);
    int n = in.readCount(11);
    if (n < 1 || n > KeyspacePolicy.PARTITIONS_MAX) {
      throw new MalformedException(n + " partitions");
    }
    List<Request.Place> places = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      long life = in.readLong();
      long tick = in.readNumber();
      VersionVector seen = in.readVector();
      Optional<Key> next = in.readFlag() ? Optional.of(in.readKey()) : Optional.empty();
      places.add(new Request.Place(life, tick, seen, next));
    }
    in.expectEnd();
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
