package io.osier.datacenter.placement;

import io.osier.adaptation.PlacementPolicy.Demand;
import java.util.Collection;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A datacenter's load of a keyspace whose holders follow it, which it tells the others in one line
 * of text: figures by name; older versions skip those that they do not know.
 *
 * @param reads of its clients in a second
 * @param readBytes bytes of an answer
 * @param updates of its clients in a second
 * @param committed updates in a second that are committed there; 0 if it does not hold it
 * @param shippedBytes bytes of an update to one other holder, as shipped at present; 0 if it ships
 *     none
 * @param bytes of the keyspace; 0 if it does not hold it
 * @param room bytes that can still be stored there, 1 if nothing can; 0 if no bound is known, or
 *     the version that told the load does not tell it
 * @param wayMillis round-trip times in milliseconds, by datacenter
 */
public record Load(
    double reads,
    double readBytes,
    double updates,
    double committed,
    double shippedBytes,
    double bytes,
    double room,
    SortedMap<String, Double> wayMillis) {
  /** An unknown load. */
  public static final Load NONE = new Load(0, 0, 0, 0, 0, 0, 0, new TreeMap<>());

  private static final String WAY = "way.";
  private static final String ROOM = "room";

  /** Figures that differ by less than this share count as the same. */
  private static final double SAME = 0.1;

  /** Rates and sizes that differ by less than this count as the same, too, ... */
  private static final double SAME_RATE = 0.02;

  /** ... as do round-trip times. */
  private static final double SAME_MILLIS = 5;

  /**
   * So does room that differs by less than this share: each write changes it, and it is compared
   * with a multiple.
   */
  private static final double SAME_ROOM = 0.5;

  /** With less room than this, in bytes, no further keyspace is stored. */
  private static final double ROOM_MIN = 64 << 20;

  /**
   * A stored keyspace takes its log and its tables until these are merged, and the sizes are
   * estimates.
   */
  private static final double ROOM_TIMES = 3;

  /** Lower rates are told as 0. */
  private static final double RATE_TOLD = 0.001;

  public Load {
    wayMillis = Collections.unmodifiableSortedMap(new TreeMap<>(wayMillis));
  }

  /** Returns the demand of its clients. */
  public Demand demand() {
    return new Demand(reads, readBytes, updates, wayMillis);
  }

  /**
   * Returns whether a keyspace of this many bytes can be stored there, too, with some room left.
   */
  public boolean hasRoom(double more) {
    return room == 0 || room > ROOM_MIN + ROOM_TIMES * more;
  }

  private SortedMap<String, Double> figures() {
    SortedMap<String, Double> figures = new TreeMap<>();
    figures.put("reads", reads);
    figures.put("read-bytes", readBytes);
    figures.put("updates", updates);
    figures.put("committed", committed);
    figures.put("shipped-bytes", shippedBytes);
    figures.put("bytes", bytes);
    if (room > 0) {
      figures.put(ROOM, room);
    }
    wayMillis.forEach((dc, millis) -> figures.put(WAY + dc, millis));
    return figures;
  }

  /** Returns the load as text. */
  public String text() {
    StringBuilder text = new StringBuilder();
    figures()
        .forEach(
            (name, value) ->
                text.append(text.isEmpty() ? "" : " ")
                    .append(name)
                    .append('=')
                    .append(String.format(Locale.ROOT, "%.3f", value)));
    return text.toString();
  }

  /** Reads a load that a datacenter has told; unreadable figures count as 0. */
  public static Load of(String text) {
    SortedMap<String, Double> figures = new TreeMap<>();
    SortedMap<String, Double> ways = new TreeMap<>();
    for (String word : text.split(" ", -1)) {
      int equals = word.indexOf('=');
      double value = equals < 1 ? 0 : number(word.substring(equals + 1));
      if (value > 0) {
        String name = word.substring(0, equals);
        figures.put(name, value);
        if (name.startsWith(WAY)) {
          ways.put(name.substring(WAY.length()), value);
        }
      }
    }
    return new Load(
        figures.getOrDefault("reads", 0.0),
        figures.getOrDefault("read-bytes", 0.0),
        figures.getOrDefault("updates", 0.0),
        figures.getOrDefault("committed", 0.0),
        figures.getOrDefault("shipped-bytes", 0.0),
        figures.getOrDefault("bytes", 0.0),
        figures.getOrDefault(ROOM, 0.0),
        ways);
  }

  /**
   * Returns the bytes of an update as they are shipped at present, wherever it is committed; empty
   * if nobody has shipped any. Datacenters that commit nothing at present count almost nothing.
   */
  public static OptionalDouble shippedBytes(Collection<Load> loads) {
    double all = 0;
    double bytes = 0;
    for (Load load : loads) {
      double weight = load.shippedBytes > 0 ? load.committed + RATE_TOLD : 0;
      all += weight;
      bytes += weight * load.shippedBytes;
    }
    return all > 0 ? OptionalDouble.of(bytes / all) : OptionalDouble.empty();
  }

  private static double number(String text) {
    try {
      double value = Double.parseDouble(text);
      return Double.isFinite(value) && value > 0 ? value : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /**
   * Returns whether this load clearly differs from another one: by more than a tenth, for room by
   * half.
   */
  public boolean differs(Load other) {
    Map<String, Double> mine = figures();
    Map<String, Double> theirs = other.figures();
    return !mine.keySet().equals(theirs.keySet())
        || mine.entrySet().stream()
            .anyMatch(
                e -> {
                  double there = theirs.getOrDefault(e.getKey(), 0.0);
                  double least = e.getKey().startsWith(WAY) ? SAME_MILLIS : SAME_RATE;
                  double same = e.getKey().equals(ROOM) ? SAME_ROOM : SAME;
                  double part = same * Math.max(e.getValue(), there);
                  return Math.abs(e.getValue() - there) > Math.max(least, part);
                });
  }
}
