package io.osier.datacenter.redis.cursor;

import io.osier.datacenter.redis.command.Cursors;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Keeps the places of at most {@value #PLACES} walks, each for ten minutes, and fewer if they are
 * large: a place in a set is an element. The oldest is forgotten first; its walk begins anew, so it
 * still shows at least once whatever is there all the time. Thread-safe.
 */
public final class CursorTable implements Cursors {
  static final int PLACES = 16_384;
  static final long MILLIS = 600_000;

  /** Most bytes of all places together, the newest one excepted. */
  static final long BYTES_MAX = 32 << 20;

  private record Place(byte[] bytes, long untilMillis) {}

  private final LongSupplier millis;
  private final LongSupplier numbers;

  /** The places by their numbers, the oldest first. */
  private final Map<Long, Place> places = new LinkedHashMap<>();

  private long bytes;

  /**
   * @param millis the present time, in milliseconds since 1970
   * @param numbers draws numbers that nobody can guess
   */
  public CursorTable(LongSupplier millis, LongSupplier numbers) {
    this.millis = millis;
    this.numbers = numbers;
  }

  @Override
  public synchronized long put(byte[] place) {
    long now = millis.getAsLong();
    Iterator<Place> oldest = places.values().iterator();
    while (oldest.hasNext()) {
      Place next = oldest.next();
      boolean hasRoom = places.size() < PLACES && bytes + place.length <= BYTES_MAX;
      if (next.untilMillis > now && hasRoom) {
        break;
      }
      bytes -= next.bytes.length;
      oldest.remove();
    }
    long number;
    do {
      number = numbers.getAsLong() & Long.MAX_VALUE; // some clients take no larger ones
    } while (number == 0 || places.containsKey(number));
    places.put(number, new Place(place.clone(), now + MILLIS));
    bytes += place.length;
    return number;
  }

  @Override
  public synchronized Optional<byte[]> get(long cursor) {
    return Optional.ofNullable(places.get(cursor))
        .filter(place -> place.untilMillis > millis.getAsLong())
        .map(place -> place.bytes.clone());
  }
}
