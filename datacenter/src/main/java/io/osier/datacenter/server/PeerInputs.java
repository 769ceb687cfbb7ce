package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.UpdateGate;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.wire.Frame;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Passes what the transport receives from other datacenters on to the partitions. Thread-safe. */
public final class PeerInputs implements PeerListener {
  private final Keyspaces keyspaces;
  private final Readiness readiness;
  private final BooleanSupplier isFull;
  private final BiConsumer<ReplicaId, byte[]> notes;
  private final Consumer<Throwable> onFailure;
  private final GroupCommitHelp writeHelp;
  private final Forwarding forwarding;

  /**
   * The ordered queues that hold frames back, by peer, until all frames of a read have been taken.
   */
  private final Map<String, Queue<OrderedQueue>> held = new ConcurrentHashMap<>();

  /**
   * Makes the inputs.
   *
   * @param isFull returns whether the store has no room for updates
   * @param notes takes notes, which are not for partitions
   * @param onFailure is told that the datacenter cannot go on
   * @param writeHelp lets the thread that has run partitions help to write their records
   * @param forwarding takes forwarded requests and their answers
   */
  public PeerInputs(
      Keyspaces keyspaces,
      Readiness readiness,
      BooleanSupplier isFull,
      BiConsumer<ReplicaId, byte[]> notes,
      Consumer<Throwable> onFailure,
      GroupCommitHelp writeHelp,
      Forwarding forwarding) {
    this.keyspaces = keyspaces;
    this.readiness = readiness;
    this.isFull = isFull;
    this.notes = notes;
    this.onFailure = onFailure;
    this.writeHelp = writeHelp;
    this.forwarding = forwarding;
  }

  @Override
  public void up(ReplicaId peer, List<String> agreed) {
    forwarding.forwarder().up(peer);
    keyspaces.secondTo(peer.dc(), Optional.empty());
    readiness.welcomed(peer.dc());
    for (String name : agreed) {
      toAll(
          name,
          new Input.PeerUp(keyspaces.holders().holder(name, peer)),
          gate -> gate.up(peer.dc()));
    }
  }

  @Override
  public void parted(String dc, List<String> names) {
    for (String name : names) {
      toAll(name, new Input.PeerDown(dc), gate -> gate.parted(dc));
    }
  }

  /** Gives an input to all partitions of a keyspace, unless it was dropped meanwhile. */
  private void toAll(String name, Input input, Consumer<UpdateGate> gate) {
    KeyspaceShard shard = keyspaces.find(name);
    if (shard != null) {
      gate.accept(shard.gate());
      shard.partitions().forEach(p -> p.submit(input));
    }
  }

  @Override
  public void compared(String dc, Map<String, String> differing) {
    readiness.compared(dc, differing);
  }

  @Override
  public void down(String dc) {
    readiness.parted(dc);
    forwarding.down(dc);
    Input down = new Input.PeerDown(dc);
    keyspaces.partitions().forEach(p -> p.submit(down));
  }

  private static boolean brings(Frame frame) {
    return frame instanceof Frame.Updates
        || frame instanceof Frame.States
        || frame instanceof Frame.StatesAndOffer
        || frame instanceof Frame.Verified
        || frame instanceof Frame.Offer
        || frame instanceof Frame.Ranges
        || frame instanceof Frame.Entries;
  }

  @Override
  public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
    KeyspaceShard shard = keyspaces.find(keyspace);
    if (shard == null) {
      return; // it was dropped meanwhile
    }
    if (partition >= shard.partitions().size()) {
      throw new OsierException(
          ErrorCode.MALFORMED, "there is no partition " + partition + " of '" + keyspace + "'");
    }
    if (brings(frame) && isFull.getAsBoolean()) {
      return; // as if lost: the peer sends it again when there is room
    }
    OrderedQueue lane = shard.lane(peer.dc(), partition);
    if (lane == null) {
      return; // the datacenter was removed meanwhile
    }
    if (lane.hold()) {
      held.compute(peer.dc(), (dc, lanes) -> with(lane, lanes));
    }
    Input.FromPeer input = new Input.FromPeer(keyspaces.holders().holder(keyspace, peer), frame);
    shard.received(partition, input, lane);
  }

  private static Queue<OrderedQueue> with(OrderedQueue lane, @Nullable Queue<OrderedQueue> others) {
    Queue<OrderedQueue> lanes = others == null ? new ArrayDeque<>() : others;
    lanes.add(lane);
    return lanes;
  }

  @Override
  public void asked(ReplicaId peer, byte[] content, Answers answers) {
    forwarding.asked(peer, content, answers);
  }

  @Override
  public void answered(ReplicaId peer, byte[] content) {
    forwarding.forwarder().answered(peer, content);
  }

  @Override
  public void receivedAll(ReplicaId peer) {
    forwarding.receivedAll(peer);
    Queue<OrderedQueue> of = held.remove(peer.dc());
    if (of != null) {
      writeHelp.together(() -> OrderedQueue.releaseAll(of));
    }
  }

  @Override
  public void noted(ReplicaId peer, byte[] content) {
    notes.accept(peer, content);
  }

  @Override
  public void second(String dc, String why) {
    keyspaces.secondTo(dc, Optional.of(why));
  }

  @Override
  public void secondEnds(String dc) {
    keyspaces.secondTo(dc, Optional.empty());
  }

  @Override
  public void rejected(String dc, OsierException why) {
    if (why.code() == ErrorCode.DUPLICATE_DC) {
      onFailure.accept(why);
    } else {
      readiness.refused(dc, why);
    }
  }
}
