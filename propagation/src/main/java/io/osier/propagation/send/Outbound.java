package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;

import io.osier.core.Budget;
import io.osier.core.CausalContext;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ObjectProgress.Count;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.Timeliness;
import io.osier.propagation.send.OutboundLog.Leaving;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Kind;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ships what is committed here: operations with the batch of inputs that made them and held objects
 * in rounds just before their deadline, to every peer that keeps up; the others follow from the log
 * at their own pace.
 *
 * <p>A held object is shipped at {@code t_firstUpdate + δ − μ − reserve}, μ being the largest of
 * the streaming peers' coordination times (mean + 4 deviations). In a {@code causal} keyspace a
 * round ships everything that is held, and so closes a cut.
 *
 * <p>Pure; not thread-safe.
 */
public final class Outbound {
  /** Rounds whose deadlines are closer together than this share of δ leave as one. */
  private static final int ROUND_SHARE = 20;

  private static final long ROUND_SPREAD_NANOS_MAX = 50_000_000;

  private final ReplicationContext around;
  private final Supplier<VersionVector> others;
  private final OutboundLog log;
  private final AckReserve reserve;
  private final CommitTimes times;
  private final Map<String, PeerStream> streams = new TreeMap<>();

  /** When the next round was due as it looked at the end of the last tick. */
  private long plannedRoundNanos = Long.MAX_VALUE;

  /** How late the round is that leaves now. */
  private long roundLateNanos;

  private FlushListener flushListener = (object, updates, bytes) -> {};

  /**
   * Nothing committed in this life.
   *
   * @param others what is here of the other replicas: what a cut that is closed now depends on
   */
  public Outbound(ReplicationContext around, Supplier<VersionVector> others, long nowNanos) {
    this.around = around;
    this.others = others;
    this.log =
        new OutboundLog(
            around.recovered().committed(),
            new Budget("trails", around.settings().memory().trails()));
    this.reserve = new AckReserve(around::slaNanos);
    this.times = new CommitTimes(around.recovered().committed(), nowNanos);
    for (String dc : around.peers()) {
      streams.put(dc, stream(dc, 0, nowNanos));
    }
  }

  /** The surroundings have been configured anew. */
  public void configured() {
    log.setLimit(around.settings().memory().trails());
  }

  /**
   * A datacenter holds the keyspace from now on: it is sent all that it lacks, wherever it was in
   * the stream if it was a peer before.
   */
  public void add(String dc, long nowNanos) {
    streams.computeIfAbsent(dc, d -> stream(d, log.mark(around.recovered().committed()), nowNanos));
  }

  private PeerStream stream(String dc, long since, long nowNanos) {
    ConfirmedUpdates confirmed = new ConfirmedUpdates(times, log.committed());
    return new PeerStream(dc, around, log, since, confirmed, nowNanos);
  }

  /** Nothing is sent to a datacenter any more, and nothing is kept for it. */
  public void remove(String dc, long nowNanos) {
    PeerStream stream = streams.remove(dc);
    if (stream != null) {
      stream.down(nowNanos);
      prune(nowNanos);
    }
  }

  /** Hears of every held object that was shipped. */
  @FunctionalInterface
  public interface FlushListener {
    /**
     * A held object was shipped.
     *
     * @param updates how many updates were joined
     * @param bytes what the shipment took, once
     */
    void flushed(ObjectId object, int updates, int bytes);
  }

  /** Sets who hears of every held object that was shipped. */
  public void onFlush(FlushListener listener) {
    flushListener = listener;
  }

  // ---------------------------------------------------------------- what is committed

  /**
   * Takes an update that was committed here.
   *
   * @param update its delta, as a segment that is not shipped
   * @param floor the first number of its transaction
   * @param hold whether it waits for a round; otherwise it leaves with this batch
   * @return the update as a shipment of its own
   */
  public Committed commit(ObjectId object, Update update, long floor, boolean hold, long nowNanos) {
    LogSegment segment = update.segment(around.self());
    Shipment shipment = segment.shipment(object, around.self(), nowNanos);
    int bytes;
    if (streams.isEmpty()) {
      log.commitForNobody(segment.last());
      bytes =
          (int) Math.min(Integer.MAX_VALUE, update.delta.sizeBytes()); // to be encoded for nobody
    } else {
      log.commit(object, segment, floor, hold);
      bytes = around.bytesOf(shipment);
    }
    times.committed(segment.last(), bytes, nowNanos);
    return new Committed(shipment, bytes);
  }

  /**
   * An update, which may be several that were joined.
   *
   * @param before the object's context before it
   * @param needs what of others' updates it builds on that not everybody has
   * @param number its commit number
   * @param updates how many it is
   * @param sinceNanos when the first of them was acknowledged
   */
  public record Update(
      CausalContext before,
      VersionVector needs,
      long number,
      int updates,
      long sinceNanos,
      CrdtState delta) {

    private LogSegment segment(ReplicaId self) {
      return new LogSegment(before.through(self), needs, number, updates, sinceNanos, 0, delta);
    }
  }

  /**
   * An update of this datacenter.
   *
   * @param shipment as it is journalled and, unless it is held, shipped
   * @param bytes what it takes in a frame; about, where there is no peer
   */
  public record Committed(Shipment shipment, int bytes) {}

  /** Ships what is held of an object with this batch: it goes back to operations. */
  public void release(ObjectId object) {
    log.release(object);
  }

  /** Ships all that is held with this batch. */
  public void releaseAll() {
    log.releaseAll();
  }

  // ---------------------------------------------------------------- what leaves

  /** Ships what is due, and what peers that fell behind have missed, as far as windows allow. */
  public void tick(long nowNanos, long nowMillis) {
    shipOps(nowNanos, nowMillis);
    if (log.dirtyCount() == 0) { // what is held brings a measurement itself
      for (PeerStream stream : streams.values()) {
        stream.rest(nowNanos, unlearntNanos());
      }
    }
    long roundDue = roundDueNanos();
    if (roundDue <= nowNanos) {
      // What is due only because more was set aside meanwhile is not late.
      long planned =
          plannedRoundNanos == Long.MAX_VALUE ? roundDue : Math.max(roundDue, plannedRoundNanos);
      roundLateNanos = Math.max(0, nowNanos - planned);
      long spread = Math.min(around.slaNanos() / ROUND_SHARE, ROUND_SPREAD_NANOS_MAX);
      boolean all = around.cuts().areWhole() || log.isOver();
      long firstMax = all ? Long.MAX_VALUE : nowNanos - holdNanos() + spread;
      ship(Kind.ROUND, () -> log.takeDirty(firstMax), nowNanos, nowMillis);
      roundLateNanos = 0;
    }
    plannedRoundNanos = roundDueNanos();
    for (PeerStream stream : streams.values()) {
      catchUp(stream, nowNanos, nowMillis);
    }
  }

  /** Ships everything that waits, whatever its deadline. */
  public void flush(long nowNanos, long nowMillis) {
    shipOps(nowNanos, nowMillis);
    ship(Kind.ROUND, () -> log.takeDirty(Long.MAX_VALUE), nowNanos, nowMillis);
  }

  private void catchUp(PeerStream stream, long nowNanos, long nowMillis) {
    while (!stream.catchUp(others.get(), nowNanos, nowMillis)) {
      flush(nowNanos, nowMillis); // what came to its end goes on with what was held
    }
  }

  private void shipOps(long nowNanos, long nowMillis) {
    if (around.cuts().areWhole() && log.hasReleased()) {
      log.releaseAll();
    }
    ship(Kind.OPS, log::takeOp, nowNanos, nowMillis);
  }

  private void ship(Kind kind, Supplier<@Nullable Leaving> next, long nowNanos, long nowMillis) {
    List<Shipment> chunk = new ArrayList<>();
    int bytes = 0;
    Leaving leaving = next.get();
    while (leaving != null) {
      ObjectId object = leaving.log().object;
      CrdtState state =
          requireNonNull(around.replica().state(object), "what was not shipped is not forgotten");
      LogSegment segment = log.shipped(leaving, state.sizeBytes());
      Shipment shipment =
          isWhole(leaving, state)
              ? segment.whole(object, around.self(), state, nowNanos)
              : segment.shipment(object, around.self(), nowNanos);
      if (around.observer().isOn()) {
        around.observer().left(kind, shipment, coordinationNanos());
      }
      chunk.add(shipment);
      int size = around.bytesOf(shipment);
      bytes += size;
      if (leaving.wasHeld()) {
        flushListener.flushed(object, segment.updates(), size);
      }
      leaving = next.get();
      if (leaving == null || bytes >= around.settings().frameBytes()) {
        offer(
            kind, List.copyOf(chunk), bytes, segment.tick(), leaving == null, nowNanos, nowMillis);
        chunk.clear();
        bytes = 0;
      }
    }
  }

  /**
   * Whether a group of updates is shipped as the state. A single operation never is, unless it is
   * the clearing of a large set, which is a state itself: joined with later updates it would be one
   * without what those have seen. Where cuts are marked not even that: the state may show more than
   * lies before the next mark.
   */
  private boolean isWhole(Leaving leaving, CrdtState state) {
    CrdtState delta = leaving.segment().delta();
    if (!leaving.wasHeld()) {
      return delta.isFull() && !around.cuts().areWhole();
    }
    return delta.isFull()
        || around.policy().payload() == StatePayload.FULL
        || delta.sizeBytes() > state.sizeBytes();
  }

  private void offer(
      Kind kind,
      List<Shipment> shipments,
      int bytes,
      long tick,
      boolean last,
      long nowNanos,
      long nowMillis) {
    long through = last ? log.through() : 0;
    int sent = 0;
    long planned = nowNanos - roundLateNanos + coordinationNanos();
    for (PeerStream stream : streams.values()) {
      boolean taken =
          stream.offer(
              kind, shipments, bytes, tick, through, others.get(), planned, nowNanos, nowMillis);
      sent += taken ? 1 : 0;
    }
    around.stats().shipped(kind, shipments.size(), (long) bytes * sent);
  }

  // ---------------------------------------------------------------- what peers say

  /** A peer says where its stream is to go on. */
  public void resume(
      PeerStream stream, ReplicaId peer, Frame.Resume resume, long nowNanos, long nowMillis) {
    stream.resume(peer, resume);
    catchUp(stream, nowNanos, nowMillis);
  }

  /** A peer asks for more of a large state that it was offered, or says that it has it. */
  public void pull(
      PeerStream stream, ReplicaId peer, Frame.Pull pull, long nowNanos, long nowMillis) {
    if (stream.pull(peer, pull, nowNanos)) {
      catchUp(stream, nowNanos, nowMillis);
    }
  }

  /** When an offer of a large state is to be made again; Long.MAX_VALUE if none is. */
  public long offersDueNanos() {
    long due = Long.MAX_VALUE;
    for (PeerStream stream : streams.values()) {
      due = Math.min(due, stream.offerDueNanos());
    }
    return due;
  }

  /** A peer acknowledges frames; a round's acknowledgement tells how late it was. */
  public void acknowledged(PeerStream stream, ReplicaId peer, Frame.Ack ack, long nowNanos) {
    stream.acknowledged(peer, ack, reserve, nowNanos);
  }

  /** Forgets what every peer has, but not for one that is away for long. */
  public void prune(long nowNanos) {
    long tick = log.ticks();
    for (PeerStream stream : streams.values()) {
      tick = Math.min(tick, stream.prunableTick(nowNanos));
    }
    log.prune(tick);
  }

  // ---------------------------------------------------------------- when rounds leave

  /** μ: the time set aside for the acknowledgement of a round, in nanoseconds. */
  public long coordinationNanos() {
    long slowest = 0;
    for (PeerStream stream : streams.values()) {
      if (stream.linkUp()) {
        long time = stream.rounds().isLearnt() ? 0 : unlearntNanos();
        slowest = Math.max(slowest, Math.max(time, stream.rounds().nanos()));
      }
    }
    return slowest;
  }

  /** Until a peer's rounds are known, half of the bound is set aside: it may be slow at first. */
  private long unlearntNanos() {
    return around.slaNanos() / 2;
  }

  /**
   * How long a held object may wait, in nanoseconds: δ − μ, less the reserve; 0 if that is nothing.
   */
  public long holdNanos() {
    long coordination = coordinationNanos();
    return Math.max(0, around.slaNanos() - coordination - reserve.nanos(coordination));
  }

  /** When the next round leaves; Long.MAX_VALUE if nothing is held. */
  public long roundDueNanos() {
    if (log.isOver()) {
      return Long.MIN_VALUE;
    }
    long oldest = log.oldestDirtyNanos();
    return oldest == Long.MAX_VALUE ? oldest : oldest + holdNanos();
  }

  // ---------------------------------------------------------------- what is known

  /** The streams, by the peers' names. */
  public Collection<PeerStream> streams() {
    return streams.values();
  }

  /** The stream to a peer; null if it does not hold the keyspace. */
  public @Nullable PeerStream stream(String dc) {
    return streams.get(dc);
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
    return has >= committed()
        ? new Lag(0, 0, 0)
        : new Lag(committed() - has, times.lagBytes(has), times.lagNanos(has, nowNanos));
  }

  /** A peer has all own updates up to a number. */
  public void confirmed(PeerStream stream, long has, long nowNanos) {
    long late = nowNanos - around.lateNanos() - confirmNanos(stream);
    around.stats().opsConfirmed(stream.confirmed().confirmed(has, late));
  }

  /** What comes just in time is confirmed so much later. */
  private long confirmNanos(PeerStream stream) {
    return stream.rounds().nanos() + 2 * around.statusNanos();
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
        around.cuts().areWhole() ? roundDueNanos() - nowNanos : holdNanos() - held.nanos();
    List<ObjectProgress.Missing> missing = new ArrayList<>();
    for (PeerStream stream : streams.values()) {
      Count count = of.countSince(stream.ackedTick(), nowNanos);
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

  /** Whether operations wait for the end of the batch. */
  public boolean hasOps() {
    return log.hasOps();
  }

  /** Whether a peer can be sent more of what it misses now. */
  public boolean isCatchingUp() {
    for (PeerStream stream : streams.values()) {
      if (stream.isDue()) {
        return true;
      }
    }
    return false;
  }

  /** How many objects are held. */
  public int dirtyObjects() {
    return log.dirtyCount();
  }

  /** What is used of the budget for what is kept of what was shipped. */
  public Budget.Usage memory() {
    return log.usage();
  }

  /** The last commit number. */
  public long committed() {
    return log.committed();
  }

  /** Of later commit numbers no peer can have anything, unless they were given before. */
  public long told() {
    return log.told();
  }

  /** Every update up to here has been shipped. */
  public long through() {
    return log.through();
  }

  /** Whether every connected peer has acknowledged everything that was committed. */
  public boolean isDrained() {
    for (PeerStream stream : streams.values()) {
      if (stream.linkUp() && !stream.isDone()) {
        return false;
      }
    }
    return !log.hasOps() && log.dirtyCount() == 0;
  }

  /** Whether frames can be sent to a datacenter. */
  public boolean isLinkUp(String dc) {
    PeerStream stream = stream(dc);
    return stream != null && stream.linkUp();
  }
}
