package io.osier.adaptation;

import java.util.HashMap;
import java.util.Map;

/**
 * How long a keyspace is left alone after a move: a pause, that doubles each time when a move takes
 * back the one before it of the same datacenter, as where rates flip. Not thread-safe.
 */
public final class PlacementPauses {
  /** The longest pause is so many of the shortest. */
  static final int PAUSES_MAX = 64;

  private record Last(PlacementPolicy.Kind kind, long millis) {}

  private final long pauseMillis;
  private final long rememberedMillis;

  /** The last move of each datacenter, as long as it is remembered. */
  private final Map<String, Last> last = new HashMap<>();

  private long notBefore = Long.MIN_VALUE;
  private long pause;

  /**
   * Nothing was moved.
   *
   * @param pauseMillis the shortest pause
   * @param rememberedMillis so long after the pause a move that is taken back counts
   */
  public PlacementPauses(long pauseMillis, long rememberedMillis) {
    this.pauseMillis = pauseMillis;
    this.rememberedMillis = rememberedMillis;
    this.pause = pauseMillis;
  }

  /** For how long nothing is moved yet. */
  public long leftMillis(long nowMillis) {
    return notBefore == Long.MIN_VALUE ? 0 : Math.max(0, notBefore - nowMillis);
  }

  /** A datacenter was moved. */
  public void moved(PlacementPolicy.Kind kind, String dc, long nowMillis) {
    last.values().removeIf(l -> nowMillis - l.millis > pause + rememberedMillis);
    Last before = last.put(dc, new Last(kind, nowMillis));
    boolean flaps = before != null && before.kind != kind;
    if (flaps) {
      pause = Math.min(2 * pause, PAUSES_MAX * pauseMillis);
    } else if (last.size() == 1) { // all others are long past
      pause = pauseMillis;
    }
    notBefore = nowMillis + pause;
  }
}
