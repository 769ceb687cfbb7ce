package io.osier.adaptation;

import java.util.HashMap;
import java.util.Map;

/**
 * When a keyspace is moved. A move must be found best so many times in a row, so that one burst,
 * lull or restart moves nothing. After a move it is left alone: for a pause that begins when the
 * move is done, and doubles each time when a move takes back the one before it of the same
 * datacenter, as where rates flip. Not thread-safe.
 */
public final class PlacementPauses {
  /** The longest pause is so many of the shortest. */
  static final int PAUSES_MAX = 64;

  /** A move is made when it was found best so many times in a row. */
  public static final int FOUND_MIN = 3;

  private record Last(PlacementPolicy.Kind kind, long millis) {}

  private final long pauseMillis;
  private final long rememberedMillis;

  /** The last move of each datacenter, as long as it is remembered. */
  private final Map<String, Last> last = new HashMap<>();

  private long notBefore = Long.MIN_VALUE;
  private long pause;

  private PlacementPolicy.Kind found = PlacementPolicy.Kind.STAY;
  private String foundDc = "";
  private int times;

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

  /**
   * What is best was found once more, a pause of the shortest after the time before.
   *
   * @return for how long it is not to be done yet
   */
  public long found(PlacementPolicy.Kind kind, String dc, long nowMillis) {
    times = kind == found && dc.equals(foundDc) ? times + 1 : 1;
    found = kind;
    foundDc = dc;
    return Math.max(leftMillis(nowMillis), (FOUND_MIN - times) * pauseMillis);
  }

  /** For how long nothing is moved yet. */
  long leftMillis(long nowMillis) {
    return notBefore == Long.MIN_VALUE ? 0 : Math.max(0, notBefore - nowMillis);
  }

  /** A move is still under way, whoever began it: the pause begins anew. */
  public void goesOn(long nowMillis) {
    notBefore = nowMillis + pause;
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
