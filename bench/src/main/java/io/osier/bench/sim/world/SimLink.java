package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.plan.Workload;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A link from one datacenter to another, in one direction: its delay and bandwidth, which are
 * drawn, its present faults, and since when it has had none, by which checks know what to expect of
 * it. Used by the simulation's thread.
 */
public final class SimLink {
  private static final int SHORT_MILLIS_MIN = 5;
  private static final int SHORT_MILLIS_MAX = 80;
  private static final int LONG_MILLIS_MAX = 500;

  /**
   * What narrow links carry, in bytes a second: 1 Mbit/s, and much less, since load and windows are
   * smaller here than in production by a factor of about a hundred. The narrowest carries just the
   * load of most seeds.
   */
  private static final int NARROW_BYTES_MIN = 4_000;

  private static final int NARROW_BYTES_MAX = 125_000;

  /** The factor by which bandwidths and buffers are larger in runs with huge values. */
  private static final int HUGE_FACTOR = 8;

  /** A link on which frames wait for longer is busy: no bound holds for what comes behind them. */
  static final long BUSY_NANOS = 100 * MILLI;

  private static final int[] BUFFER_BYTES = {16 << 10, 64 << 10, 256 << 10, 256 << 10};

  public final String from;
  public final String to;
  final long delayNanos;
  final long jitterNanos;
  private final Scheduler scheduler;
  private final int factor;

  /** Its bandwidth; 0 for no limit. */
  private final long bytesPerSecond;

  private final int bufferBytes;
  private final SimLinkQueue queue;

  /** Its bandwidth while a fault narrows it; 0 for no such fault. */
  private long squeezedBytesPerSecond;

  /** How many faults keep everything from moving. */
  private int hangs;

  /** How many faults keep the other end from reading. */
  private int deafs;

  /** Whether the transport says that frames can be sent. */
  private boolean up;

  private double loss;
  private double duplicates;
  private int reorderings;
  private long extraDelayNanos;
  private long extraDelayNanosMax;

  /** The last one that was opened; null before. */
  private @Nullable SimConnection connection;

  /** The connection that frames go over; null if there is none, or it is not known yet. */
  private @Nullable SimConnection carrier;

  private long calmNanos;
  private long changedNanos;

  /** As {@link #changedNanos}, but a busy link does not count as changed. */
  private long faultNanos;

  private long backlogNanosMax;

  /**
   * Draws a link.
   *
   * @param sizes of values: the load may need wider links
   */
  SimLink(String from, String to, Scheduler scheduler, Random random, Workload.Sizes sizes) {
    this.from = from;
    this.to = to;
    this.scheduler = scheduler;
    this.factor = sizes == Workload.Sizes.HUGE ? HUGE_FACTOR : 1;
    long delay = (SHORT_MILLIS_MIN + random.nextInt(SHORT_MILLIS_MAX - SHORT_MILLIS_MIN)) * MILLI;
    this.jitterNanos = random.nextInt(10) * MILLI;
    if (random.nextInt(4) == 0) {
      delay = (SHORT_MILLIS_MAX + random.nextInt(LONG_MILLIS_MAX - SHORT_MILLIS_MAX)) * MILLI;
    }
    this.delayNanos = delay;
    this.bytesPerSecond = random.nextInt(4) == 0 ? narrow(random, sizes) : 0;
    this.bufferBytes = BUFFER_BYTES[random.nextInt(BUFFER_BYTES.length)] * factor;
    this.queue = new SimLinkQueue(this, scheduler, random);
  }

  /** A bandwidth of a narrow link, the smaller ones as often as the larger ones. */
  private static long narrow(Random random, Workload.Sizes sizes) {
    double share = random.nextDouble();
    return switch (sizes) {
      case SMALL ->
          (long) (NARROW_BYTES_MIN * Math.pow((double) NARROW_BYTES_MAX / NARROW_BYTES_MIN, share));
      case LARGE -> NARROW_BYTES_MAX;
      case HUGE -> HUGE_FACTOR * NARROW_BYTES_MAX;
    };
  }

  // ---------------------------------------------------------------- what it is

  /** The size of a connection's buffer in each direction, in bytes. */
  int bufferBytes() {
    return bufferBytes;
  }

  /** Its bandwidth without faults, in bytes a second; 0 for no limit. */
  public long bytesPerSecond() {
    return bytesPerSecond;
  }

  /** The longest time that a frame takes while the link is healthy, in nanoseconds. */
  public long delayNanosMax() {
    return delayNanos + jitterNanos + (bytesPerSecond > 0 ? BUSY_NANOS : 0);
  }

  /** The queue of what waits for its turn on the link. */
  SimLinkQueue queue() {
    return queue;
  }

  /** The last connection that was opened over it; null before. */
  public @Nullable SimConnection connection() {
    return connection;
  }

  void opened(SimConnection opened) {
    connection = opened;
  }

  /** The connection that frames go over; null if it is not known, or there is none. */
  public @Nullable SimConnection carrier() {
    return carrier;
  }

  public void carriedBy(@Nullable SimConnection now) {
    carrier = now;
  }

  @Override
  public String toString() {
    return from + ">" + to;
  }

  String inWords() {
    String width = bytesPerSecond == 0 ? "wide" : bytesPerSecond + " B/s";
    return this
        + ": "
        + delayNanos / MILLI
        + " to "
        + (delayNanos + jitterNanos) / MILLI
        + " ms, "
        + width;
  }

  // ---------------------------------------------------------------- how it is now

  /** Whether frames can be sent. */
  public boolean isUp() {
    return up;
  }

  /** Whether nothing moves. */
  boolean isDark() {
    return hangs > 0;
  }

  /** Whether the other end reads nothing of what comes over it. */
  boolean isDeaf() {
    return deafs > 0;
  }

  /** Its present bandwidth, in bytes a second; 0 for no limit. */
  long carries() {
    return squeezedBytesPerSecond > 0 ? squeezedBytesPerSecond : bytesPerSecond;
  }

  /** How much longer than usual everything takes at present, in nanoseconds. */
  long extraDelayNanos() {
    return extraDelayNanos;
  }

  /** The largest extra delay so far, in nanoseconds. */
  long extraDelayNanosMax() {
    return extraDelayNanosMax;
  }

  /** How likely a frame is lost. */
  public double loss() {
    return loss;
  }

  /** How likely a frame comes twice. */
  public double duplicates() {
    return duplicates;
  }

  /** Whether frames overtake each other. */
  public boolean reorders() {
    return reorderings > 0;
  }

  private boolean isHealthy() {
    return up
        && !isDark()
        && !isDeaf()
        && loss == 0
        && duplicates == 0
        && reorderings == 0
        && extraDelayNanos == 0
        && squeezedBytesPerSecond == 0;
  }

  // ---------------------------------------------------------------- since when

  /**
   * Since when it has been connected, not busy, and without any fault; a time to come, or
   * Long.MAX_VALUE, if it is not.
   */
  public long healthySinceNanos() {
    return isHealthy() ? changedNanos : Long.MAX_VALUE;
  }

  /** Since when every frame has come over it in its time, however many; else Long.MAX_VALUE. */
  public long freeSinceNanos() {
    return isHealthy() ? faultNanos : Long.MAX_VALUE;
  }

  /** Since when nothing has kept bytes from moving; Long.MAX_VALUE while something does. */
  long calmSinceNanos() {
    return isDark() || isDeaf() ? Long.MAX_VALUE : calmNanos;
  }

  /** Since when it has been down, as far as bytes could move since; Long.MAX_VALUE if it is up. */
  public long downSinceNanos() {
    return up ? Long.MAX_VALUE : Math.max(faultNanos, calmSinceNanos());
  }

  /** The longest that anything has waited for its turn. */
  long backlogNanosMax() {
    return backlogNanosMax;
  }

  // ---------------------------------------------------------------- what happens to it

  public void setUp(boolean isUp) {
    up = isUp;
    carrier = isUp ? carrier : null;
    changed();
  }

  /** So many bytes wait for their turn. */
  void waiting(long queuedBytes) {
    long unsent = connection == null ? 0 : connection.backlogBytes();
    long backlog = carries() == 0 ? 0 : (queuedBytes + unsent) * SECOND / carries();
    backlogNanosMax = Math.max(backlogNanosMax, backlog);
    if (backlog > BUSY_NANOS) {
      changedNanos = scheduler.nanos();
    }
  }

  /** A connection's buffer is full: no bound holds for what waits behind it. */
  public void isFull() {
    changedNanos = scheduler.nanos();
    backlogNanosMax = Math.max(backlogNanosMax, BUSY_NANOS);
  }

  /** A fault of the link has begun or ended: checks expect nothing of the time before. */
  void changed() {
    changedNanos = scheduler.nanos();
    faultNanos = scheduler.nanos();
  }

  /** Bytes that were under way may not come, or come late. */
  void disturbed() {
    changed();
    calmNanos = scheduler.nanos();
  }

  /** Nothing moves until as many such faults have ended as began. */
  public void hang(boolean begin) {
    hangs += begin ? 1 : -1;
    disturbed();
    queue.resume();
  }

  /** The other end reads nothing until as many such faults have ended as began. */
  void deafen(boolean begin) {
    deafs += begin ? 1 : -1;
    disturbed();
    queue.resume();
  }

  /** Narrows it; 0 bytes a second end that. */
  public void squeeze(long toBytesPerSecond) {
    squeezedBytesPerSecond = factor * toBytesPerSecond;
    changed();
    queue.resume(); // what is on its way into the link goes at the new width, too
  }

  public void setExtraDelay(long nanos) {
    extraDelayNanos = nanos;
    extraDelayNanosMax = Math.max(extraDelayNanosMax, nanos);
    changed();
  }

  public void setLoss(double probability) {
    loss = probability;
    changed();
  }

  public void setDuplicates(double probability) {
    duplicates = probability;
    changed();
  }

  /** Frames overtake each other until as many such faults have ended as began. */
  public void reorder(boolean begin) {
    reorderings += begin ? 1 : -1;
    changed();
  }
}
