package io.osier.bench.sim.node;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.FrameCheck;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimCargo;
import io.osier.bench.sim.world.SimConnection;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.core.HolderTerms;
import io.osier.core.ReplicaId;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.wire.Frame;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Hands frames from partitions to their datacenters' transports, and from there to partitions. The
 * faults of single frames (loss, duplicates, order) are made here, behind the transport, as no
 * connection makes them. Used by the simulation's thread.
 */
public final class SimFrames {
  private static final int OVERTAKE_MILLIS_MAX = 200;

  /** One frame of so many is encoded; most others travel as objects. */
  private static final int ENCODED_ONE_IN = 16;

  /** Frames of at least so many bytes are decoded by a thread of their own. */
  private static final int LARGE_BYTES_MIN = 1 << 20;

  private final Simulation simulation;
  private final boolean encodesAll;
  private final SimNetwork network;
  private final Sabotage sabotage;
  private final Random random;
  private final Map<Integer, Long> bytesOf = new HashMap<>();
  private long frames;
  private long inSharedBlocks;

  public SimFrames(Simulation simulation, SimNetwork network, Sabotage sabotage, Random random) {
    this.simulation = simulation;
    this.network = network;
    this.sabotage = sabotage;
    this.random = random;
    this.encodesAll = simulation.options().paired();
  }

  /** The bytes of all frames of a unit. */
  public long bytes(Unit unit) {
    return bytesOf.getOrDefault(unit.number(), 0L);
  }

  /** How many frames have left in one compressed block with the frame before them. */
  public long inSharedBlocks() {
    return inSharedBlocks;
  }

  /** A partition sends a frame. */
  public void send(SimNode node, ReplicaId to, Frame frame) {
    SimDc dc = simulation.dc(node.self().dc());
    PeerTransport transport = dc.transport();
    if (transport == null || !node.isAlive()) {
      return; // before the transport is there
    }
    LinkTraffic traffic = transport.traffic().get(to.dc());
    if (traffic == null) {
      return; // no peer any more
    }
    boolean mayGoAsItIs = !encodesAll && ++frames % ENCODED_ONE_IN != 0;
    if (mayGoAsItIs && sendAsItIs(node, to, frame, transport)) {
      simulation.flow().sent(dc, to.dc(), node.unit(), frame);
      return;
    }
    SimLink link = network.link(node.self().dc(), to.dc());
    long before = traffic.writtenBytes();
    int gathered = link.carrier() == null ? 0 : link.carrier().gather();
    Runnable sends =
        () ->
            transport.send(
                HolderTerms.life(to), node.unit().policy().name(), node.unit().partition(), frame);
    if (link.carrier() == null) {
      link.carriedBy(network.takes(link, sends));
    } else {
      sends.run();
    }
    int bytes = (int) (traffic.writtenBytes() - before);
    if (bytes > 0) {
      FrameCheck.check(dc.self(), to.dc(), frame, bytes);
      bytesOf.merge(node.unit().number(), (long) bytes, Long::sum);
      simulation.flow().sent(dc, to.dc(), node.unit(), frame);
      SimConnection connection = link.carrier();
      if (connection == null) {
        connection = link.connection();
      } else if (frame instanceof Frame.Updates u && !u.shipments().isEmpty()) {
        connection.bringsUpdates();
      }
      if (connection != null) {
        inSharedBlocks += gathered > 0 && connection.gather() > gathered ? 1 : 0;
        connection.dialled().wake();
      }
    } else if (transport.isConnected(to.dc())) {
      FrameCheck.encoded(dc.self(), frame); // it was dropped: not because it cannot be encoded
    }
  }

  /**
   * Sends a frame of those that most are over the connection that the transport has chosen, without
   * its being encoded. Not a state whose entries lie outside the heap: they would be read where its
   * sender has them, as they are when somebody asks for them, and not as they were sent.
   *
   * @return false if it must go the way of all
   */
  private boolean sendAsItIs(SimNode node, ReplicaId to, Frame frame, PeerTransport transport) {
    ReplicaId self = HolderTerms.life(node.self());
    SimConnection over = network.link(self.dc(), to.dc()).carrier();
    SimDc there = simulation.dc(to.dc());
    if (over == null
        || !transport.isConnected(to.dc())
        || !there.self().equals(HolderTerms.life(to))
        || hasOutside(frame)) {
      return false;
    }
    Optional<FrameCheck.Print> print = FrameCheck.print(self, frame);
    boolean isFirst =
        !over.brings() && frame instanceof Frame.Updates u && !u.shipments().isEmpty();
    if (print.isEmpty() || isFirst || print.get().bytes() >= LARGE_BYTES_MIN) {
      return false;
    }
    int size = print.get().bytes();
    FrameCheck.check(self, to.dc(), frame, size);
    Runnable brought =
        () -> {
          if (there.isPeer(self.dc())) {
            received(there, self, node.unit(), frame);
          }
        };
    boolean sent = over.send(SimCargo.of(brought, size));
    if (sent) {
      simulation.trace().hash(print.get().hash());
    }
    return sent;
  }

  private static boolean hasOutside(Frame frame) {
    return frame instanceof Frame.Updates u
        && u.shipments().stream().anyMatch(s -> Decomposition.isDecomposed(s.content()));
  }

  /** A frame has come over the transport; it may still be lost, doubled or delayed here. */
  void received(SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    SimLink link = network.link(from.dc(), dc.self().dc());
    if (sabotage.drops(unit, frame) || !dc.holds(unit)) {
      return; // it was dropped meanwhile
    }
    simulation.flow().received(dc, from, unit, frame);
    if (link.loss() > 0 && random.nextDouble() < link.loss()) {
      return;
    }
    bring(link, dc, from, unit, frame);
    if (link.duplicates() > 0 && random.nextDouble() < link.duplicates()) {
      bring(link, dc, from, unit, frame);
    }
  }

  private void bring(SimLink link, SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    long later = sabotage.extraDelayNanos(frame);
    if (link.reorders() && random.nextInt(4) == 0) {
      later += random.nextInt(OVERTAKE_MILLIS_MAX) * MILLI;
    }
    Frame spoilt = sabotage.frame(dc.self().dc(), frame);
    SimNode node = dc.node(unit);
    Input.FromPeer input = new Input.FromPeer(dc.held().holder(unit, from), spoilt);
    if (later == 0) {
      node.received(input);
      return;
    }
    simulation
        .scheduler()
        .in(
            later,
            () -> {
              if (node.isAlive()) {
                node.received(input);
              }
            });
  }
}
