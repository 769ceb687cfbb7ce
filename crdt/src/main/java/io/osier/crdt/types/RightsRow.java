package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One replica's sums in a {@link BoundedCounter}: only it writes them, and they only grow.
 *
 * @param last the commit number of its last update
 * @param up the sum of what it added
 * @param down the sum of what it subtracted
 * @param given the rights that it transferred, by the receiver's name
 * @param taken the rights that it took over from datacenters that were given up, by their names
 */
record RightsRow(
    long last,
    long up,
    long down,
    SortedMap<String, Amounts> given,
    SortedMap<String, Amounts> taken) {
  static final RightsRow EMPTY =
      new RightsRow(0, 0, 0, Collections.emptySortedMap(), Collections.emptySortedMap());

  /**
   * In the written form, precedes the name of a datacenter from which rights were taken. No name
   * begins with it.
   */
  private static final String TAKEN = "-";

  /** Rights to subtract and rights to add. */
  record Amounts(long down, long up) {
    static final Amounts NOTHING = new Amounts(0, 0);

    long get(boolean upward) {
      return upward ? up : down;
    }

    Amounts plus(long moreDown, long moreUp) {
      return new Amounts(Math.addExact(down, moreDown), Math.addExact(up, moreUp));
    }
  }

  /**
   * Returns the rights that the replica's updates brought its datacenter; negative if they used
   * some.
   */
  long earned(boolean upward) {
    long sum = upward ? down - up : up - down;
    for (Amounts amounts : given.values()) {
      sum -= amounts.get(upward);
    }
    for (Amounts amounts : taken.values()) {
      sum += amounts.get(upward);
    }
    return sum;
  }

  /**
   * Returns the rights that the replica gave to another datacenter, less those that it took from
   * it.
   */
  long netGivenTo(String dc, boolean upward) {
    return given.getOrDefault(dc, Amounts.NOTHING).get(upward)
        - taken.getOrDefault(dc, Amounts.NOTHING).get(upward);
  }

  /** Returns this after one more update, which changes nothing. */
  RightsRow at(long number) {
    return new RightsRow(number, up, down, given, taken);
  }

  /** Returns this after an update that added an amount; below 0 it is subtracted. */
  RightsRow adding(long amount, long number) {
    return new RightsRow(
        number,
        amount > 0 ? Math.addExact(up, amount) : up,
        amount < 0 ? Math.subtractExact(down, amount) : down,
        given,
        taken);
  }

  /** Returns this after an update that transferred rights. */
  RightsRow giving(String to, long lessDown, long lessUp, long number) {
    return new RightsRow(number, up, down, plus(given, to, lessDown, lessUp), taken);
  }

  /** Returns this after an update that took rights over. */
  RightsRow taking(String from, long moreDown, long moreUp, long number) {
    return new RightsRow(number, up, down, given, plus(taken, from, moreDown, moreUp));
  }

  private static SortedMap<String, Amounts> plus(
      SortedMap<String, Amounts> amounts, String dc, long down, long up) {
    SortedMap<String, Amounts> more = new TreeMap<>(amounts);
    more.put(dc, more.getOrDefault(dc, Amounts.NOTHING).plus(down, up));
    return more;
  }

  long heapBytes() {
    return HeapSize.object(3 * Long.BYTES + 2 * HeapSize.REFERENCE)
        + mapHeapBytes(given.size())
        + mapHeapBytes(taken.size())
        + (given.size() + taken.size()) * HeapSize.object(2 * Long.BYTES);
  }

  /** Returns the bytes of a tree and its unmodifiable view; empty ones are shared. */
  static long mapHeapBytes(int size) {
    return size == 0
        ? 0
        : HeapSize.object(20)
            + HeapSize.object(32)
            + size * HeapSize.object(5 * HeapSize.REFERENCE + 1);
  }

  long sizeBytes() {
    return 2
        + length(last)
        + length(up)
        + length(down)
        + length(given)
        + length(taken)
        + (long) taken.size() * TAKEN.length();
  }

  private static long length(SortedMap<String, Amounts> amounts) {
    long bytes = 0;
    for (Map.Entry<String, Amounts> e : amounts.entrySet()) {
      Amounts of = e.getValue();
      bytes += 1 + e.getKey().length() + length(of.down) + length(of.up);
    }
    return bytes;
  }

  static int length(long number) {
    return WireOutput.varLongLength(number, number >= 0);
  }

  void write(WireOutput out) {
    out.writeNumber(last);
    out.writeNumber(up);
    out.writeNumber(down);
    out.writeCount(taken.size() + given.size());
    taken.forEach((dc, amounts) -> write(TAKEN + dc, amounts, out));
    given.forEach((dc, amounts) -> write(dc, amounts, out));
  }

  private static void write(String name, Amounts amounts, WireOutput out) {
    out.writeText(name);
    out.writeNumber(amounts.down);
    out.writeNumber(amounts.up);
  }

  /** Reads the form that {@link #write(WireOutput)} produces. */
  static RightsRow read(WireInput in) {
    long last = in.readNumber();
    long up = in.readNumber();
    long down = in.readNumber();
    SortedMap<String, Amounts> given = new TreeMap<>();
    SortedMap<String, Amounts> taken = new TreeMap<>();
    String before = "";
    for (int n = in.readCount(4); n > 0; n--) {
      String name = in.readText(TAKEN.length() + ReplicaId.DC_NAME_LENGTH_MAX);
      if (before.compareTo(name) >= 0) {
        throw new MalformedException("what a row gave and took is not in order");
      }
      before = name;
      boolean isTaken = name.startsWith(TAKEN);
      String dc = ReplicaId.checkDcName(isTaken ? name.substring(TAKEN.length()) : name);
      (isTaken ? taken : given).put(dc, new Amounts(in.readNumber(), in.readNumber()));
    }
    return new RightsRow(last, up, down, given, taken);
  }
}
