package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.protocol.PlacesText;
import io.osier.protocol.Request;
import java.util.List;

/**
 * How far a watcher has come: from there another one of the same keys goes on, in whatever process
 * and at whatever datacenter, without a gap. It may be told of some changes twice. Immutable.
 */
public final class WatchPosition {
  /** Largest encoded form, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = PlacesText.BYTES_MAX;

  private final List<Request.Place> places;

  WatchPosition(List<Request.Place> places) {
    this.places = List.copyOf(places);
  }

  List<Request.Place> places() {
    return places;
  }

  /** A text that {@link #decode} reads, of letters, digits, '-' and '_'. */
  public String encode() {
    return PlacesText.of(places);
  }

  /**
   * Reads a position, which may come from anywhere. One that names what never was makes its own
   * watcher miss that.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is none
   */
  public static WatchPosition decode(String text) {
    return new WatchPosition(PlacesText.read(text, "WatchPosition.encode"));
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
