package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
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
 * Ships this datacenter's commits: operations with the batch of inputs that made them, and held
 * objects in rounds just before their deadline. Peers that keep up are sent both at once; the
 * others read the shipped log at their own pace.
 */
public final class Outbound {
  private final ReplicationContext around;
  private final Supplier<VersionVector> others;
  private final OutboundLog log;
  private final RoundTimer rounds;
  private final CommitTimes times;
  private final LagMeter lags;
  private final Map<String, PeerStream> streams = new TreeMap<>();

  private FlushListener flushListener = (object, updates, bytes) -> {};

  /**
   * @param others returns what this partition has of other replicas: a cut closed now depends on it
   */
  public Outbound(ReplicationContext around, Supplier<VersionVector> others, long nowNanos) {
    this.around = around;
    this.others = others;
    this.log =
        new OutboundLog(
            around.recovered().committed(),
            new Budget("trails", around.settings().memory().trails()));
    this.rounds = new RoundTimer(around, log, streams.values());
    this.times = new CommitTimes(around.recovered().committed(), nowNanos);
    this.lags = new LagMeter(around, log, times, streams.values(), rounds);
    for (String dc : around.peers()) {
      streams.put(dc, stream(dc, 0, nowNanos));
    }
  }

  /** Takes the new bounds after the keyspace or the settings have been changed. */
  public void configured() {
    log.setLimit(around.settings().memory().trails());
  }

  /**
   * Begins a stream to a datacenter that holds the keyspace from now on. It is sent all that it
   * lacks, wherever its stream was if it was a peer before.
   */
  public void add(String dc, long nowNanos) {
    streams.computeIfAbsent(dc, d -> stream(d, log.mark(around.recovered().committed()), nowNanos));
  }

  private PeerStream stream(String dc, long since, long nowNanos) {
    ConfirmedUpdates confirmed = new ConfirmedUpdates(times, log.committed());
    return new PeerStream(dc, around, log, since, confirmed, nowNanos);
  }

  /** Ends the stream to a datacenter, and keeps nothing for it any more. */
  public void remove(String dc, long nowNanos) {
    PeerStream stream = streams.remove(dc);
    if (stream != null) {
      stream.down(nowNanos);
      if (streams.isEmpty()) {
        log.end();
      }
      prune(nowNanos);
    }
  }

  /** Is called for every held object that is shipped. */
  @FunctionalInterface
  public interface FlushListener {
    /**
     * A held object was shipped.
     *
     * @param updates how many updates were joined
     * @param bytes the size of the shipment, counted once for all peers
     */
    void flushed(ObjectId object, int updates, int bytes);
  }

  /** Sets the listener that is called for every held object that is shipped. */
  public void onFlush(FlushListener listener) {
    flushListener = listener;
  }

  // ---------------------------------------------------------------- what is committed

  /**
   * Takes an update that was committed here.
   *
   * @param update the update
   * @param floor the first commit number of its transaction
   * @param hold whether it waits for a round; otherwise it leaves with this batch
   * @return the update as a shipment of its own
   */
  public Committed commit(ObjectId object, Update update, long floor, boolean hold, long nowNanos) {
    LogSegment segment = update.segment(around.self());
    Shipment shipment = segment.shipment(object, around.self(), nowNanos);
    int bytes;
    if (streams.isEmpty()) {
      log.commitForNobody(segment.last());
      bytes = (int) Math.min(Integer.MAX_VALUE, update.delta.sizeBytes()); // nothing is encoded
    } else {
      log.commit(object, segment, floor, hold);
      bytes = around.bytesOf(shipment);
    }
    times.committed(segment.last(), bytes, nowNanos);
    return new Committed(shipment, bytes);
  }

  /**
   * An update, or several that were joined.
   *
   * @param before the object's context before the update
   * @param needs the updates of other replicas that it builds on and that not everybody has
   * @param number the last one's commit number
   * @param updates how many updates were joined
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
   * @param shipment the update as it is journalled and, unless it is held, shipped
   * @param bytes its size in a frame; an estimate where there is no peer
   */
  public record Committed(Shipment shipment, int bytes) {}

  /** Ships an object's held updates with this batch: it goes back to operations. */
  public void release(ObjectId object) {
    log.release(object);
  }

  /** Ships all held updates with this batch. */
  public void releaseAll() {
    log.releaseAll();
  }

  // ---------------------------------------------------------------- what leaves

  /**
   * Ships the updates that are due, and sends peers that fell behind more of what they have missed.
   */
  public void tick(long nowNanos, long nowMillis) {
    shipOps(nowNanos, nowMillis);
    rounds.rest(nowNanos);
    if (rounds.dueNanos() <= nowNanos) {
      long firstMax = rounds.begin(nowNanos);
      ship(Kind.ROUND, () -> log.takeDirty(firstMax), nowNanos, nowMillis);
    }
    rounds.end();
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
      // a stream that has read to its end goes on with updates that were held
      flush(nowNanos, nowMillis);
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
        around.observer().left(kind, shipment, rounds.coordinationNanos());
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
   * Whether joined updates are shipped as the object's state. A single operation never is, unless
   * it clears a large set: that delta is a full state itself, and joined with later updates it
   * would be a full state that lacks what those have seen. In a causal keyspace a clearing is not
   * either, since the state may show more than lies before the next mark of a cut.
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
    long planned = rounds.ackPlannedNanos(nowNanos);
    for (PeerStream stream : streams.values()) {
      boolean taken =
          stream.offer(
              kind, shipments, bytes, tick, through, others.get(), planned, nowNanos, nowMillis);
      sent += taken ? 1 : 0;
    }
    around.stats().shipped(kind, shipments.size(), (long) bytes * sent);
  }

  // ---------------------------------------------------------------- what peers say

  /** Moves a peer's stream to the place that the peer has asked for. */
  public void resume(
      PeerStream stream, ReplicaId peer, Frame.Resume resume, long nowNanos, long nowMillis) {
    stream.resume(peer, resume);
    catchUp(stream, nowNanos, nowMillis);
  }

  /** Takes a peer's request for more of an offered state, or its report that it has all. */
  public void pull(
      PeerStream stream, ReplicaId peer, Frame.Pull pull, long nowNanos, long nowMillis) {
    if (stream.pull(peer, pull, nowNanos)) {
      catchUp(stream, nowNanos, nowMillis);
    }
  }

  /** Returns when an offer of a large state is to be repeated; Long.MAX_VALUE if there is none. */
  public long offersDueNanos() {
    long due = Long.MAX_VALUE;
    for (PeerStream stream : streams.values()) {
      due = Math.min(due, stream.offerDueNanos());
    }
    return due;
  }

  /** Takes a peer's acknowledgement of frames; that of a round says how late the round was. */
  public void acknowledged(PeerStream stream, ReplicaId peer, Frame.Ack ack, long nowNanos) {
    stream.acknowledged(peer, ack, rounds.reserve(), nowNanos);
  }

  /** Drops what every peer has; peers that have been away for long do not count. */
  public void prune(long nowNanos) {
    long tick = log.ticks();
    for (PeerStream stream : streams.values()) {
      tick = Math.min(tick, stream.prunableTick(nowNanos));
    }
    log.prune(tick);
  }

  // ---------------------------------------------------------------- what is known

  public Collection<PeerStream> streams() {
    return streams.values();
  }

  /** The stream to a peer; null if it does not hold the keyspace. */
  public @Nullable PeerStream stream(String dc) {
    return streams.get(dc);
  }

  /** Returns the timer of the rounds. */
  public RoundTimer rounds() {
    return rounds;
  }

  /** Returns the measure of how far the peers are behind. */
  public LagMeter lags() {
    return lags;
  }

  /** Whether operations wait for the end of the batch. */
  public boolean hasOps() {
    return log.hasOps();
  }

  /** Whether some peer can now be sent more of what it misses. */
  public boolean isCatchingUp() {
    for (PeerStream stream : streams.values()) {
      if (stream.isDue()) {
        return true;
      }
    }
    return false;
  }

  public int dirtyObjects() {
    return log.dirtyCount();
  }

  /** Returns how much of the budget for shipped updates is used. */
  public Budget.Usage memory() {
    return log.usage();
  }

  /** Returns the last commit number. */
  public long committed() {
    return log.committed();
  }

  /** Returns a commit number such that no peer has a later one, unless of a former life. */
  public long told() {
    return log.told();
  }

  /** Returns the commit number up to which every update has been shipped. */
  public long through() {
    return log.through();
  }

  /** Whether every connected peer has acknowledged all that was committed. */
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
