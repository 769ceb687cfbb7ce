package io.osier.protocol;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import java.util.List;

/** Encodes a watcher's positions in its partitions as a text. Static. */
public final class PlacesText {
  /** All partitions of a keyspace with homes: more are not created at run time. */
  private static final int PLACES_MAX = 2 * KeyspacePolicy.PARTITIONS_MAX;

  /**
   * Largest record in bytes: each of {@link #PLACES_MAX} places may name 30 lives of datacenters.
   */
  public static final int BYTES_MAX = 2 * EncodedText.BYTES_MAX;

  private PlacesText() {}

  /** Returns a text that {@link #read} reads, of letters, digits, '-' and '_'. */
  public static String of(List<WatchRequest.Place> places) {
    return EncodedText.of(EncodedText.bytes(out -> ProtocolCodec.writePlaces(out, places)));
  }

  /**
   * Reads a text, which may come from anywhere.
   *
   * @param source the call that returns such a text, for the error
   * @throws OsierException INVALID_ARGUMENT if the text is no watcher's position
   */
  public static List<WatchRequest.Place> read(String text, String source) {
    return EncodedText.read(text, "watcher's position", source, BYTES_MAX, PlacesText::read);
  }

  private static List<WatchRequest.Place> read(WireInput in) {
    List<WatchRequest.Place> places = ProtocolCodec.readPlaces(in);
    if (places.isEmpty() || places.size() > PLACES_MAX) {
      throw new MalformedException(places.size() + " partitions");
    }
    return places;
  }
}
