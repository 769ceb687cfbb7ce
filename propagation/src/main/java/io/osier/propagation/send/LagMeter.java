package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ObjectProgress.Count;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.Timeliness;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Measures how far the peers are behind this datacenter's commits, and how many updates are late.
 * Not thread-safe.
 */
public final class LagMeter {
  private final ReplicationContext around;
  private final OutboundLog log;
  private final CommitTimes times;
  private final Collection<PeerStream> streams;
  private final RoundTimer rounds;

  LagMeter(
      ReplicationContext around,
      OutboundLog log,
      CommitTimes times,
      Collection<PeerStream> streams,
      RoundTimer rounds) {
    this.around = around;
    this.log = log;
    this.times = times;
    this.streams = streams;
    this.rounds = rounds;
  }

  /**
   * How far a peer is behind.
   *
   * @param updates the number of own updates that the peer does not have
   * @param bytes how many bytes those of this life take as operations, at most
   * @param nanos for how long the peer has lacked the first of them, at most; counted from the
   *     start of this life
   */
  public record Lag(long updates, long bytes, long nanos) {}

  /** Returns how far a peer is behind that has all own updates up to the number {@code has}. */
  public Lag lag(long has, long nowNanos) {
    return has >= log.committed()
        ? new Lag(0, 0, 0)
        : new Lag(log.committed() - has, times.lagBytes(has), times.lagNanos(has, nowNanos));
  }

  /** Notes that a peer has all own updates up to the number {@code has}. */
  public void confirmed(PeerStream stream, long has, long nowNanos) {
    long late = nowNanos - around.lateNanos() - confirmNanos(stream);
    around.stats().opsConfirmed(stream.confirmed().confirmed(has, late));
  }

  /** Returns how long after its arrival an update is confirmed, at most, in nanoseconds. */
  private long confirmNanos(PeerStream stream) {
    return stream.window().rounds().nanos() + 2 * around.statusNanos();
  }

  /** Returns whether a peer gets this datacenter's updates in time. */
  public Timeliness timeliness(PeerStream stream, long nowNanos) {
    long bound = nowNanos - around.lateNanos();
    return stream.confirmed().timeliness(bound, bound - confirmNanos(stream));
  }

  /**
   * Returns how far this datacenter's updates of an object have come; {@code waiting} are the
   * received updates of the object that wait to become visible.
   */
  public ObjectProgress progress(
      ObjectId object, List<ObjectProgress.Waiting> waiting, long nowNanos) {
    ObjectLog of = log.find(object);
    if (of == null) {
      return new ObjectProgress(Count.NONE, 0, List.of(), waiting);
    }
    Count held = of.countHeld(nowNanos);
    long leaves =
        around.cuts().areWhole() ? rounds.dueNanos() - nowNanos : rounds.holdNanos() - held.nanos();
    List<ObjectProgress.Missing> missing = new ArrayList<>();
    for (PeerStream stream : streams) {
      Count count = of.countSince(stream.window().ackedTick(), nowNanos);
      if (count.updates() != 0) {
        long downNanos = stream.linkUp() ? 0 : Math.max(1, nowNanos - stream.downSinceNanos());
        missing.add(new ObjectProgress.Missing(stream.dc(), count, downNanos));
      }
    }
    return new ObjectProgress(
        held, held.updates() == 0 ? 0 : Math.max(0, leaves), missing, waiting);
  }

  /** Notes that every peer has all own updates up to a number. */
  public void everywhere(long number) {
    times.prune(number);
  }
}
