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

  /** Shipments went to so many peers that they took these bytes together. */
  public void shipped(Frame.Kind kind, int shipments, long bytesToAll) {
    shippedBytes += bytesToAll;
    switch (kind) {
      case OPS -> opsShipped += shipments;
      case ROUND -> statesShipped += shipments;
      case CATCH_UP -> catchUpsShipped += shipments;
    }
  }

  /** A peer has acknowledged shipments of so many bytes. */
  public void arrived(long bytes) {
    arrivedBytes += bytes;
  }

  /** A peer has confirmed updates that take so many bytes as single operations. */
  public void opsConfirmed(long bytes) {
    opBytes += bytes;
  }

  public void applied(int updates) {
    appliedRemote += Math.max(1, updates);
  }

  /** Something that must come before something else is missing. */
  public void gapSeen() {
    gapsSeen++;
  }

  /** An object came from a third datacenter, or after a gap. */
  public void healed() {
    healed++;
  }

  /** A large object was pulled. */
  public void pulled() {
    pulled++;
  }

  /**
   * A shipment became visible.
   *
   * @param origin the datacenter that shipped it
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

  /** What became visible of one datacenter's shipments. */
  private static final class Visibility {
    private final DelayHistogram delays;
    private LateCounts late = LateCounts.NONE;

    Visibility(long slaMillis) {
      this.delays = DelayHistogram.around(slaMillis);
    }
  }

  /** Bytes of updates shipped, summed over the peers they went to. */
  public long shippedBytes() {
    return shippedBytes;
  }

  /** Those of them that the peers have acknowledged. */
  public long arrivedBytes() {
    return arrivedBytes;
  }

  /** Bytes that what the peers have confirmed would have taken as single operations. */
  public long opBytes() {
    return opBytes;
  }

  /** Operations shipped, counted once for all peers. */
  public long opsShipped() {
    return opsShipped;
  }

  /** Objects shipped in rounds, counted once for all peers. */
  public long statesShipped() {
    return statesShipped;
  }

  /** Objects shipped to peers that had missed something. */
  public long catchUpsShipped() {
    return catchUpsShipped;
  }

  /** Updates of other datacenters applied; a state of unknown content counts as one. */
  public long appliedRemote() {
    return appliedRemote;
  }

  /** Gaps seen, in streams and in objects. */
  public long gapsSeen() {
    return gapsSeen;
  }

  /** Objects received from a third datacenter, or after a gap. */
  public long healedObjects() {
    return healed;
  }

  /** Large objects that were pulled from a peer that offered them. */
  public long pulledObjects() {
    return pulled;
  }

  /** Shipments that became visible later than the SLA allows. */
  public LateCounts late() {
    LateCounts sum = LateCounts.NONE;
    for (Visibility of : byOrigin.values()) {
      sum = sum.plus(of.late);
    }
    return sum;
  }

  /** Shipments of one datacenter that became visible later than the SLA allows. */
  public LateCounts late(String origin) {
    Visibility of = byOrigin.get(origin);
    return of == null ? LateCounts.NONE : of.late;
  }

  /**
   * How long one datacenter's shipments took until they were visible, outages left out: a copy.
   *
   * @param slaMillis the ranges are around it
   */
  public DelayHistogram delays(String origin, long slaMillis) {
    Visibility of = byOrigin.get(origin);
    return of == null ? DelayHistogram.around(slaMillis) : of.delays.copy();
  }

  /** Delays until visible, outages left out, in microseconds: a copy. */
  public Histogram visibilityMicros() {
    return visibilityMicros.copy();
  }
}
