package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;

import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Input;
import io.osier.propagation.transport.PeerTransport;
import io.osier.propagation.transport.Traffic;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Hands frames from partitions to their datacenters' transports, and from there to partitions. The
 * faults of single frames (loss, duplicates, order) are made here, behind the transport, as no
 * connection makes them. Used by the simulation's thread.
 */
final class SimFrames {
  private static final int OVERTAKE_MILLIS_MAX = 200;

  /** What updates and statuses have beside their objects, and acknowledgements have, about. */
  private static final int HEAD_BYTES = 60;

  private static final int ACK_BYTES = 16;

  private final Simulation simulation;
  private final boolean encodesAll;
  private final SimNetwork network;
  private final Sabotage sabotage;
  private final Random random;
  private final Map<Integer, Long> bytesOf = new HashMap<>();

  SimFrames(Simulation simulation, SimNetwork network, Sabotage sabotage, Random random) {
    this.simulation = simulation;
    this.network = network;
    this.sabotage = sabotage;
    this.random = random;
    this.encodesAll = simulation.profile().has(Feature.BYTES) || simulation.options().paired();
  }

  /** The bytes of all frames of a unit. */
  long bytes(Unit unit) {
    return bytesOf.getOrDefault(unit.number(), 0L);
  }

  /** A partition sends a frame. */
  void send(SimNode node, ReplicaId to, Frame frame) {
    SimDc dc = simulation.dc(node.self().dc());
    PeerTransport transport = dc.transport();
    if (transport == null || !node.isAlive()) {
      return; // before the transport is there
    }
    Traffic traffic = transport.traffic().get(to.dc());
    if (traffic == null) {
      return; // no peer any more
    }
    if (!encodesAll && sendAsItIs(node, to, frame, transport)) {
      network.flow().sent(dc, to.dc(), node.unit(), frame);
      return;
    }
    long before = traffic.sentBytes();
    transport.send(to, node.unit().policy().name(), node.unit().partition(), frame);
    int bytes = (int) (traffic.sentBytes() - before);
    if (bytes > 0) {
      FrameCheck.check(node.self(), to.dc(), frame, bytes);
      bytesOf.merge(node.unit().number(), (long) bytes, Long::sum);
      network.flow().sent(dc, to.dc(), node.unit(), frame);
      SimConnection connection = network.link(node.self().dc(), to.dc()).connection();
      if (connection != null) {
        connection.dialled().run();
      }
    }
  }

  /**
   * Sends a frame of those that most are over the connection that the transport would send it over,
   * without its being encoded.
   *
   * @return false if it must go the way of all
   */
  private boolean sendAsItIs(SimNode node, ReplicaId to, Frame frame, PeerTransport transport) {
    ReplicaId self = node.self();
    SimConnection over = network.link(self.dc(), to.dc()).carrier();
    if (over == null || !transport.isConnected(to.dc())) {
      return false;
    }
    int size = sizeOf(self, frame);
    SimDc there = simulation.dc(to.dc());
    if (size == 0 || !there.self().equals(to)) {
      return false;
    }
    FrameCheck.check(self, to.dc(), frame, size);
    Runnable brought =
        () -> {
          if (there.isPeer(self.dc())) {
            received(there, self, node.unit(), frame);
          }
        };
    boolean sent = over.send(SimCargo.of(brought, size));
    if (sent) {
      simulation.trace().hash(size);
    }
    return sent;
  }

  /** How many bytes a frame has, about; 0 for one that is encoded always. */
  private static int sizeOf(ReplicaId self, Frame frame) {
    return switch (frame) {
      case Frame.Updates u -> {
        int bytes = HEAD_BYTES;
        for (Shipment s : u.shipments()) {
          bytes += FrameCodec.sizeOf(self, s);
        }
        yield bytes;
      }
      case Frame.Ack a -> ACK_BYTES;
      case Frame.Status s -> HEAD_BYTES;
      default -> 0;
    };
  }

  /** The transport has brought a frame, on a connection that has not lost any. */
  void received(SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    SimLink link = network.link(from.dc(), dc.self().dc());
    if (sabotage.drops(unit, frame)) {
      return;
    }
    network.flow().received(dc, from, unit, frame);
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
    if (later == 0) {
      dc.node(unit).received(new Input.FromPeer(from, spoilt));
      return;
    }
    long life = dc.life();
    simulation
        .scheduler()
        .in(
            later,
            () -> {
              if (dc.isUp() && dc.life() == life) {
                dc.node(unit).received(new Input.FromPeer(from, spoilt));
              }
            });
  }
}
