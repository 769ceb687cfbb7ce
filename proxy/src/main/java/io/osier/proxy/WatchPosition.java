package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.protocol.PlacesText;
import io.osier.protocol.WatchRequest;
import java.util.List;

/**
 * How far a watcher has come. Another watcher of the same keys can go on from here, in any process
 * and at any datacenter, without a gap; it may be told of some changes twice. Immutable.
 */
public final class WatchPosition {
  /** Largest encoded form, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = PlacesText.BYTES_MAX;

  private final List<WatchRequest.Place> places;

  WatchPosition(List<WatchRequest.Place> places) {
    this.places = List.copyOf(places);
  }

  List<WatchRequest.Place> places() {
    return places;
  }

  /**
   * Returns the position as a text of letters, digits, '-' and '_', which {@link #decode} reads.
   */
  public String encode() {
    return PlacesText.of(places);
  }

  /**
   * Reads a position from a text, which need not be trusted: a forged position can only make its
   * own watcher miss changes.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is no position
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

  /** Returns a description for people; {@link #encode} is for machines. */
  @Override
  public String toString() {
    return "WatchPosition" + places;
  }
}
