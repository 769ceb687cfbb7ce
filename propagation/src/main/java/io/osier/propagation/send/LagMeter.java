package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ObjectProgress.Count;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.Timeliness;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** How far the peers are behind what was committed here, and what comes late. Not thread-safe. */
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
   * @param updates own updates that it does not have
   * @param bytes what those of this life take as operations, at most
   * @param nanos for how long it lacks the first of them, at most; within this life
   */
  public record Lag(long updates, long bytes, long nanos) {}

  /** How far a peer is behind that has all own updates up to a number. */
  public Lag lag(long has, long nowNanos) {
    return has >= log.committed()
        ? new Lag(0, 0, 0)
        : new Lag(log.committed() - has, times.lagBytes(has), times.lagNanos(has, nowNanos));
  }

  /** A peer has all own updates up to a number. */
  public void confirmed(PeerStream stream, long has, long nowNanos) {
    long late = nowNanos - around.lateNanos() - confirmNanos(stream);
    around.stats().opsConfirmed(stream.confirmed().confirmed(has, late));
  }

  /** What comes just in time is confirmed so much later. */
  private long confirmNanos(PeerStream stream) {
    return stream.window().rounds().nanos() + 2 * around.statusNanos();
  }

  /** Whether a peer gets what is committed here in time. */
  public Timeliness timeliness(PeerStream stream, long nowNanos) {
    long bound = nowNanos - around.lateNanos();
    return stream.confirmed().timeliness(bound, bound - confirmNanos(stream));
  }

  /** How far an object's updates of this datacenter have come, and what has come of it waits. */
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

  /** Every peer has all own updates up to a number. */
  public void everywhere(long number) {
    times.prune(number);
  }
}
