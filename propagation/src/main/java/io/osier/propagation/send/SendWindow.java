package io.osier.propagation.send;

import io.osier.propagation.host.AckTimeEstimate;
import io.osier.propagation.host.DelayHistogram;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Frame.Kind;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What one stream has under way to its peer: the frames that are not acknowledged, how many bytes
 * they may take, and how long acknowledgements of rounds took. It knows nothing of what is sent
 * next. Not thread-safe.
 */
public final class SendWindow implements LinkWindow {
  /** So much of the window is a stream's own, whatever others have under way to the peer. */
  private static final int OWN_SHARE = 16;

  /**
   * A frame that is not acknowledged.
   *
   * @param plannedNanos when a round is acknowledged if all goes as planned
   */
  private record InFlight(
      long sequence,
      int bytes,
      Optional<Cursor> cursor,
      Kind kind,
      long sentNanos,
      long plannedNanos) {}

  private final ReplicationContext around;
  private final LinkWindow link;
  private final ArrayDeque<InFlight> inFlight = new ArrayDeque<>();
  private long bytes;

  /** The peer has everything shipped up to this tick. */
  private long ackedTick;

  private AckTimeEstimate rounds = new AckTimeEstimate();

  /** How long rounds took until they were acknowledged. */
  private final DelayHistogram roundTimes = DelayHistogram.usual();

  /** Bytes of updates that were sent, by what carried them. */
  private final long[] sentBytes = new long[Kind.values().length];

  /**
   * @param link what all streams to the peer share
   */
  SendWindow(ReplicationContext around, LinkWindow link) {
    this.around = around;
    this.link = link;
  }

  /** The peer is another process than before: it has nothing yet, and may be slow at first. */
  void ofNewPeer() {
    ackedTick = 0;
    rounds = new AckTimeEstimate();
  }

  @Override
  public boolean isOpen() {
    long max = around.settings().windowBytes();
    return bytes < max && (bytes < max / OWN_SHARE || link.isOpen());
  }

  @Override
  public void take(long more) {
    bytes += more;
    link.take(more);
  }

  @Override
  public void give(long less) {
    bytes -= less;
    link.give(less);
  }

  /** A frame of updates is being sent. */
  void sent(
      long sequence,
      int frameBytes,
      Optional<Cursor> cursor,
      Kind kind,
      long plannedNanos,
      long nowNanos) {
    inFlight.add(new InFlight(sequence, frameBytes, cursor, kind, nowNanos, plannedNanos));
    sentBytes[kind.ordinal()] += frameBytes;
    take(frameBytes);
  }

  /**
   * All frames up to one are acknowledged; if that is a round it tells how late it was.
   *
   * @param isInLog whether a place is one of the shipped log
   * @param reserve hears how much later than planned a round was acknowledged
   */
  void acknowledged(long sequence, Predicate<Cursor> isInLog, AckReserve reserve, long nowNanos) {
    while (!inFlight.isEmpty() && inFlight.peek().sequence <= sequence) {
      InFlight done = inFlight.poll();
      give(done.bytes);
      around.stats().arrived(done.bytes);
      if (done.cursor.filter(isInLog).isPresent()) {
        ackedTick = Math.max(ackedTick, done.cursor.get().done());
      }
      if (done.kind == Kind.ROUND && done.sequence == sequence) {
        rounds.sample(nowNanos - done.sentNanos, nowNanos);
        roundTimes.record((nowNanos - done.sentNanos) / 1_000);
        reserve.sample(nowNanos - done.plannedNanos);
      }
    }
  }

  /** What is under way is not waited for any more. */
  void clear() {
    link.give(bytes);
    inFlight.clear();
    bytes = 0;
  }

  /** Everything up to this tick is at the peer. */
  long ackedTick() {
    return ackedTick;
  }

  boolean isEmpty() {
    return inFlight.isEmpty();
  }

  /** What was sent and not acknowledged. */
  public long bytes() {
    return bytes;
  }

  /**
   * Lets the measured time of rounds fade if none was measured for long and none is under way.
   *
   * @param floorNanos not below this
   */
  void rest(long nowNanos, long floorNanos) {
    if (rounds.isOld(nowNanos)
        && (inFlight.isEmpty() || inFlight.stream().noneMatch(f -> f.kind == Kind.ROUND))) {
      rounds.rest(nowNanos, floorNanos);
    }
  }

  AckTimeEstimate rounds() {
    return rounds;
  }

  /** How long rounds took until they were acknowledged: a copy. */
  public DelayHistogram roundTimes() {
    return roundTimes.copy();
  }

  /** Bytes of updates sent since the start of the process, by what carried them: a copy. */
  public Map<Kind, Long> sentBytes() {
    Map<Kind, Long> copy = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      copy.put(kind, sentBytes[kind.ordinal()]);
    }
    return copy;
  }
}
