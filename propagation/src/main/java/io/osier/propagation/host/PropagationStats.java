package io.osier.propagation.host;

import io.osier.propagation.wire.Frame;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** Counts since the start of the process. Written and read by the partition's thread only. */
public final class PropagationStats {
  private static final long VISIBILITY_MICROS_MAX = 3_600_000_000L;

  private long shippedBytes;
  private long arrivedBytes;
  private long opBytes;
  private long opsShipped;
  private long statesShipped;
  private long catchUpsShipped;
  private long appliedRemote;
  private long gapsSeen;
  private long healed;
  private long pulled;
  private final Map<String, Visibility> byOrigin = new TreeMap<>();
  private final Histogram visibilityMicros = new Histogram(VISIBILITY_MICROS_MAX, 2);

  public PropagationStats() {}

  /** Counts shipments, and the bytes that they took for all peers together. */
  public void shipped(Frame.Kind kind, int shipments, long bytesToAll) {
    shippedBytes += bytesToAll;
    switch (kind) {
      case OPS -> opsShipped += shipments;
      case ROUND -> statesShipped += shipments;
      case CATCH_UP -> catchUpsShipped += shipments;
    }
  }

  /** Counts bytes of shipments that a peer has acknowledged. */
  public void arrived(long bytes) {
    arrivedBytes += bytes;
  }

  /** Counts the bytes that updates confirmed by a peer would take as single operations. */
  public void opsConfirmed(long bytes) {
    opBytes += bytes;
  }

  public void applied(int updates) {
    appliedRemote += Math.max(1, updates);
  }

  /** Counts a gap: something is missing that must come before something else. */
  public void gapSeen() {
    gapsSeen++;
  }

  /** Counts an object that came from a third datacenter, or after a gap. */
  public void healed() {
    healed++;
  }

  /** Counts a large object that was pulled. */
  public void pulled() {
    pulled++;
  }

  /**
   * Counts a shipment that became visible.
   *
   * @param origin the datacenter that shipped it
   * @param outage whether it waited for a link that was down
   */
  public void visible(String origin, LateCounts.Delay delay, boolean outage, long slaMillis) {
    Visibility of = byOrigin.get(origin);
    if (of == null) {
      of = new Visibility(slaMillis);
      byOrigin.put(origin, of);
    }
    boolean inTime = delay.millis() <= slaMillis;
    if (outage) {
      of.late = inTime ? of.late : of.late.withOutage();
      return;
    }
    long micros = Math.clamp(delay.millis() * 1_000, 0, VISIBILITY_MICROS_MAX);
    visibilityMicros.recordValue(micros);
    of.delays.record(micros);
    if (slaMillis > 0 && !inTime) {
      of.late = of.late.with(delay, slaMillis);
    }
  }

  /** The counts of one datacenter's shipments that became visible. */
  private static final class Visibility {
    private final DelayHistogram delays;
    private LateCounts late = LateCounts.NONE;

    Visibility(long slaMillis) {
      this.delays = DelayHistogram.around(slaMillis);
    }
  }

  /** Returns the bytes of updates shipped, summed over the peers they went to. */
  public long shippedBytes() {
    return shippedBytes;
  }

  /** Returns the part of {@link #shippedBytes} that the peers have acknowledged. */
  public long arrivedBytes() {
    return arrivedBytes;
  }

  /**
   * Returns the bytes that the updates confirmed by peers would have taken as single operations.
   */
  public long opBytes() {
    return opBytes;
  }

  /** Returns the operations shipped, counted once for all peers. */
  public long opsShipped() {
    return opsShipped;
  }

  /** Returns the objects shipped in rounds, counted once for all peers. */
  public long statesShipped() {
    return statesShipped;
  }

  /** Returns the objects shipped to peers that had missed something. */
  public long catchUpsShipped() {
    return catchUpsShipped;
  }

  /** Returns the updates of others that were applied; a state of unknown content counts as one. */
  public long appliedRemote() {
    return appliedRemote;
  }

  /** Returns the gaps seen, in streams and in objects. */
  public long gapsSeen() {
    return gapsSeen;
  }

  /** Returns the objects received from a third datacenter, or after a gap. */
  public long healedObjects() {
    return healed;
  }

  /** Returns the large objects that were pulled from a peer that offered them. */
  public long pulledObjects() {
    return pulled;
  }

  /** Returns the counts of shipments that became visible later than the SLA allows. */
  public LateCounts late() {
    LateCounts sum = LateCounts.NONE;
    for (Visibility of : byOrigin.values()) {
      sum = sum.plus(of.late);
    }
    return sum;
  }

  /** Returns the same counts for the shipments of one datacenter. */
  public LateCounts late(String origin) {
    Visibility of = byOrigin.get(origin);
    return of == null ? LateCounts.NONE : of.late;
  }

  /**
   * Returns a copy of how long one datacenter's shipments took until they were visible, without
   * outages.
   *
   * @param slaMillis the staleness bound around which the ranges lie
   */
  public DelayHistogram delays(String origin, long slaMillis) {
    Visibility of = byOrigin.get(origin);
    return of == null ? DelayHistogram.around(slaMillis) : of.delays.copy();
  }

  /** Returns a copy of the delays until visible, without outages, in microseconds. */
  public Histogram visibilityMicros() {
    return visibilityMicros.copy();
  }
}
