package io.osier.bench.sim.transport;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.ProcessIdentity;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** One datacenter's process, from its start to its crash: production's transport, and no more. */
final class PeerProcess implements PeerListener {
  private static final KeyspacePolicy POLICY = Unit.pair().getFirst().policy();

  /** One of so many runs the former program. */
  private static final int FORMER_OF = 3;

  /** While more bytes than this have not left, no further frame is sent. */
  private static final long UNSENT_BYTES_MAX = 32 << 10;

  private final Peers world;
  private final ReplicaId self;
  private final List<Long> starts = new ArrayList<>();
  private final SimSockets sockets;
  private final PeerTransport transport;

  /**
   * A process that dials nobody yet.
   *
   * @param former the starts before this one with the same store, newest first
   */
  PeerProcess(Peers world, ReplicaId self, List<Long> former, Random random) {
    this.world = world;
    this.self = self;
    starts.add(random.nextLong(Long.MAX_VALUE - 1) + 1);
    starts.addAll(former);
    this.sockets =
        new SimSockets(
            world.network(), world.scheduler(), self, () -> 0, new Random(random.nextLong()));
    Map<String, InetSocketAddress> addresses = new TreeMap<>();
    world.names().stream()
        .filter(peer -> !peer.equals(self.dc()))
        .forEach(peer -> addresses.put(peer, address(peer)));
    int version = random.nextInt(FORMER_OF) == 0 ? PeerVersions.OLDEST : PeerVersions.NEWEST;
    this.transport =
        new PeerTransport(
            new ProcessIdentity(
                self, "sim", starts.getFirst(), starts.subList(1, starts.size()), version),
            address(self.dc()),
            addresses,
            peer -> List.of(POLICY.fingerprint()),
            PortLimits.DEFAULT,
            this,
            Optional.empty(),
            sockets);
  }

  /** The next one, which has the store of this one, or has nothing. */
  PeerProcess next(boolean forgets, Random random) {
    return forgets
        ? new PeerProcess(
            world, new ReplicaId(self.dc(), self.incarnation() + 1), List.of(), random)
        : new PeerProcess(world, self, starts, random);
  }

  private static InetSocketAddress address(String dc) {
    return InetSocketAddress.createUnresolved(dc, 1);
  }

  ReplicaId self() {
    return self;
  }

  SimSockets sockets() {
    return sockets;
  }

  void dial() {
    transport.dial();
  }

  /** Stops the process until as many stops have ended as began. */
  void stop(boolean begin) {
    sockets.stop(begin);
    world.network().changed(self.dc());
  }

  @Override
  public String toString() {
    return self.toString();
  }

  /** Sends drawn frames in one turn of the connection's loop, as long as the way is not full. */
  void send(String to, int count) {
    LinkTraffic traffic = transport.traffic().get(to);
    if (!sockets.isServed() || traffic == null) {
      return;
    }
    sockets.inOneTurn(
        () -> {
          for (int i = 0; i < count && unsentBytes(to) <= UNSENT_BYTES_MAX; i++) {
            send(to, traffic);
          }
        });
  }

  private long unsentBytes(String to) {
    return transport.buffered().getOrDefault(to, 0L);
  }

  private void send(String to, LinkTraffic traffic) {
    SentFrames sent = world.sent(self.dc(), to);
    Frame frame = world.frames().next(self);
    long before = traffic.writtenBytes();
    int gathered = sockets.gatheredBytes();
    sent.sent(frame);
    transport.send(world.process(to).self(), POLICY.name(), 0, frame);
    if (traffic.writtenBytes() == before) {
      sent.isNotSent();
    } else if (gathered > 0 && sockets.gatheredBytes() > gathered) {
      sent.sharesABlock();
    }
  }

  /** Checks that the process is connected, after a time without faults. */
  void checkUp(String to) {
    if (!transport.isConnected(to)) {
      throw new Violation("", "%s is not connected to %s, and nothing is wrong", self, to);
    }
    if (transport.notEncoded() > 0) {
      throw new Violation("", "%s could not encode %d frames", self, transport.notEncoded());
    }
  }

  // ---------------------------------------------------------------- what the transport hears

  /** Handles an event of the transport; an exception of a check ends the run. */
  private void hears(Runnable what) {
    if (sockets.isClosed()) {
      return;
    }
    try {
      what.run();
    } catch (RuntimeException e) {
      world.scheduler().fail(e);
    }
  }

  @Override
  public void up(ReplicaId peer, List<String> keyspaces) {
    world.trace().note("%s is up at %s", peer, self);
    hears(() -> world.network().isUp(self.dc(), peer.dc(), true));
  }

  @Override
  public void down(String dc) {
    world.trace().note("%s is down at %s", dc, self);
    hears(
        () -> {
          world.network().isUp(self.dc(), dc, false);
          world.sent(self.dc(), dc).mayBeLost();
        });
  }

  @Override
  public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
    hears(() -> world.sent(peer.dc(), self.dc()).came(frame));
  }

  @Override
  public void compared(String dc, Map<String, String> differing) {
    hears(
        () -> {
          if (!differing.isEmpty()) {
            throw new Violation("", "%s and %s differ: %s", self, dc, differing);
          }
        });
  }

  @Override
  public void parted(String dc, List<String> keyspaces) {
    hears(
        () -> {
          throw new Violation("", "%s parts with %s over %s", self, dc, keyspaces);
        });
  }

  @Override
  public void second(String dc, String why) {
    hears(
        () -> {
          // Its own former life may have a connection that has not ended yet.
          if (self.incarnation() == 1 || !why.contains("another process already runs as")) {
            throw new Violation("", "%s is second to %s: %s", self, dc, why);
          }
        });
  }

  @Override
  public void rejected(String dc, OsierException why) {
    hears(
        () -> {
          throw new Violation("", "%s refuses %s: %s", dc, self, why);
        });
  }
}
